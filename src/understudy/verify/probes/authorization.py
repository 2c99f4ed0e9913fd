"""Probes of the authorization request: what is refused, and where the answer goes."""

from urllib.parse import quote, urlsplit

from understudy.verify.browsing import go_through
from understudy.verify.granting import ALL_SCOPES, STATE, ask, decide, info, parameters, token_in
from understudy.verify.history import MADE_UP
from understudy.verify.probe_client import Visit
from understudy.verify.probing import Parts, part, probe

ASKING = ("auth_url", "app")
GRANTED = ("auth_url", "app", "tokens", "approval")


@probe(
    *("consent-by-person", "authorize-page-not-framed", "scope-indexed-array"),
    *("authorize-client-known", "redirect-uri-registered"),
    needs=ASKING,
    cost=1,
)
def a_link_that_is_followed(visit: Visit) -> None:
    """Opens an authorization request, as by following a link."""
    ask(visit, parameters(visit.app))


@probe(
    *("authorize-client-known", "authorize-error-page"),
    needs=ASKING,
    then=[part("authorize-client-known")],
)
def an_unknown_client(visit: Visit) -> Parts:
    """Names a client that does not exist, and none."""
    yield ask(visit, parameters(visit.app, client_id=f"{MADE_UP}-client"))
    yield ask(visit, parameters(visit.app, client_id=None))


@probe(
    *("redirect-uri-registered", "authorize-error-page", "redirect-uri-exact"),
    needs=ASKING,
    then=[
        part("redirect-uri-registered"),
        *6 * [part("redirect-uri-registered", "redirect-uri-exact")],
        part("redirect-uri-registered"),
    ],
)
def other_redirect_addresses(visit: Visit) -> Parts:
    """Names addresses that are not registered, some of them nearly the registered one."""
    uri = visit.app.redirect_uri or ""
    parts = urlsplit(uri)
    spellings = (
        f"{uri}/",
        "https://understudy.invalid/callback",
        f"{uri}extra",
        f"{uri}?more=1",
        uri.replace(parts.netloc, f"{parts.hostname}:59999"),
        uri.replace(parts.scheme, "https" if parts.scheme == "http" else "http", 1),
        uri.rpartition("/")[0] or uri + "x",
        f"{uri}#fragment",
    )
    for spelling in spellings:
        yield ask(visit, parameters(visit.app, redirect_uri=spelling))
    yield ask(visit, parameters(visit.app, redirect_uri=None))


@probe(
    *("response-type", "authorize-error-redirect", "authorize-empty-parameter"),
    needs=ASKING,
    then=2 * [part("response-type", "authorize-error-redirect")],
)
def other_response_types(visit: Visit) -> Parts:
    """Asks for no response type, an empty one, and one that does not exist."""
    for response_type in ("", None, "sparkles"):
        yield ask(visit, parameters(visit.app, response_type=response_type))


@probe(
    *("scope-at-least-one", "authorize-error-redirect", "state-echoed"),
    needs=ASKING,
    then=[part("scope-known"), part("scope-auth-needed"), part("authorize-error-redirect")],
)
def scopes_that_are_refused(visit: Visit) -> Parts:
    """Asks for no scope, for one that does not exist, and for none that lets anybody sign in."""
    none: dict[str, str | None] = {"scope[0]": None, "scope[1]": None}
    yield ask(visit, parameters(visit.app, **none))
    yield ask(visit, parameters(visit.app, **{"scope[1]": "avatar-profile:sparkle"}))
    yield ask(visit, parameters(visit.app, **{"scope[0]": None}))
    yield ask(visit, parameters(visit.app, **none, response_type="token"))


@probe(
    "authorize-repeated-parameter",
    needs=ASKING,
    then=4 * [part("authorize-repeated-parameter")],
)
def parameters_given_twice(visit: Visit) -> Parts:
    """Gives a parameter twice, with another value."""
    pairs = parameters(visit.app)
    for name, text in (
        ("client_id", visit.app.client_id or ""),
        ("redirect_uri", visit.app.redirect_uri or ""),
        ("response_type", "token"),
        ("state", "another"),
        ("scope[0]", "auth"),
    ):
        yield ask(visit, [*pairs, (name, text)])


@probe(
    *("authorize-unknown-parameters-ignored", "code-in-query", "state-echoed"),
    *("code-unguessable", "response-type", "scope-indexed-array"),
    needs=GRANTED,
    then=[part("authorize-empty-parameter", "state-echoed"), part("state-echoed")],
)
def requests_that_are_approved(visit: Visit) -> Parts:
    """Lets a person approve good requests that differ in what hardly matters."""
    yield decide(visit, parameters(visit.app, nonce="n", prompt="login"))
    yield decide(visit, parameters(visit.app, state=""))
    yield decide(visit, parameters(visit.app, state=None))


@probe(
    *("implicit-token-in-fragment", "implicit-expires-in", "fragment-percent-encoded"),
    *("state-echoed", "code-unguessable", "response-type", "scope-indexed-array"),
    *("authorize-client-known", "redirect-uri-registered"),
    needs=GRANTED,
    then=[
        part(
            *("token-info", "token-info-ids-strings", "json-bodies"),
            *("scope-indexed-array", "scope-any-index", "scope-space-joined"),
        ),
        part("state-echoed"),
    ],
)
def the_implicit_flow(visit: Visit) -> Parts:
    """Lets a person approve a token for a browser, and asks about it."""
    redirect = decide(visit, parameters(visit.app, response_type="token"))
    yield redirect
    yield info(visit, token_in(visit, redirect, ALL_SCOPES[:2]))
    yield decide(visit, parameters(visit.app, response_type="token", state=None))


@probe(
    *("denial-access-denied", "denial-error-parameter", "state-echoed"),
    needs=("auth_url", "app", "tokens", "denial"),
    then=[part("denial-access-denied", "denial-error-parameter", "fragment-percent-encoded")],
)
def requests_that_are_denied(visit: Visit) -> Parts:
    """Lets a person deny both flows."""
    yield decide(visit, parameters(visit.app), "deny")
    yield decide(visit, parameters(visit.app, state=STATE + "~", response_type="token"), "deny")


@probe(
    *("consent-by-person", "consent-names-scopes", "authorize-page-not-framed"),
    needs=("auth_url", "app", "tokens", "password"),
    cost=4,
    then=[part("denial-access-denied", cost=4)],
)
def a_person_at_the_pages(visit: Visit) -> Parts:
    """Signs in with user name and password and approves; then denies."""
    query = "&".join(f"{name}={_quoted(text)}" for name, text in parameters(visit.app))
    url = f"{(visit.target.auth_url or '').rstrip('/')}/oauth2/authorize?{query}"
    yield go_through(visit, url, "approve")
    yield go_through(visit, url, "deny")


def _quoted(text: str) -> str:
    return quote(text, safe="")

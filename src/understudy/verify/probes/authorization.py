"""Probes of the authorization request: what is refused, and where the answer goes."""

from urllib.parse import quote, urlsplit

from understudy.interface.scopes import SCOPES
from understudy.verify.browsing import go_through
from understudy.verify.granting import STATE, ask, decide, info, parameters, token_in
from understudy.verify.history import MADE_UP
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, part, probe

ASKING = ("auth_url", "app")
GRANTED = ("auth_url", "app", "tokens", "approval")


@probe(
    *("consent-by-person", "authorize-page-not-framed", "scope-indexed-array"),
    *("authorize-client-known", "redirect-uri-registered"),
    needs=ASKING,
    cost=1,
)
def a_link_that_is_followed(probe_client: ProbeClient) -> None:
    """Opens an authorization request, as by following a link."""
    ask(probe_client, parameters(probe_client.app))


@probe(
    *("authorize-client-known", "authorize-error-page"),
    needs=ASKING,
    then=[part("authorize-client-known")],
)
def an_unknown_client(probe_client: ProbeClient) -> Parts:
    """Names a client that does not exist, and none."""
    yield ask(probe_client, parameters(probe_client.app, client_id=f"{MADE_UP}-client"))
    yield ask(probe_client, parameters(probe_client.app, client_id=None))


@probe(
    *("redirect-uri-registered", "authorize-error-page", "redirect-uri-exact"),
    needs=ASKING,
    then=[
        part("redirect-uri-registered"),
        *6 * [part("redirect-uri-registered", "redirect-uri-exact")],
        part("redirect-uri-registered"),
    ],
)
def other_redirect_addresses(probe_client: ProbeClient) -> Parts:
    """Names addresses that are not registered, some of them nearly the registered one."""
    uri = probe_client.app.redirect_uri or ""
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
        yield ask(probe_client, parameters(probe_client.app, redirect_uri=spelling))
    yield ask(probe_client, parameters(probe_client.app, redirect_uri=None))


@probe(
    *("response-type", "authorize-error-redirect", "authorize-empty-parameter"),
    needs=ASKING,
    then=2 * [part("response-type", "authorize-error-redirect")],
)
def other_response_types(probe_client: ProbeClient) -> Parts:
    """Asks for no response type, an empty one, and one that does not exist."""
    for response_type in ("", None, "sparkles"):
        yield ask(probe_client, parameters(probe_client.app, response_type=response_type))


@probe(
    *("scope-at-least-one", "authorize-error-redirect", "state-echoed"),
    needs=ASKING,
    then=[part("scope-known"), part("scope-auth-needed"), part("authorize-error-redirect")],
)
def scopes_that_are_refused(probe_client: ProbeClient) -> Parts:
    """Asks for no scope, for one that does not exist, and for none that lets anybody sign in."""
    none: dict[str, str | None] = {"scope[0]": None, "scope[1]": None}
    yield ask(probe_client, parameters(probe_client.app, **none))
    yield ask(probe_client, parameters(probe_client.app, **{"scope[1]": "avatar-profile:sparkle"}))
    yield ask(probe_client, parameters(probe_client.app, **{"scope[0]": None}))
    yield ask(probe_client, parameters(probe_client.app, **none, response_type="token"))


@probe(
    "authorize-repeated-parameter",
    needs=ASKING,
    then=4 * [part("authorize-repeated-parameter")],
)
def parameters_given_twice(probe_client: ProbeClient) -> Parts:
    """Gives a parameter twice, with another value."""
    pairs = parameters(probe_client.app)
    for name, text in (
        ("client_id", probe_client.app.client_id or ""),
        ("redirect_uri", probe_client.app.redirect_uri or ""),
        ("response_type", "token"),
        ("state", "another"),
        ("scope[0]", "auth"),
    ):
        yield ask(probe_client, [*pairs, (name, text)])


@probe(
    *("authorize-unknown-parameters-ignored", "code-in-query", "state-echoed"),
    *("code-unguessable", "response-type", "scope-indexed-array"),
    needs=GRANTED,
    then=[part("authorize-empty-parameter", "state-echoed"), part("state-echoed")],
)
def requests_that_are_approved(probe_client: ProbeClient) -> Parts:
    """Lets a person approve good requests that differ in what hardly matters."""
    yield decide(probe_client, parameters(probe_client.app, nonce="n", prompt="login"))
    yield decide(probe_client, parameters(probe_client.app, state=""))
    yield decide(probe_client, parameters(probe_client.app, state=None))


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
def the_implicit_flow(probe_client: ProbeClient) -> Parts:
    """Lets a person approve a token for a browser, and asks about it."""
    redirect = decide(probe_client, parameters(probe_client.app, response_type="token"))
    yield redirect
    yield info(probe_client, token_in(probe_client, redirect, SCOPES[:2]))
    yield decide(probe_client, parameters(probe_client.app, response_type="token", state=None))


@probe(
    *("denial-access-denied", "denial-error-parameter", "state-echoed"),
    needs=("auth_url", "app", "tokens", "denial"),
    then=[part("denial-access-denied", "denial-error-parameter", "fragment-percent-encoded")],
)
def requests_that_are_denied(probe_client: ProbeClient) -> Parts:
    """Lets a person deny both flows."""
    yield decide(probe_client, parameters(probe_client.app), "deny")
    yield decide(
        probe_client, parameters(probe_client.app, state=STATE + "~", response_type="token"), "deny"
    )


@probe(
    *("consent-by-person", "consent-names-scopes", "authorize-page-not-framed"),
    needs=("auth_url", "app", "tokens", "password"),
    cost=4,
    then=[part("denial-access-denied", cost=4)],
)
def a_person_at_the_pages(probe_client: ProbeClient) -> Parts:
    """Signs in with user name and password and approves; then denies."""
    query = "&".join(f"{name}={_quoted(text)}" for name, text in parameters(probe_client.app))
    url = f"{(probe_client.target.auth_url or '').rstrip('/')}/oauth2/authorize?{query}"
    yield go_through(probe_client, url, "approve")
    yield go_through(probe_client, url, "deny")


def _quoted(text: str) -> str:
    return quote(text, safe="")

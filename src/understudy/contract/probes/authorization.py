"""Probes of the authorization request: what is refused, and where the answer goes."""

from urllib.parse import quote, urlsplit

from understudy.contract.browsing import go_through
from understudy.contract.granting import STATE, ask, decide, parameters
from understudy.contract.history import MADE_UP
from understudy.contract.probing import probe
from understudy.contract.visit import Visit

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


@probe("authorize-client-known", "authorize-error-page", needs=ASKING, cost=2)
def an_unknown_client(visit: Visit) -> None:
    """Names a client that does not exist, and none."""
    ask(visit, parameters(visit.app, client_id=f"{MADE_UP}-client"))
    ask(visit, parameters(visit.app, client_id=None))


@probe(
    "redirect-uri-registered", "authorize-error-page", "redirect-uri-exact", needs=ASKING, cost=7
)
def other_redirect_addresses(visit: Visit) -> None:
    """Names addresses that are not registered, some of them nearly the registered one."""
    uri = visit.app.redirect_uri or ""
    parts = urlsplit(uri)
    spellings = (
        "https://understudy.invalid/callback",
        f"{uri}/",
        f"{uri}extra",
        f"{uri}?more=1",
        uri.replace(parts.netloc, f"{parts.hostname}:59999"),
        uri.replace(parts.scheme, "https" if parts.scheme == "http" else "http", 1),
        uri.rpartition("/")[0] or uri + "x",
        f"{uri}#fragment",
    )
    for spelling in spellings:
        ask(visit, parameters(visit.app, redirect_uri=spelling))
    ask(visit, parameters(visit.app, redirect_uri=None))


@probe(
    "response-type", "authorize-error-redirect", "authorize-empty-parameter", needs=ASKING, cost=3
)
def other_response_types(visit: Visit) -> None:
    """Asks for no response type, an empty one, and one that does not exist."""
    for response_type in (None, "", "sparkles"):
        ask(visit, parameters(visit.app, response_type=response_type))


@probe(
    *("scope-at-least-one", "scope-auth-needed", "scope-known", "authorize-error-redirect"),
    "state-echoed",
    needs=ASKING,
    cost=4,
)
def scopes_that_are_refused(visit: Visit) -> None:
    """Asks for no scope, for one that does not exist, and for none that lets anybody sign in."""
    none: dict[str, str | None] = {"scope[0]": None, "scope[1]": None}
    ask(visit, parameters(visit.app, **none))
    ask(visit, parameters(visit.app, **{"scope[1]": "avatar-profile:sparkle"}))
    ask(visit, parameters(visit.app, **{"scope[0]": None}))
    ask(visit, parameters(visit.app, **none, response_type="token"))


@probe("authorize-repeated-parameter", needs=ASKING, cost=4)
def parameters_given_twice(visit: Visit) -> None:
    """Gives a parameter twice, with another value."""
    pairs = parameters(visit.app)
    for name, text in (
        ("client_id", visit.app.client_id or ""),
        ("redirect_uri", visit.app.redirect_uri or ""),
        ("response_type", "token"),
        ("state", "another"),
        ("scope[0]", "auth"),
    ):
        ask(visit, [*pairs, (name, text)])


@probe(
    *("code-in-query", "state-echoed", "code-unguessable", "response-type"),
    *("authorize-unknown-parameters-ignored", "authorize-empty-parameter"),
    *("scope-any-index", "scope-space-joined", "scope-indexed-array"),
    needs=GRANTED,
    cost=6,
)
def requests_that_are_approved(visit: Visit) -> None:
    """Lets a person approve good requests in each of their forms."""
    decide(visit, parameters(visit.app))
    decide(visit, parameters(visit.app, nonce="n", prompt="login"))
    decide(visit, parameters(visit.app, state=None))
    decide(visit, parameters(visit.app, state=""))
    gaps = {"scope[0]": None, "scope[1]": "avatar-profile:read", "scope[7]": "auth"}
    decide(visit, parameters(visit.app, **gaps))
    joined = {"scope[0]": None, "scope[1]": None, "scope": "auth avatar-profile:read"}
    decide(visit, parameters(visit.app, **joined))


@probe(
    *("implicit-token-in-fragment", "implicit-expires-in", "fragment-percent-encoded"),
    *("state-echoed", "code-unguessable", "response-type"),
    needs=GRANTED,
    cost=1,
)
def the_implicit_flow(visit: Visit) -> None:
    """Lets a person approve a token for a browser."""
    decide(visit, parameters(visit.app, response_type="token"))
    decide(visit, parameters(visit.app, response_type="token", state=None))


@probe(
    "denial-access-denied",
    "denial-error-parameter",
    "state-echoed",
    needs=("auth_url", "app", "tokens", "denial"),
    cost=3,
)
def requests_that_are_denied(visit: Visit) -> None:
    """Lets a person deny both flows."""
    decide(visit, parameters(visit.app), "deny")
    decide(visit, parameters(visit.app, state=STATE + "~", response_type="token"), "deny")


@probe(
    "consent-by-person",
    "consent-names-scopes",
    "authorize-page-not-framed",
    "denial-access-denied",
    needs=("auth_url", "app", "tokens", "password"),
    cost=8,
)
def a_person_at_the_pages(visit: Visit) -> None:
    """Signs in with user name and password and approves; then denies."""
    query = "&".join(f"{name}={_quoted(text)}" for name, text in parameters(visit.app))
    url = f"{(visit.target.auth_url or '').rstrip('/')}/oauth2/authorize?{query}"
    go_through(visit, url, "approve")
    go_through(visit, url, "deny")


def _quoted(text: str) -> str:
    return quote(text, safe="")

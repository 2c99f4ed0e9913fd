"""Client and redirect URI of an authorization request (interface, Authorization request).

A request whose client or redirect URI cannot be trusted must never be answered by a redirect
(RFC 6749, 3.1.2.4).
"""

from urllib.parse import urlsplit

from understudy.exchange.messages import Exchange, split
from understudy.interface.operations import AUTHORIZE
from understudy.verify.browsing import decide, parameters, request_authorization
from understudy.verify.checks import CheckResult, check, expect, proven
from understudy.verify.grant_history import (
    OK,
    application_of,
    client_and_redirect_match,
    client_is_known,
    is_back,
    is_sound,
    named_client,
    repeated,
    shown_response,
)
from understudy.verify.history import MADE_UP, History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe

REFUSED = 400


def client_is_unknown(exchange: Exchange, history: History) -> bool:
    """Tells whether no client is named, or a made-up one."""
    client = exchange.request.query.get("client_id")
    return client is None or history.is_made_up(client)


def names_other_redirect(exchange: Exchange, history: History) -> bool:
    """Tells whether the redirect URI is not the client's."""
    app = named_client(exchange, history)
    uri = exchange.request.query.get("redirect_uri")
    return app is not None and uri != app.redirect_uri


def client_and_redirect_are_sent_once(exchange: Exchange, _history: History) -> bool:
    """Tells whether client and redirect URI are sent once."""
    return not {"client_id", "redirect_uri"} & set(repeated(exchange))


def is_other_spelling(exchange: Exchange, history: History) -> bool:
    """Tells whether the redirect URI is of the same host, and not the registered one."""
    uri = exchange.request.query.get("redirect_uri", "")
    registered = proven(named_client(exchange, history)).redirect_uri
    if not uri or uri == registered:
        return False
    return split(uri).hostname == split(registered).hostname


def cannot_be_trusted(exchange: Exchange, history: History) -> bool:
    """Tells whether the client is made up, or the redirect URI not the client's."""
    is_made_up = history.is_made_up(exchange.request.query.get("client_id", ""))
    return is_made_up or names_other_redirect(exchange, history)


def _expect_no_redirect(exchange: Exchange, expected: str) -> CheckResult:
    is_right = exchange.response.is_refusal and not exchange.response.header("location")
    return expect(is_right, expected, shown_response(exchange))


def _is_taken(exchange: Exchange, history: History) -> bool:
    app = proven(application_of(exchange, history))
    return exchange.status == OK or is_back(exchange, app)


@check("authorize-client-known", on=[AUTHORIZE], when=[client_is_unknown])
def unknown_client_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """A request of an unknown client is refused, and not redirected."""
    return _expect_no_redirect(exchange, "a refusal, and no redirect")


@check(
    *("authorize-client-known", "redirect-uri-registered"),
    on=[AUTHORIZE],
    when=[client_and_redirect_match, is_sound],
)
def registered_client_is_known(exchange: Exchange, history: History) -> CheckResult:
    """A registered client with its redirect URI is taken."""
    is_taken = _is_taken(exchange, history)
    return expect(is_taken, "a registered client and address are taken", exchange.status)


@check(
    "redirect-uri-registered",
    on=[AUTHORIZE],
    when=[client_is_known, client_and_redirect_are_sent_once, names_other_redirect],
)
def other_redirect_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """A request with a redirect URI that is not registered is refused, and not redirected."""
    return _expect_no_redirect(exchange, "a refusal, and no redirect")


@check("redirect-uri-exact", on=[AUTHORIZE], when=[client_is_known, is_other_spelling])
def other_spelling_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """The redirect URI is compared character by character."""
    return _expect_no_redirect(exchange, "a refusal of another spelling")


@check("authorize-error-page", on=[AUTHORIZE], when=[cannot_be_trusted])
def untrusted_address_gets_nothing(exchange: Exchange, _history: History) -> CheckResult:
    """The browser is never sent to an address that cannot be trusted (RFC 6749, 4.1.2.1)."""
    uri = exchange.request.query.get("redirect_uri", "")
    is_sent = bool(uri) and exchange.response.header("location").startswith(uri)
    return expect(
        not is_sent, "no redirect to the address of the request", shown_response(exchange)
    )


@check("authorize-error-page", on=[AUTHORIZE], when=[cannot_be_trusted], is_choice=True)
def refusal_is_a_page(exchange: Exchange, _history: History) -> CheckResult:
    """An error that cannot be redirected is shown to the person on a page."""
    is_right = exchange.status == REFUSED and exchange.response.media_type == "text/html"
    return expect(is_right, "a page with status 400", shown_response(exchange))


@probe(
    *("consent-by-person", "authorize-page-not-framed", "scope-indexed-array"),
    *("authorize-client-known", "redirect-uri-registered"),
    needs=("auth_url", "app"),
)
def authorization_request(client: ProbeClient) -> None:
    """Opens an authorization request, as by following a link."""
    request_authorization(client, parameters(client.app))


@probe("authorize-client-known", "authorize-error-page", needs=("auth_url", "app"))
def requests_of_unknown_clients(client: ProbeClient) -> Parts:
    """Names a client that does not exist, and none."""
    yield request_authorization(client, parameters(client.app, client_id=f"{MADE_UP}-client"))
    yield request_authorization(client, parameters(client.app, client_id=None))


@probe(
    *("redirect-uri-registered", "authorize-error-page", "redirect-uri-exact"),
    needs=("auth_url", "app"),
)
def requests_with_other_redirects(client: ProbeClient) -> Parts:
    """Names redirect URIs that are not registered, some of them nearly the registered one."""
    uri = client.app.redirect_uri or ""
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
        yield request_authorization(client, parameters(client.app, redirect_uri=spelling))
    yield request_authorization(client, parameters(client.app, redirect_uri=None))


@probe("redirect-uri-registered", needs=("auth_url", "app", "other_app"))
def request_with_redirect_of_another_client(client: ProbeClient) -> None:
    """Names the redirect URI that is registered for another client."""
    uri = client.target.other_application.redirect_uri
    if uri:
        request_authorization(client, parameters(client.app, redirect_uri=uri))


@probe("redirect-uri-registered", "authorize-error-page", needs=("auth_url", "app"))
def requests_with_another_error_too(client: ProbeClient) -> Parts:
    """Names a redirect URI that is not registered, and makes a second mistake or denies."""
    elsewhere = "https://understudy.invalid/callback"
    mistakes: tuple[dict[str, str | None], ...] = (
        {"response_type": "sparkles"},
        {"scope[0]": None, "scope[1]": None},
        {"response_type": None},
    )
    for mistake in mistakes:
        yield request_authorization(
            client, parameters(client.app, redirect_uri=elsewhere, **mistake)
        )
    if client.app.deny is not None and client.target.permit.tokens:
        yield decide(client, parameters(client.app, redirect_uri=elsewhere), "deny")

"""Judges authorization requests and their errors (interface, Authorization request).

A request whose client or redirect URI cannot be trusted must never be answered by a redirect
(RFC 6749, 3.1.2.4).
"""

import re
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs, parse_qsl, urlsplit

from understudy.exchange.messages import Exchange, split
from understudy.interface.operations import AUTHORIZE
from understudy.interface.scopes import AUTH, SCOPES
from understudy.verify.browsing import decide, parameters, recased_id, request_authorization
from understudy.verify.checks import (
    CheckResult,
    check,
    demands,
    expect,
    expect_equal,
    is_get,
    proven,
    tells,
    unless,
)
from understudy.verify.grant_history import (
    KNOWN,
    ONCE,
    answers_request,
    application_of,
    client_and_redirect_match,
    client_is_known,
    expect_no_grant,
    has_response_type,
    is_back,
    is_granted,
    is_no_client,
    is_page,
    is_redirect,
    is_sound,
    is_unsound,
    named_client,
    nonempty_parameters,
    redirect_has,
    repeated,
    request_of,
    scopes,
    shown_response,
)
from understudy.verify.history import History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.value_texts import as_json
from understudy.verify.wording import SCOPE_NAME


def client_is_unknown(exchange: Exchange, history: History) -> bool:
    """Tells whether the client is missing or made up."""
    client = exchange.request.query.get("client_id")
    return client is None or is_no_client(client, history)


def names_other_redirect(exchange: Exchange, history: History) -> bool:
    """Tells whether the redirect URI is not the one registered for the client."""
    app = named_client(exchange, history)
    uri = exchange.request.query.get("redirect_uri")
    return app is not None and uri != app.redirect_uri


client_and_redirect_are_sent_once = tells(
    "client and redirect URI are sent once",
    lambda it, _: not {"client_id", "redirect_uri"} & set(repeated(it)),
)


def is_other_spelling(exchange: Exchange, history: History) -> bool:
    """Tells whether the redirect URI has the registered host, and is not the registered one."""
    uri = exchange.request.query.get("redirect_uri", "")
    registered = proven(named_client(exchange, history)).redirect_uri
    if not uri or uri == registered:
        return False
    return split(uri).hostname == split(registered).hostname


def cannot_be_trusted(exchange: Exchange, history: History) -> bool:
    """Tells whether the client is made up, or the redirect URI is not registered for it."""
    client = exchange.request.query.get("client_id", "")
    return is_no_client(client, history) or names_other_redirect(exchange, history)


def _expect_no_redirect(exchange: Exchange, expected: str) -> CheckResult:
    is_right = exchange.response.is_refusal and not exchange.response.header("location")
    return expect(is_right, expected, shown_response(exchange))


def _is_accepted(exchange: Exchange, history: History) -> bool:
    app = proven(application_of(exchange, history))
    return exchange.status == HTTPStatus.OK or is_back(exchange, app)


@check(
    "authorize-client-known",
    "redirect-uri-registered",
    on=[AUTHORIZE],
    when=[client_and_redirect_match, is_sound],
)
def registered_client_is_known(exchange: Exchange, history: History) -> CheckResult:
    """A registered client with its redirect URI is accepted."""
    is_accepted = _is_accepted(exchange, history)
    expected = "a page or a redirect, as the client and the address are registered"
    return expect(is_accepted, expected, f"status {exchange.status}")


@check("authorize-error-page", on=[AUTHORIZE], when=[cannot_be_trusted])
def untrusted_address_gets_no_redirect(exchange: Exchange, _history: History) -> CheckResult:
    """The browser is never sent to an address that cannot be trusted (RFC 6749, 4.1.2.1)."""
    uri = exchange.request.query.get("redirect_uri", "")
    is_sent = bool(uri) and exchange.response.header("location").startswith(uri)
    return expect(
        not is_sent, "no redirect to the address of the request", shown_response(exchange)
    )


@check("authorize-error-page", on=[AUTHORIZE], when=[cannot_be_trusted], is_choice=True)
def refusal_is_a_page(exchange: Exchange, _history: History) -> CheckResult:
    """An error that cannot be redirected is shown to the person on a page."""
    is_right = (
        exchange.status == HTTPStatus.BAD_REQUEST and exchange.response.media_type == "text/html"
    )
    return expect(is_right, "a page with status 400", shown_response(exchange))


@probe(
    "consent-by-person",
    "authorize-page-not-framed",
    "scope-indexed-array",
    "authorize-client-known",
    "redirect-uri-registered",
    needs=("auth_url", "app"),
)
def authorization_request(client: ProbeClient) -> None:
    """Sends an authorization request, as a browser does that follows a link."""
    request_authorization(client, parameters(client.app))


@probe("authorize-client-known", "authorize-error-page", needs=("auth_url", "app"))
def requests_of_unknown_clients(client: ProbeClient) -> Parts:
    """Sends authorization requests with the client's ID in other case, and without a client."""
    yield request_authorization(client, parameters(client.app, client_id=recased_id(client.app)))
    yield request_authorization(client, parameters(client.app, client_id=None))


@probe(
    "redirect-uri-registered",
    "authorize-error-page",
    "redirect-uri-exact",
    needs=("auth_url", "app"),
)
def requests_with_other_redirects(client: ProbeClient) -> Parts:
    """Sends redirect URIs that differ from the registered one in a detail, and none.

    The seed draws one of four spellings that libraries normalize.
    """
    uri = client.app.redirect_uri or ""
    parts = urlsplit(uri)
    root, name = f"{parts.scheme}://{parts.netloc}", parts.path[1:] or "callback"
    encoded = f"{root}/%{ord(name[0]):02X}{name[1:]}"
    normalized = (encoded, f"{root}//{name}", f"{uri} ", f"{uri}?")
    spellings = (
        f"{uri}/",
        f"{parts.scheme}://{parts.netloc}@understudy.invalid{parts.path}",
        f"{uri}?more=1",
        uri.replace(parts.netloc, f"{parts.hostname}:59999"),
        uri.replace(parts.scheme, "https" if parts.scheme == "http" else "http", 1),
        f"{uri}#fragment",
        normalized[client.seed % len(normalized)],
    )
    for spelling in spellings:
        yield request_authorization(client, parameters(client.app, redirect_uri=spelling))
    yield request_authorization(client, parameters(client.app, redirect_uri=None))


@probe("redirect-uri-registered", needs=("auth_url", "app", "other_app"))
def request_with_redirect_of_another_client(client: ProbeClient) -> None:
    """Sends the redirect URI that is registered for another client."""
    uri = client.target.other_application.redirect_uri
    if uri:
        request_authorization(client, parameters(client.app, redirect_uri=uri))


@probe("redirect-uri-registered", "authorize-error-page", needs=("auth_url", "app"))
def requests_with_another_error_too(client: ProbeClient) -> Parts:
    """Sends near misses of the redirect URI together with a second error, or denies consent."""
    scheme, netloc, path, *_ = urlsplit(client.app.redirect_uri or "")
    origin = f"{scheme}://{netloc}"
    mistakes: tuple[dict[str, str | None], ...] = (
        {"response_type": "sparkles", "redirect_uri": f"{origin}/understudy/..{path}"},
        {
            "scope[0]": None,
            "scope[1]": None,
            "redirect_uri": f"{scheme}://understudy@{netloc}{path}",
        },
    )
    for mistake in mistakes:
        yield request_authorization(client, parameters(client.app, **mistake))
    in_capitals = parameters(client.app, redirect_uri=f"{origin}{path.upper()}")
    is_denied = client.app.deny is not None and client.target.permit.tokens
    yield (
        decide(client, in_capitals, "deny")
        if is_denied
        else request_authorization(client, in_capitals)
    )


# Response type, state and odd parameters of an authorization request (RFC 6749, 3.1 and 4).

ASKING = ("auth_url", "app")
GRANTED = (*ASKING, "tokens", "approval")


def _empty_names(exchange: Exchange) -> list[str]:
    return [name for name, text in exchange.request.pairs if text == "" and name in KNOWN]


def _forbidden_repeats(exchange: Exchange) -> list[str]:
    names = repeated(exchange)
    return [name for name in names if name in ONCE or SCOPE_NAME.fullmatch(name)]


repeats_a_parameter = tells(
    "a parameter is sent twice that may be sent once", lambda it, _: bool(_forbidden_repeats(it))
)
repeats_known_only = tells(
    "no unknown parameter is sent twice", lambda it, _: not set(repeated(it)) - KNOWN
)
has_no_challenge = tells(
    "the request has no code challenge",
    lambda it, _: "code_challenge" not in nonempty_parameters(it),
)
has_sound_scopes = tells(
    "the scopes exist, and auth is among them", lambda it, _: {AUTH} <= scopes(it) <= set(SCOPES)
)


def has_unknown_parameter(exchange: Exchange, _history: History) -> bool:
    """Tells whether the request has an unknown parameter."""
    names = {name for name, _ in exchange.request.pairs if not SCOPE_NAME.fullmatch(name)}
    return not names <= KNOWN


response_type_is_empty = tells(
    "the response type is empty", lambda it, _: "response_type" in _empty_names(it)
)
other_parameter_is_empty = tells(
    "a parameter beside the response type is empty",
    lambda it, history: bool(_empty_names(it)) and not response_type_is_empty(it, history),
)
has_other_response_type = unless(has_response_type, "the response type is neither code nor token")


def response_type_is_clear(exchange: Exchange, history: History) -> bool:
    """Tells whether a code or token was granted for a response type that was sent once."""
    is_once = "response_type" not in repeated(exchange)
    return is_granted(exchange) and is_once and has_response_type(exchange, history)


state_is_clear = tells(
    "state was sent once, or not at all",
    lambda it, history: "state" not in repeated(request_of(it, history)),
)


_REDIRECTED = (
    is_get,
    client_and_redirect_match,
    is_unsound,
    has_no_challenge,
    repeats_known_only,
)


@check("authorize-error-redirect", on=[AUTHORIZE], when=[*_REDIRECTED, has_sound_scopes])
def error_is_redirected(exchange: Exchange, history: History) -> CheckResult:
    """An error is redirected to a trusted client, in the query or the fragment that it reads."""
    is_right = bool(_error_parameters(exchange, history).get("error"))
    return expect(is_right, "error on the redirect", shown_response(exchange))


@check("authorize-error-redirect", on=[AUTHORIZE], when=_REDIRECTED, is_choice=True)
def error_is_described(exchange: Exchange, history: History) -> CheckResult:
    """An error has a description, and wrong scopes are reported in the same way."""
    error = _error_parameters(exchange, history)
    is_right = bool(error.get("error") and error.get("error_description"))
    return expect(is_right, "error and error_description on the redirect", shown_response(exchange))


def _error_parameters(exchange: Exchange, history: History) -> dict[str, str]:
    """Returns the parameters of a redirect: of the fragment for ``token``, else of the query."""
    if not is_back(exchange, proven(application_of(exchange, history))):
        return {}
    location = exchange.location
    types = [text for name, text in exchange.request.pairs if name == "response_type" and text]
    return dict(parse_qsl(location.fragment if types == ["token"] else location.query))


@check("authorize-repeated-parameter", on=[AUTHORIZE], when=[client_is_known, repeats_a_parameter])
def repeated_parameter_is_refused(exchange: Exchange, history: History) -> CheckResult:
    """A parameter that is sent twice is refused (RFC 6749, 3.1)."""
    is_accepted = is_granted(exchange) or is_page(exchange, history)
    return expect(
        not is_accepted, f"{_forbidden_repeats(exchange)[0]} is refused", shown_response(exchange)
    )


@check(
    "authorize-unknown-parameters-ignored",
    on=[AUTHORIZE],
    when=[client_and_redirect_match, is_sound, has_unknown_parameter],
)
def unknown_parameter_is_ignored(exchange: Exchange, _history: History) -> CheckResult:
    """An unknown parameter changes nothing."""
    is_error = "error" in exchange.redirect_parameters and not is_granted(exchange)
    is_accepted = exchange.status == HTTPStatus.OK or not (is_error or exchange.response.is_refusal)
    return expect(is_accepted, "unknown parameters change nothing", shown_response(exchange))


@check(
    "authorize-empty-parameter",
    on=[AUTHORIZE],
    when=[client_and_redirect_match, is_sound, other_parameter_is_empty],
)
def empty_parameter_counts_as_missing(exchange: Exchange, _history: History) -> CheckResult:
    """An empty parameter is treated as missing: an empty state is not returned."""
    is_left_out = "state" not in exchange.redirect_parameters or "state" not in _empty_names(
        exchange
    )
    is_right = is_left_out and not exchange.response.is_refusal
    return expect(is_right, "as if left out", shown_response(exchange))


@check("response-type", on=[AUTHORIZE], when=[client_and_redirect_match, response_type_is_clear])
def response_type_is_followed(exchange: Exchange, _history: History) -> CheckResult:
    """The response type ``code`` gives a code, and ``token`` a token."""
    response_type = nonempty_parameters(exchange)["response_type"]
    wanted = {"code": "code", "token": "access_token"}[response_type]
    names = sorted(exchange.redirect_parameters)
    return expect(wanted in names, f"{wanted} on the redirect", names)


@check("state-echoed", when=[answers_request, state_is_clear])
def state_comes_back(exchange: Exchange, history: History) -> CheckResult:
    """The redirect returns the state once and unchanged, and none where none was sent."""
    authorization = request_of(exchange, history)
    sent = _states(split(authorization.request.url).query)
    returned = _states(exchange.location.query, exchange.location.fragment)
    evidence = authorization if authorization is not exchange else None
    return expect_equal(_only(returned), _only([*filter(None, sent)]), "state", evidence)


def _states(*parts: str) -> list[str]:
    """Returns the values of every ``state`` in these parts of a URL, empty ones included."""
    pairs = (pair for part in parts for pair in parse_qsl(part, keep_blank_values=True))
    return [text for name, text in pairs if name == "state"]


def _only(states: list[str]) -> str | list[str] | None:
    """Returns the state if there is exactly one, all of them if there are several, else None."""
    return states[0] if len(states) == 1 else states or None


@probe("response-type", "authorize-error-redirect", "authorize-empty-parameter", needs=ASKING)
def requests_with_other_response_types(client: ProbeClient) -> Parts:
    """Requests an empty response type, none, and both types at once."""
    for response_type in ("", None, "code token"):
        yield request_authorization(client, parameters(client.app, response_type=response_type))


@probe("authorize-repeated-parameter", needs=ASKING)
def requests_with_repeated_parameters(client: ProbeClient) -> Parts:
    """Repeats each parameter in turn with another value."""
    pairs = parameters(client.app)
    for name, text in (
        ("client_id", client.app.client_id or ""),
        ("redirect_uri", client.app.redirect_uri or ""),
        ("response_type", "token"),
        ("state", "another"),
        ("scope[0]", "auth"),
    ):
        yield request_authorization(client, [*pairs, (name, text)])


@probe(
    "authorize-unknown-parameters-ignored",
    "code-in-query",
    "state-echoed",
    "code-unguessable",
    "response-type",
    "scope-indexed-array",
    "authorize-empty-parameter",
    needs=GRANTED,
)
def approved_requests(client: ProbeClient) -> Parts:
    """Has a person approve requests with unknown parameters, an empty state and no state.

    One has its parameters in reverse order, and so its second scope before the first.
    """
    yield decide(client, parameters(client.app, nonce="n", prompt="login"))
    yield decide(client, parameters(client.app, state="")[::-1])
    yield decide(client, parameters(client.app, state=None))


RESERVED: Final = "Aa+b%2B%20c#d;e://?[]@!$'()*,\"<>|~_東京🎭" + "0123456789abcdef" * 20
"""A state with characters that URLs and HTML reserve, other scripts, and over 255 characters."""


@probe("state-echoed", needs=(*ASKING, "tokens", "denial"))
def state_of_reserved_characters(client: ProbeClient) -> Parts:
    """Sends a long state of reserved characters, and lets the person deny and approve."""
    yield decide(client, parameters(client.app, state=RESERVED), "deny")
    if client.app.approve is not None or client.app.username is not None:
        yield decide(client, parameters(client.app, state=RESERVED))


# How the authorization server puts an error into a redirect (RFC 6749, 4.1.2.1, 4.2.2.1).

REGISTERED: Final = frozenset(
    {
        "invalid_request",
        "unauthorized_client",
        "access_denied",
        "unsupported_response_type",
        "invalid_scope",
        "server_error",
        "temporarily_unavailable",  # RFC 6749, 4.1.2.1
        "interaction_required",
        "login_required",
        "account_selection_required",
        "consent_required",
        "invalid_request_uri",
        "invalid_request_object",
        "request_not_supported",
        "request_uri_not_supported",
        "registration_not_supported",
        "invalid_target",  # RFC 8707, 2
    }
)
"""Error codes that the IANA registry lists for the authorization endpoint."""

PARTS: Final = {"code": "query", "token": "fragment"}
"""Response type to the part of the redirect URI that holds its response, errors included."""

# Characters that RFC 6749, 4.1.2.1 excludes from error_description.
_UNDESCRIBABLE: Final = re.compile(r"[^\x20-\x21\x23-\x5b\x5d-\x7e]")

_WITH_ERROR = (is_redirect, answers_request, redirect_has("error"))


@check("authorize-error-form", when=_WITH_ERROR)
def error_code_is_registered(exchange: Exchange, _history: History) -> CheckResult:
    """An error has a registered code."""
    error = exchange.redirect_parameters.get("error")
    return expect(error in REGISTERED, "a code that RFC 6749 or an extension registers", error)


@check("authorize-error-form", when=_WITH_ERROR)
def error_is_in_right_part(exchange: Exchange, history: History) -> CheckResult:
    """An error is in the query for ``code``, and in the fragment for ``token``."""
    pairs = request_of(exchange, history).request.pairs
    types = [text for name, text in pairs if name == "response_type"]
    part = PARTS.get(types[0]) if len(types) == 1 else None
    location = exchange.location
    parts = {"query": location.query, "fragment": location.fragment}
    places = [name for name, text in parts.items() if "error" in parse_qs(text)]
    is_right = part is None or places == [part]
    return expect(is_right, f"error in the {part}", f"error in the {' and the '.join(places)}")


@check("authorize-error-form", when=[*_WITH_ERROR, redirect_has("error_description")])
def error_is_described_in_ascii(exchange: Exchange, _history: History) -> CheckResult:
    """A description consists of printable ASCII without quotation marks and backslashes."""
    description = exchange.redirect_parameters["error_description"]
    wrong = sorted(set(_UNDESCRIBABLE.findall(description)))
    return expect(not wrong, 'printable ASCII without " and \\', as_json(wrong))


# Rules that demand one outcome wherever their conditions hold.

of_authorize = demands(AUTHORIZE)
of_authorize(
    "authorize-client-known", [client_is_unknown], _expect_no_redirect, "a refusal, and no redirect"
)
of_authorize(
    "redirect-uri-registered",
    [client_is_known, client_and_redirect_are_sent_once, names_other_redirect],
    _expect_no_redirect,
    "a refusal, and no redirect",
)
of_authorize(
    "redirect-uri-exact",
    [client_is_known, is_other_spelling],
    _expect_no_redirect,
    "a refusal of another spelling",
)
of_authorize(
    "authorize-empty-parameter",
    [client_and_redirect_match, response_type_is_empty],
    expect_no_grant,
    "a refusal, as if left out",
)
of_authorize(
    "response-type",
    [client_and_redirect_match, has_other_response_type],
    expect_no_grant,
    "a refusal",
)

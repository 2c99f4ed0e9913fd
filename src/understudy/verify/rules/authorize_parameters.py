"""Response type, state and odd parameters of an authorization request (RFC 6749, 3.1 and 4)."""

from typing import Final
from urllib.parse import parse_qsl, unquote_plus

from understudy.exchange.messages import Exchange, split
from understudy.interface.operations import AUTHORIZE
from understudy.interface.scopes import AUTH, SCOPES
from understudy.verify.browsing import decide, parameters, request_authorization
from understudy.verify.checks import CheckResult, check, expect, expect_equal, is_get, proven
from understudy.verify.grant_history import (
    KNOWN,
    OK,
    ONCE,
    SCOPE_NAME,
    answers_request,
    application_of,
    client_and_redirect_match,
    client_is_known,
    has_response_type,
    is_back,
    is_granted,
    is_page,
    is_sound,
    is_unsound,
    nonempty_parameters,
    repeated,
    request_of,
    scopes,
    shown_response,
)
from understudy.verify.history import History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe

ASKING = ("auth_url", "app")
GRANTED = (*ASKING, "tokens", "approval")


def _empty(exchange: Exchange) -> list[str]:
    return [name for name, text in exchange.request.pairs if text == "" and name in KNOWN]


def _twice(exchange: Exchange) -> list[str]:
    names = repeated(exchange)
    return [name for name in names if name in ONCE or SCOPE_NAME.fullmatch(name)]


def repeats_a_parameter(exchange: Exchange, _history: History) -> bool:
    """Tells whether a parameter is given twice that may be given once."""
    return bool(_twice(exchange))


def repeats_known_only(exchange: Exchange, _history: History) -> bool:
    """Tells whether no unknown parameter is given twice."""
    return not set(repeated(exchange)) - KNOWN


def has_no_challenge(exchange: Exchange, _history: History) -> bool:
    """Tells whether the request has no code challenge."""
    return "code_challenge" not in nonempty_parameters(exchange)


def has_sound_scopes(exchange: Exchange, _history: History) -> bool:
    """Tells whether the scopes exist, and auth is among them."""
    return {AUTH} <= scopes(exchange) <= set(SCOPES)


def has_unknown_parameter(exchange: Exchange, _history: History) -> bool:
    """Tells whether the request has an unknown parameter."""
    names = {name for name, _ in exchange.request.pairs if not SCOPE_NAME.fullmatch(name)}
    return not names <= KNOWN


def response_type_is_empty(exchange: Exchange, _history: History) -> bool:
    """Tells whether the response type is empty."""
    return "response_type" in _empty(exchange)


def other_parameter_is_empty(exchange: Exchange, history: History) -> bool:
    """Tells whether a parameter beside the response type is empty."""
    return bool(_empty(exchange)) and not response_type_is_empty(exchange, history)


def has_other_response_type(exchange: Exchange, history: History) -> bool:
    """Tells whether the response type is neither code nor token."""
    return not has_response_type(exchange, history)


def response_type_is_clear(exchange: Exchange, history: History) -> bool:
    """Tells whether something was granted for a response type that was given once."""
    is_once = "response_type" not in repeated(exchange)
    return is_granted(exchange) and is_once and has_response_type(exchange, history)


def state_is_clear(exchange: Exchange, history: History) -> bool:
    """Tells whether state was given once, or not at all."""
    return "state" not in repeated(request_of(exchange, history))


_REDIRECTED = (
    *(is_get, client_and_redirect_match, is_unsound, has_no_challenge, repeats_known_only),
)


@check("authorize-error-redirect", on=[AUTHORIZE], when=[*_REDIRECTED, has_sound_scopes])
def error_is_redirected(exchange: Exchange, history: History) -> CheckResult:
    """An error is redirected to a client that can be trusted, in the part it reads."""
    is_right = bool(_error_parameters(exchange, history).get("error"))
    return expect(is_right, "error on the redirect", shown_response(exchange))


@check("authorize-error-redirect", on=[AUTHORIZE], when=_REDIRECTED, is_choice=True)
def error_is_described(exchange: Exchange, history: History) -> CheckResult:
    """An error has a description, and wrong scopes are reported in the same way."""
    error = _error_parameters(exchange, history)
    is_right = bool(error.get("error") and error.get("error_description"))
    return expect(is_right, "error and error_description on the redirect", shown_response(exchange))


def _error_parameters(exchange: Exchange, history: History) -> dict[str, str]:
    """Returns the parameters of a redirect to the application, from the part it reads."""
    if not is_back(exchange, proven(application_of(exchange, history))):
        return {}
    location = exchange.location
    types = [text for name, text in exchange.request.pairs if name == "response_type" and text]
    return dict(parse_qsl(location.fragment if types == ["token"] else location.query))


@check("authorize-repeated-parameter", on=[AUTHORIZE], when=[client_is_known, repeats_a_parameter])
def repeated_parameter_is_refused(exchange: Exchange, history: History) -> CheckResult:
    """A parameter that is given twice is refused."""
    is_taken = is_granted(exchange) or is_page(exchange, history)
    return expect(not is_taken, f"{_twice(exchange)[0]} is refused", shown_response(exchange))


@check(
    "authorize-unknown-parameters-ignored",
    on=[AUTHORIZE],
    when=[client_and_redirect_match, is_sound, has_unknown_parameter],
)
def unknown_parameter_is_ignored(exchange: Exchange, _history: History) -> CheckResult:
    """An unknown parameter changes nothing."""
    is_error = "error" in exchange.redirect_parameters and not is_granted(exchange)
    is_taken = exchange.status == OK or not (is_error or exchange.response.is_refusal)
    return expect(is_taken, "they change nothing", shown_response(exchange))


@check(
    "authorize-empty-parameter",
    on=[AUTHORIZE],
    when=[client_and_redirect_match, response_type_is_empty],
)
def empty_response_type_counts_as_missing(exchange: Exchange, _history: History) -> CheckResult:
    """An empty response type counts as left out, and is refused."""
    is_taken = is_granted(exchange) or exchange.status == OK
    return expect(not is_taken, "a refusal, as if left out", shown_response(exchange))


@check(
    "authorize-empty-parameter",
    on=[AUTHORIZE],
    when=[client_and_redirect_match, is_sound, other_parameter_is_empty],
)
def empty_parameter_counts_as_missing(exchange: Exchange, _history: History) -> CheckResult:
    """An empty parameter counts as left out: an empty state does not come back."""
    is_left_out = "state" not in exchange.redirect_parameters or "state" not in _empty(exchange)
    is_right = is_left_out and not exchange.response.is_refusal
    return expect(is_right, "as if left out", shown_response(exchange))


@check("response-type", on=[AUTHORIZE], when=[client_and_redirect_match, response_type_is_clear])
def response_type_is_followed(exchange: Exchange, _history: History) -> CheckResult:
    """The response type ``code`` gives a code, and ``token`` a token."""
    response_type = nonempty_parameters(exchange)["response_type"]
    wanted = {"code": "code", "token": "access_token"}[response_type]
    names = sorted(exchange.redirect_parameters)
    return expect(wanted in names, f"{wanted} on the redirect", names)


@check("response-type", on=[AUTHORIZE], when=[client_and_redirect_match, has_other_response_type])
def other_response_type_is_refused(exchange: Exchange, _history: History) -> CheckResult:
    """No other response type is taken."""
    is_taken = is_granted(exchange) or exchange.status == OK
    return expect(not is_taken, "a refusal", shown_response(exchange))


@check("state-echoed", when=[answers_request, state_is_clear])
def state_comes_back(exchange: Exchange, history: History) -> CheckResult:
    """The state comes back as it was sent, and only if it was."""
    authorization = request_of(exchange, history)
    sent = _raw(split(authorization.request.url).query).get("state") or None
    location = exchange.location
    returned = (_raw(location.query) | _raw(location.fragment)).get("state")
    evidence = authorization if authorization is not exchange else None
    return expect_equal(
        returned and unquote_plus(returned), sent and unquote_plus(sent), "state", evidence
    )


def _raw(query: str) -> dict[str, str]:
    """Returns the parameters of a query as they are encoded."""
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    return {name: text for name, _, text in pairs}


@probe("response-type", "authorize-error-redirect", "authorize-empty-parameter", needs=ASKING)
def requests_with_other_response_types(client: ProbeClient) -> Parts:
    """Asks for no response type, an empty one, and one that does not exist."""
    for response_type in ("", None, "sparkles"):
        yield request_authorization(client, parameters(client.app, response_type=response_type))


@probe("authorize-repeated-parameter", needs=ASKING)
def requests_with_repeated_parameters(client: ProbeClient) -> Parts:
    """Gives a parameter twice, with another value."""
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
    *("authorize-unknown-parameters-ignored", "code-in-query", "state-echoed"),
    *("code-unguessable", "response-type", "scope-indexed-array", "authorize-empty-parameter"),
    needs=GRANTED,
)
def approved_requests(client: ProbeClient) -> Parts:
    """Lets a person approve good requests that differ in what hardly matters."""
    yield decide(client, parameters(client.app, nonce="n", prompt="login"))
    yield decide(client, parameters(client.app, state=""))
    yield decide(client, parameters(client.app, state=None))


RESERVED: Final = "Aa+b%2B%20c#d;e:/?[]@!$'()*,\"<>|~" + "0123456789abcdef" * 8
"""A state with what has a meaning in URLs and in HTML, and longer than a column may be."""


@probe("state-echoed", needs=(*ASKING, "tokens", "denial"))
def state_of_reserved_characters(client: ProbeClient) -> Parts:
    """Sends a long state of reserved characters, and lets the person deny and approve."""
    yield decide(client, parameters(client.app, state=RESERVED), "deny")
    if client.app.approve is not None or client.app.username is not None:
        yield decide(client, parameters(client.app, state=RESERVED))

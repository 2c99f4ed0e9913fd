"""Judges the token endpoint's responses: tokens, errors, headers (interface, Code grant; RFC 6749, 5)."""

from typing import Final

from understudy.exchange.messages import NO_JSON, Exchange
from understudy.interface.operations import TOKEN, TOKEN_INFO
from understudy.verify.browsing import form_of, password_form, post
from understudy.verify.checks import CheckResult, check, expect, status_is, succeeded, was_refused
from understudy.verify.grant_history import gives_token
from understudy.verify.history import MADE_UP, History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.rules.token_requests import CLIENT, CODE, is_token_endpoint
from understudy.verify.shapes import fault
from understudy.verify.value_texts import as_json

STATUSES: Final = frozenset({400, 405, 413})
"""Statuses of an error; an unknown client gets 400 or 401."""

OF_UNKNOWN_CLIENT: Final = frozenset({400, 401})


def may_have_body(exchange: Exchange, _history: History) -> bool:
    """Tells whether the method is not HEAD."""
    return exchange.request.method != "HEAD"


def is_cross_origin(exchange: Exchange, _history: History) -> bool:
    """Tells whether a browser's script requests from another origin."""
    return bool(exchange.request.header("origin"))


def holds_token(exchange: Exchange, _history: History) -> bool:
    """Tells whether the response holds a token."""
    return gives_token(exchange)


def holds_no_token(exchange: Exchange, _history: History) -> bool:
    """Tells whether the response holds no token."""
    return not gives_token(exchange)


@check("token-answer", on=[TOKEN], when=[succeeded])
def token_has_its_members(exchange: Exchange, _history: History) -> CheckResult:
    """A token comes with blog_id, blog_url and the type bearer."""
    error = fault(exchange.body, "Token", document="authorization.yaml")
    return expect(not error, "access_token, blog_id, blog_url and token_type bearer", error)


@check("token-answer-scope", on=[TOKEN], when=[succeeded])
def token_names_its_scopes(exchange: Exchange, _history: History) -> CheckResult:
    """A token comes with its scopes, separated by spaces."""
    scope = exchange.json_object.get("scope")
    is_right = isinstance(scope, str) and bool(scope.split())
    return expect(is_right, "the scopes, separated by spaces", scope)


@check("token-error-shape", on=[TOKEN], when=[status_is(400, 401), may_have_body])
def error_is_named(exchange: Exchange, _history: History) -> CheckResult:
    """An error is named under ``error`` in JSON (RFC 6749, 5.2)."""
    is_named = isinstance(exchange.json_object.get("error"), str)
    return expect(
        is_named, "error in a JSON object", f"members {as_json(sorted(exchange.json_object))}"
    )


@check(
    "token-error-shape",
    on=[TOKEN, TOKEN_INFO],
    when=[was_refused, may_have_body],
    is_choice=True,
)
def error_is_described(exchange: Exchange, _history: History) -> CheckResult:
    """An error has a description too, a fitting status, and not the other API's code."""
    members = exchange.json_object
    error, text = members.get("error"), members.get("error_description")
    statuses = OF_UNKNOWN_CLIENT if error == "invalid_client" else STATUSES
    is_right = isinstance(error, str) and isinstance(text, str) and exchange.status in statuses
    is_right = is_right and "code" not in members and exchange.body is not NO_JSON
    actual = f"status {exchange.status}, {as_json(sorted(members))}"
    return expect(is_right, "error and error_description, with 400 or 401", actual)


@check("token-not-cached", on=[TOKEN], when=[holds_token])
def token_is_not_stored(exchange: Exchange, _history: History) -> CheckResult:
    """A response that holds a token is not stored (RFC 6749, 5.1)."""
    return _expect_not_stored(exchange)


@check("token-not-cached", on=[TOKEN], when=[holds_no_token], is_choice=True)
def error_is_not_stored(exchange: Exchange, _history: History) -> CheckResult:
    """No other response of the token endpoint is stored either."""
    return _expect_not_stored(exchange)


def _expect_not_stored(exchange: Exchange) -> CheckResult:
    control, pragma = exchange.response.header("cache-control"), exchange.response.header("pragma")
    is_right = "no-store" in control and "no-cache" in pragma
    actual = f"Cache-Control: {as_json(control)}, Pragma: {as_json(pragma)}"
    return expect(is_right, "Cache-Control: no-store and Pragma: no-cache", actual)


@check("token-no-cors", when=[is_token_endpoint, is_cross_origin])
def browser_gets_cross_origin_error(exchange: Exchange, _history: History) -> CheckResult:
    """A browser's script is not allowed to read a token (interface, Code grant, 4)."""
    allowed = exchange.response.header("access-control-allow-origin")
    return expect(not allowed, "no Access-Control-Allow-Origin", allowed)


@probe(
    *("token-no-cors", "token-client-credentials", "token-error-shape", "token-not-cached"),
    needs=CLIENT,
)
def requests_of_browser_script(client: ProbeClient) -> Parts:
    """Guesses a secret as a page of another origin could, sends its preflight, and asks for good."""
    origin = {"origin": "https://understudy.invalid"}
    guess = form_of(client.app, CODE, client_secret=f"{MADE_UP}-secret")
    yield post(client, guess, headers=origin)
    headers = {**origin, "access-control-request-method": "POST"}
    yield client.auth("OPTIONS", "/oauth2/token", headers=headers)
    if client.app.username is not None:
        yield post(client, password_form(client.app), headers=origin)

"""Judges how long a token of each grant lasts (interface, Limits)."""

from datetime import timedelta
from typing import Final

from understudy.exchange.messages import Exchange
from understudy.interface.operations import OWN_PROFILE, TOKEN, TOKEN_INFO
from understudy.interface.scopes import SCOPES
from understudy.verify.browsing import (
    code,
    decide,
    form_of,
    info,
    parameters,
    password_form,
    post,
    token_in,
)
from understudy.verify.checks import CheckResult, check, expect, proven
from understudy.verify.grant_history import (
    is_redirect,
    issue_of,
    issues_by,
    token_is_of_grant,
    token_is_old,
)
from understudy.verify.history import History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import probe
from understudy.verify.rules.implicit_grant import LIFETIME

OK = 200
TOLERANCE: Final = timedelta(minutes=1)
"""The difference that is allowed between the deployment's clock and that of verify."""


def _age(exchange: Exchange, history: History) -> timedelta:
    return exchange.at - proven(issue_of(exchange, history)).at


def token_is_implicit(exchange: Exchange, history: History) -> bool:
    """Tells whether the token was issued on a redirect."""
    issued = issue_of(exchange, history)
    is_grant = issued is not None and is_redirect(issued, history)
    return is_grant and "access_token" in proven(issued).redirect_parameters


def two_weeks_are_over(exchange: Exchange, history: History) -> bool:
    """Tells whether the token is older than two weeks."""
    return _age(exchange, history) >= LIFETIME + TOLERANCE


def two_weeks_are_nearly_over(exchange: Exchange, history: History) -> bool:
    """Tells whether the token is in its second week."""
    return LIFETIME / 2 <= _age(exchange, history) <= LIFETIME - TOLERANCE


def client_owns_token(exchange: Exchange, history: History) -> bool:
    """Tells whether the token is used, or validated by its own client."""
    client = proven(issue_of(exchange, history)).request.query.get("client_id")
    return exchange.operation == OWN_PROFILE or exchange.request.query.get("client_id") == client


def _expect_unlimited(exchange: Exchange) -> CheckResult:
    limit = exchange.json_object.get("expires_in")
    return expect("expires_in" not in exchange.json_object, "a token that never expires", limit)


def _expect_valid(exchange: Exchange, history: History) -> CheckResult:
    actual = f"status {exchange.status} after {_age(exchange, history).days} days"
    is_valid = exchange.status == OK
    uses = (
        each for each in history.of(OWN_PROFILE) if each.request.token == exchange.request.token
    )
    earlier = (issue_of(exchange, history), next(uses, None))
    return expect(is_valid, "a token that is still valid", actual, *earlier)


@check(
    "implicit-token-two-weeks",
    on=[OWN_PROFILE, TOKEN_INFO],
    when=[token_is_implicit, two_weeks_are_over],
)
def implicit_token_expires(exchange: Exchange, history: History) -> CheckResult:
    """A token of the implicit flow expires after two weeks."""
    actual = f"status {exchange.status} after {_age(exchange, history)}"
    is_refused = exchange.response.is_refusal
    return expect(is_refused, "an expired token", actual, issue_of(exchange, history))


@check(
    "implicit-token-two-weeks",
    on=[OWN_PROFILE, TOKEN_INFO],
    when=[token_is_implicit, two_weeks_are_nearly_over, client_owns_token],
)
def implicit_token_lasts(exchange: Exchange, history: History) -> CheckResult:
    """A token of the implicit flow is valid for two weeks."""
    actual = f"status {exchange.status} after {_age(exchange, history)}"
    is_valid = exchange.response.is_success
    return expect(is_valid, "a valid token", actual, issue_of(exchange, history))


@check("code-token-no-expiry", on=[TOKEN], when=[issues_by("authorization_code")])
def code_token_has_no_lifetime(exchange: Exchange, _history: History) -> CheckResult:
    """A token of the code grant comes without a lifetime."""
    return _expect_unlimited(exchange)


@check(
    "code-token-no-expiry",
    on=[OWN_PROFILE],
    when=[token_is_of_grant("authorization_code"), token_is_old],
)
def code_token_lasts(exchange: Exchange, history: History) -> CheckResult:
    """A token of the code grant does not expire."""
    return _expect_valid(exchange, history)


@check("password-grant-token-no-expiry", on=[TOKEN], when=[issues_by("password")])
def password_token_has_no_lifetime(exchange: Exchange, _history: History) -> CheckResult:
    """A token of the password grant comes without a lifetime."""
    return _expect_unlimited(exchange)


@check(
    "password-grant-token-no-expiry",
    on=[OWN_PROFILE],
    when=[token_is_of_grant("password"), token_is_old],
)
def password_token_lasts(exchange: Exchange, history: History) -> CheckResult:
    """A token of the password grant does not expire."""
    return _expect_valid(exchange, history)


@probe(
    *("implicit-token-two-weeks", "code-token-no-expiry", "password-grant-token-no-expiry"),
    "token-info-unspecific",
    needs=("auth_url", "app", "tokens", "approval", "password", "clock"),
)
def tokens_that_grow_old(client: ProbeClient) -> None:
    """Gets a token by each grant, and uses them shortly before two weeks, after, and a year on."""
    scopes = SCOPES[:2]
    redirect = decide(client, parameters(client.app, response_type="token"))
    implicit = token_in(client, redirect, scopes)
    by_code = token_in(client, post(client, form_of(client.app, code(client))), scopes)
    by_password = token_in(client, post(client, password_form(client.app)))
    client.advance(timedelta(days=13, hours=23))
    for token in (implicit, by_code):
        client.get("/me/profile", token)
    info(client, implicit)
    client.advance(timedelta(hours=1, minutes=2))
    client.get("/me/profile", implicit)
    info(client, implicit)
    for span in (timedelta(weeks=2), timedelta(days=365)):
        client.advance(span)
        for token in (by_code, by_password):
            client.get("/me/profile", token)

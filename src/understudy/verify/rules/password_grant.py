"""The password grant, for the application's owner and for tests (interface, Password grant)."""

from http import HTTPStatus

from understudy.exchange.messages import Exchange
from understudy.interface.operations import TOKEN
from understudy.interface.scopes import SCOPES
from understudy.verify.browsing import password_form, post, token_in
from understudy.verify.checks import (
    CheckResult,
    check,
    demands,
    expect,
    proven,
    tells,
    unless,
    was_refused,
)
from understudy.verify.grant_history import (
    authenticated_client,
    client_is_proven,
    expect_no_token,
    expect_token,
    holds_token,
    is_clean,
    shown_error,
)
from understudy.verify.history import History
from understudy.verify.probe_client import ProbeClient
from understudy.verify.probing import Parts, probe
from understudy.verify.switches import oauth_error_form, reading
from understudy.verify.value_texts import as_json, nearly, nearly_in_form


def names_person(exchange: Exchange, _history: History) -> bool:
    """Tells whether a password grant names a user and a password."""
    form = exchange.request.form
    is_grant = form.get("grant_type") == "password"
    return is_grant and bool(form.get("username")) and "password" in form


def owner_is_known(exchange: Exchange, history: History) -> bool:
    """Tells whether the target names the application's owner, who uses no two-step sign-in."""
    app = proven(authenticated_client(exchange, history))
    return app.username is not None and not app.application_password


owner_uses_two_steps = tells(
    "the application's owner uses two-step authentication",
    lambda it, history: bool(proven(authenticated_client(it, history)).application_password),
)


def is_owner(exchange: Exchange, history: History) -> bool:
    """Tells whether user name and account password are the owner's."""
    app, form = proven(authenticated_client(exchange, history)), exchange.request.form
    return (form["username"], form["password"]) == (app.username, app.password)


is_not_owner = unless(is_owner, "user name and account password are not the owner's")


def has_application_password(exchange: Exchange, history: History) -> bool:
    """Tells whether user name and application password are the owner's."""
    app, form = proven(authenticated_client(exchange, history)), exchange.request.form
    return (form["username"], form["password"]) == (app.username, app.application_password)


has_other_password = unless(
    has_application_password, "the password is not the owner's application password"
)
requests_known_scopes = tells(
    "the scopes, if any, exist",
    lambda it, _: set(it.request.form.get("scope", "").split()) <= set(SCOPES),
)
has_no_array = tells(
    "the scopes are not an array",
    lambda it, _: not any(name.startswith("scope[") for name in it.request.form),
)


WHOLE = (names_person, client_is_proven, is_clean)
"""Conditions of a password grant in which only user name and password can be wrong."""


@check("password-grant-two-step-error", on=[TOKEN], when=[*WHOLE, owner_uses_two_steps, is_owner])
def account_password_has_its_own_error(exchange: Exchange, _history: History) -> CheckResult:
    """The error for the right account password says that a second step is needed."""
    is_right = (
        exchange.status == HTTPStatus.BAD_REQUEST
        and exchange.json_object.get("error") == "needs_2fa"
    )
    return expect(is_right, "400 needs_2fa", shown_error(exchange))


@check("password-grant-scopes", on=[TOKEN], when=[*WHOLE, holds_token, has_no_array])
def token_has_requested_scopes(exchange: Exchange, _history: History) -> CheckResult:
    """A token has the requested scopes, and all scopes if none was requested."""
    wanted = set(exchange.request.form.get("scope", "").split()) or set(SCOPES)
    granted = set(str(exchange.json_object.get("scope")).split())
    return expect(granted == wanted, as_json(wanted), sorted(granted))


@probe(
    "password-grant-owner-only",
    "password-grant-scopes",
    "password-grant-token-no-expiry",
    "token-answer",
    "token-answer-scope",
    "token-not-cached",
    "token-grant-type",
    "code-unguessable",
    "token-client-credentials",
    "token-error-shape",
    "token-empty-field",
    "profile-required-members",
    needs=("auth_url", "app", "tokens", "password"),
)
def password_of_owner(client: ProbeClient) -> Parts:
    """Uses the password grant as the owner, with scopes, without, and with a padded password."""
    yield post(client, password_form(client.app))
    yield post(client, password_form(client.app, password=f" {client.app.password} "))
    yield post(client, password_form(client.app, scope=""))
    scope = " ".join(SCOPES[:2])
    exchange = post(client, password_form(client.app, scope=scope))
    yield exchange
    yield client.get("/me/profile", token_in(client, exchange, SCOPES[:2]))


@probe(
    "password-grant-owner-only",
    "token-client-credentials",
    "token-grant-type",
    needs=("auth_url", "app", "tokens", "password"),
)
def nearly_right_secrets(client: ProbeClient) -> Parts:
    """Uses the password grant with empty or altered secrets, passwords and grant types."""
    for name, right in password_form(client.app):
        if name in {"client_secret", "password"}:
            for wrong in ("", *nearly_in_form(right)):
                yield post(client, password_form(client.app, **{name: wrong}))
    ended = f"{client.app.client_secret}\n"
    others = [{"grant_type": "Password"}, {"client_secret": ended}]
    wide = nearly(client.app.password or "", ["widened"])
    others += [{"password": text} for _, text in wide]
    yield [post(client, password_form(client.app, **fields)) for fields in others]


@probe("password-grant-owner-only", needs=("auth_url", "app", "tokens", "other_person"))
def password_of_other_person(client: ProbeClient) -> None:
    """Uses the password grant as a person who does not own the application."""
    other = client.target.other_application
    post(client, password_form(client.app, username=other.username, password=other.password))


@probe(
    "password-grant-two-step",
    "password-grant-two-step-error",
    "token-error-shape",
    needs=("auth_url", "tokens", "two_step"),
)
def passwords_of_two_step_owner(client: ProbeClient) -> Parts:
    """Uses both passwords of an owner with two-step authentication."""
    app = client.target.two_step
    yield post(client, password_form(app))
    yield post(client, password_form(app, password=app.application_password))


reading(
    "password-grant-two-step-error",
    on=[TOKEN],
    when=[was_refused, *WHOLE, owner_uses_two_steps, is_owner],
    read=oauth_error_form,
)


# Rules that demand one outcome wherever their conditions hold.

of_token = demands(TOKEN)
of_token(
    "password-grant-owner-only",
    [*WHOLE, owner_is_known, is_owner, requests_known_scopes],
    expect_token,
    "a token for the owner",
)
of_token(
    "password-grant-owner-only",
    [*WHOLE, owner_is_known, is_not_owner],
    expect_no_token,
    "no token for anybody but the owner",
)
of_token(
    "password-grant-two-step",
    [*WHOLE, owner_uses_two_steps, has_application_password],
    expect_token,
    "a token",
)
of_token(
    "password-grant-two-step",
    [*WHOLE, owner_uses_two_steps, has_other_password],
    expect_no_token,
    "no token for the account password",
)

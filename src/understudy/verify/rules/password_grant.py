"""The password grant (interface, Password grant)."""

from understudy.deployments.exchange import Exchange
from understudy.deployments.target import TargetApplication
from understudy.interface.operations import OWN_PROFILE, TOKEN
from understudy.verify.checks import CheckResult, check, expect
from understudy.verify.history import History
from understudy.verify.rules.code_grant import lasts
from understudy.verify.rules.token_endpoint import client_of, gives_token, is_clean, no_token

ALL = {"auth", "avatar-profile:read", "avatar-profile:manage"}


def _asked(exchange: Exchange, history: History) -> TargetApplication | None:
    """Returns the application of a password grant that is in order but for the person."""
    form = exchange.request.form
    is_whole = (
        form.get("grant_type") == "password" and form.get("username") and form.get("password")
    )
    return client_of(exchange, history) if is_whole and is_clean(exchange) else None


@check("password-grant-owner-only", on=[TOKEN])
def _owner_only(exchange: Exchange, history: History) -> CheckResult | None:
    app = _asked(exchange, history)
    if app is None or app.username is None or app.application_password:
        return None
    form = exchange.request.form
    if (form["username"], form["password"]) == (app.username, app.password):
        if form.get("scope") and not set(form["scope"].split()) <= ALL:
            return None
        return expect(
            gives_token(exchange), "a token for the owner", exchange.json_object.get("error")
        )
    return no_token(exchange, "no token for anybody but the owner")


@check("password-grant-two-step", on=[TOKEN])
def _two_step(exchange: Exchange, history: History) -> CheckResult | None:
    app = _asked(exchange, history)
    if app is None or not app.application_password:
        return None
    form = exchange.request.form
    if form["password"] == app.application_password and form["username"] == app.username:
        return expect(gives_token(exchange), "a token", exchange.json_object.get("error"))
    return no_token(exchange, "no token for the account password")


@check("password-grant-two-step-error", on=[TOKEN])
def _two_step_error(exchange: Exchange, history: History) -> CheckResult | None:
    app = _asked(exchange, history)
    form = exchange.request.form
    if app is None or not app.application_password:
        return None
    if (form["username"], form["password"]) != (app.username, app.password):
        return None
    is_right = exchange.status == 400 and exchange.json_object.get("error") == "needs_2fa"  # noqa: PLR2004 - as chosen
    actual = f"status {exchange.status}, {exchange.json_object.get('error')!r}"
    return expect(is_right, "400 needs_2fa", actual)


@check("password-grant-scopes", on=[TOKEN])
def _scopes(exchange: Exchange, history: History) -> CheckResult | None:
    if _asked(exchange, history) is None or not gives_token(exchange):
        return None
    wanted = set(exchange.request.form.get("scope", "").split()) or ALL
    if any(name.startswith("scope[") for name in exchange.request.form):
        return None
    granted = set(str(exchange.json_object.get("scope")).split())
    return expect(granted == wanted, f"{sorted(wanted)}", sorted(granted))


@check("password-grant-token-no-expiry", on=[OWN_PROFILE, TOKEN])
def _no_expiry(exchange: Exchange, history: History) -> CheckResult | None:
    if exchange.operation == TOKEN:
        if exchange.request.form.get("grant_type") != "password" or not gives_token(exchange):
            return None
        return expect(
            "expires_in" not in exchange.json_object,
            "no end",
            exchange.json_object.get("expires_in"),
        )
    return lasts(exchange, history, "password")

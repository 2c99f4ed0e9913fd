"""Whose request is it: bearer tokens, API keys, scopes (interface, Bearer tokens)."""

from typing import Final

from understudy.deployments.exchange import Exchange
from understudy.interface.operations import CHANGES, LOOKUP, ME, OWN_PROFILE, READS
from understudy.verify.checks import CheckResult, check, expect, expect_refused, expect_status
from understudy.verify.history import History

NEEDED: Final = {
    **dict.fromkeys(READS, frozenset({"auth", "avatar-profile:read"})),
    **dict.fromkeys(CHANGES, frozenset({"auth", "avatar-profile:manage"})),
}
UNAUTHORIZED, FORBIDDEN = 401, 403


@check("bearer-header", on=[OWN_PROFILE])
def _header(exchange: Exchange, _history: History) -> CheckResult | None:
    given = exchange.request.header("authorization")
    if exchange.request.token is None and (given or "access_token" in exchange.request.query):
        return expect_refused(exchange)
    if exchange.identity.kind == "oauth" and exchange.identity.may("avatar-profile:read"):
        counts = exchange.status not in {UNAUTHORIZED, FORBIDDEN}
        is_fresh = exchange.identity.account in {"own", "other", "private"}
        return expect(counts, "a token that counts", exchange.status) if is_fresh else None
    return None


@check("invalid-token-refused", on=[LOOKUP])
def _invalid(exchange: Exchange, history: History) -> CheckResult | None:
    if exchange.identity.kind != "invalid" or not history.is_public(exchange.value):
        return None
    is_right = exchange.status == UNAUTHORIZED and exchange.response.header("www-authenticate")
    actual = f"status {exchange.status}, {exchange.response.header('www-authenticate')!r}"
    return expect(is_right, "401 with WWW-Authenticate", actual)


@check("me-needs-oauth-token", on=ME)
def _oauth_only(exchange: Exchange, _history: History) -> CheckResult | None:
    if exchange.identity.kind in {"none", "api_key", "invalid"}:
        return expect_refused(exchange)
    return None


@check("scope-per-operation", on=ME)
def _scopes(exchange: Exchange, _history: History) -> CheckResult | None:
    who = exchange.identity
    if who.kind != "oauth" or who.scopes is None or who.account not in {"own", "other", "private"}:
        return None
    if not who.scopes >= NEEDED[exchange.operation]:
        actual = f"status {exchange.status}, code {exchange.json_object.get('code')!r}"
        is_right = (
            exchange.status == FORBIDDEN
            and exchange.json_object.get("code") == "insufficient_scope"
        )
        return expect(is_right, "403 insufficient_scope", actual)
    if exchange.operation == OWN_PROFILE:
        return expect_status(exchange, 200)
    lacks = exchange.json_object.get("code") == "insufficient_scope"
    return expect(condition=not lacks, expected="scopes that suffice", actual=exchange.status)

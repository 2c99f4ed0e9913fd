"""Who is found and how a lookup is answered (interface, Public and optionally authenticated)."""

from typing import Final

from understudy.deployments.exchange import NO_JSON, Exchange
from understudy.interface.operations import (
    ASSOCIATED_EMAIL,
    LOOKUP,
    OWN_PROFILE,
    QR_CODE,
    RESOURCE,
)
from understudy.verify.checks import CheckResult, check, expect, expect_equal, expect_status
from understudy.verify.history import History, profile_in
from understudy.verify.shapes import fault

STATED: Final = frozenset({200, 404, 429, 500})  # interface, Endpoints
ALSO: Final = frozenset({400, 401, 403})
UNSURE: Final = frozenset({"invalid", "unknown"})
OF_HTTP: Final = frozenset({406, 414, 431})
"""Refusals of what is wrong as HTTP, whatever is asked."""

DECLARED: Final = {
    LOOKUP: frozenset[str](),
    OWN_PROFILE: frozenset[str](),
    ASSOCIATED_EMAIL: frozenset({"email_hash"}),
    QR_CODE: frozenset({"size", "version", "utm_medium", "utm_campaign", "type"}),
}


@check("unknown-query-parameters-accepted", on=DECLARED)
def _unknown_parameter(exchange: Exchange, history: History) -> CheckResult | None:
    declared = DECLARED[exchange.operation]
    pairs = exchange.request.pairs
    unknown = [name for name, _ in pairs if name not in declared and "[" not in name]
    if not unknown or exchange.request.method != "GET":
        return None
    plain = {(name, text) for name, text in pairs if name in declared}
    for before in history.near(exchange.operation):
        is_twin = before.path == exchange.path and before.identity == exchange.identity
        if is_twin and set(before.request.pairs) == plain and before.response.is_success:
            is_same = before.status == exchange.status
            if history.still(before):
                is_same = is_same and before.response.body == exchange.response.body
            actual = (
                f"status {exchange.status}, without it {before.status}; the body differs or not"
            )
            return expect(is_same, f"the answer without {unknown[0]}", actual, before)
    return None


@check("profile-by-hash-or-slug", on=[LOOKUP])
def _found(exchange: Exchange, history: History) -> CheckResult | None:
    if not history.is_public(exchange.value) or exchange.identity.kind in UNSURE:
        return None
    if exchange.request.header("authorization") and exchange.identity.kind == "none":
        return None
    if exchange.status != 200:  # noqa: PLR2004 - OK
        return expect(condition=False, expected="200", actual=f"status {exchange.status}")
    for owns in (history.is_own, history.is_others):
        if not owns(exchange.value):
            continue
        for before in history.near(LOOKUP):
            if owns(before.value) and before.value != exchange.value and profile_in(before):
                wanted = profile_in(before).get("hash")
                return expect_equal(profile_in(exchange).get("hash"), wanted, "hash", before)
    return None


@check("profile-unknown-404", on=[LOOKUP])
def _unknown(exchange: Exchange, history: History) -> CheckResult | None:
    if not history.is_made_up(exchange.value) or exchange.identity.kind in UNSURE:
        return None
    return expect_status(exchange, 404)


@check("profile-private", on=[LOOKUP])
def _private(exchange: Exchange, history: History) -> CheckResult | None:
    if exchange.value != history.known.private_slug or exchange.identity.kind in UNSURE:
        return None
    is_owner = exchange.identity.account == "private"
    return expect_status(exchange, 200) if is_owner else expect_status(exchange, 403)


@check("profile-lookup-statuses", on=[LOOKUP])
def _statuses(exchange: Exchange, _history: History) -> CheckResult | None:
    if exchange.status in ALSO | OF_HTTP:
        return None
    return expect(exchange.status in STATED, "200, 404, 429 or 500", f"status {exchange.status}")


@check("profile-lookup-other-refusals", on=[LOOKUP])
def _other_refusals(exchange: Exchange, _history: History) -> CheckResult | None:
    if not exchange.response.is_refusal or exchange.status in STATED | OF_HTTP:
        return None
    wrong = fault(exchange.body, "Error") if exchange.body is not NO_JSON else "no JSON"
    actual = f"status {exchange.status} {wrong}"
    return expect(exchange.status in ALSO and not wrong, "400, 401 or 403 with an Error", actual)


@check("error-shape")
def _error_shape(exchange: Exchange, _history: History) -> CheckResult | None:
    if exchange.site != "resource" or exchange.status < 400:  # noqa: PLR2004 - where errors begin
        return None
    if exchange.request.method == "HEAD" or exchange.operation not in {*RESOURCE, ""}:
        return None
    message = exchange.json_object.get("error")
    is_right = isinstance(message, str) and exchange.response.media_type == "application/json"
    actual = f"{exchange.response.media_type}: {exchange.response.body[:80]!r}"
    return expect(is_right, "JSON with a message under error", actual)

"""The token grant: what stands in the fragment, and how long it counts (interface, Token grant)."""

import re
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qsl

from understudy.deployments.exchange import Exchange
from understudy.interface.operations import OWN_PROFILE, TOKEN_INFO
from understudy.verify.checks import CheckResult, check, expect, expect_equal
from understudy.verify.history import REDIRECTS, History

LIFETIME: Final = timedelta(weeks=2)  # interface, Limits: Implicit-flow token lifetime
TOLERANCE: Final = timedelta(minutes=1)
_ESCAPED: Final = re.compile(r"([A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})*")


def _is_grant(exchange: Exchange) -> bool:
    is_redirect = exchange.site == "authorization" and exchange.status in REDIRECTS
    return is_redirect and "access_token" in exchange.redirect_parameters


@check("implicit-token-in-fragment", on=[])
def _fragment(exchange: Exchange, _history: History) -> CheckResult | None:
    if not _is_grant(exchange):
        return None
    parts = exchange.location
    told = dict(parse_qsl(parts.fragment))
    lacking = {"access_token", "expires_in", "token_type", "site_id"} - set(told)
    in_query = "access_token" in dict(parse_qsl(parts.query))
    is_bearer = told.get("token_type", "").lower() == "bearer"
    actual = (
        f"lacking {sorted(lacking)}, token_type {told.get('token_type')!r}, in query: {in_query}"
    )
    return expect(
        not lacking and is_bearer and not in_query, "four members in the fragment", actual
    )


@check("implicit-expires-in", on=[])
def _expires_in(exchange: Exchange, _history: History) -> CheckResult | None:
    if not _is_grant(exchange):
        return None
    wanted = str(int(LIFETIME.total_seconds()))
    return expect_equal(exchange.redirect_parameters.get("expires_in"), wanted, "expires_in")


@check("fragment-percent-encoded", on=[])
def _encoded(exchange: Exchange, _history: History) -> CheckResult | None:
    if exchange.site != "authorization" or exchange.status not in REDIRECTS:
        return None
    fragment = exchange.response.header("location").partition("#")[2]
    if not fragment:
        return None
    texts = [pair.partition("=")[2] for pair in fragment.split("&")]
    wrong = [text[:12] for text in texts if not _ESCAPED.fullmatch(text)]
    return expect(not wrong, "everything is escaped but letters, digits and -._~", wrong)


@check("implicit-token-two-weeks", on=[OWN_PROFILE, TOKEN_INFO])
def _two_weeks(exchange: Exchange, history: History) -> CheckResult | None:
    token = exchange.request.token or exchange.request.query.get("token")
    issued = history.issued_by(token)
    if issued is None or not _is_grant(issued):
        return None
    age = exchange.at - issued.at
    actual = f"status {exchange.status} after {age}"
    if age >= LIFETIME + TOLERANCE:
        return expect(exchange.response.is_refusal, "a token that has ended", actual, issued)
    is_own = exchange.operation == OWN_PROFILE or _is_own(exchange, issued)
    if age > LIFETIME - TOLERANCE or not is_own or age < LIFETIME / 2:
        return None
    return expect(exchange.response.is_success, "a token that counts", actual, issued)


def _is_own(exchange: Exchange, issued: Exchange) -> bool:
    return exchange.request.query.get("client_id") == issued.request.query.get("client_id")

"""The step that holds the quota of the hour; ``windows`` decides."""

from understudy.errors import TooManyRequests
from understudy.interface.rules import upholds
from understudy.mock.engine.exchange import RequestContext
from understudy.mock.engine.windows import count

ANONYMOUS = "anonymous"
"""Names everybody without a token, where limits are changed."""


@upholds("rate-limit-anonymous", "rate-limit-authenticated", "avatar-operations-uncounted")
def hold_quota(exchange: RequestContext) -> None:
    """Counts a request of a limited operation, by principal or else by the client's address.

    Raises:
        TooManyRequests: The quota of the hour is used up.
    """
    endpoint = exchange.endpoint
    if endpoint is None or not endpoint.is_limited or exchange.choices.get("rate-limits") == "off":
        return
    who = exchange.principal.person if exchange.principal else f"address {exchange.client}"
    limits = exchange.world.limits
    quota = endpoint.api.quota(exchange.principal)
    if limits:
        quota = limits.get(who, limits.get(ANONYMOUS, quota) if not exchange.principal else quota)
    _count(exchange, who, quota)


@upholds("rate-limit-answer-429", "rate-limit-headers")
def _count(exchange: RequestContext, who: str, quota: int) -> None:
    windows = exchange.world.windows
    verdict, windows[who] = count(windows.get(who), exchange.started, quota)
    exchange.world.note_change()
    exchange.extra_headers = verdict.headers
    if not verdict.allowed:
        exchange.notes.append("rate limited; serve --choose rate-limits=off lifts the limits")
        msg = "Rate limit exceeded"
        raise TooManyRequests(msg, code="rate_limit_exceeded")

"""The step that holds the quota of the hour; ``windows`` decides."""

from understudy.document.rules import upholds
from understudy.engine.exchange import Exchange
from understudy.engine.windows import count
from understudy.errors import TooManyRequests


@upholds("rate-limit-anonymous", "rate-limit-authenticated", "avatar-operations-uncounted")
def hold_quota(exchange: Exchange) -> None:
    """Counts a request of a limited operation, by principal or else by the client's address.

    Raises:
        TooManyRequests: The quota of the hour is used up.
    """
    endpoint = exchange.endpoint
    if endpoint is None or not endpoint.is_limited or exchange.choices.get("rate-limits") == "off":
        return
    who = exchange.principal.person if exchange.principal else f"address {exchange.client}"
    quota = exchange.world.limits.get(who)
    _count(exchange, who, endpoint.api.quota(exchange.principal) if quota is None else quota)


@upholds("rate-limit-answer-429", "rate-limit-headers")
def _count(exchange: Exchange, who: str, quota: int) -> None:
    windows = exchange.world.windows
    verdict, windows[who] = count(windows.get(who), exchange.started, quota)
    exchange.extra_headers = verdict.headers
    if not verdict.allowed:
        exchange.notes.append("rate limited; serve --choose rate-limits=off lifts the limits")
        msg = "Rate limit exceeded"
        raise TooManyRequests(msg, code="rate_limit_exceeded")

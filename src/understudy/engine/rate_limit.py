"""The layer that holds the quota of the hour; ``windows`` decides."""

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.document.rules import upholds
from understudy.engine.exchange import Exchange, exchange_of
from understudy.engine.windows import count
from understudy.errors import TooManyRequests


class RateLimit:
    """Counts the requests of the hour, by principal or else by the client's address.

    Args:
        app: The next layer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    @upholds("rate-limit-anonymous", "rate-limit-authenticated", "avatar-operations-uncounted")
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Counts a request of a limited operation and goes on.

        Raises:
            TooManyRequests: The quota of the hour is used up.
        """
        exchange = exchange_of(scope)
        endpoint = exchange.endpoint
        applies = exchange.choices.get("rate-limits") != "off"
        if applies and endpoint is not None and endpoint.is_limited:
            _count(exchange, endpoint.api.quota(exchange.principal))
        await self._app(scope, receive, send)


@upholds("rate-limit-answer-429", "rate-limit-headers")
def _count(exchange: Exchange, quota: int) -> None:
    who = exchange.principal.person if exchange.principal else f"address {exchange.client}"
    windows = exchange.world.windows
    verdict, windows[who] = count(windows.get(who), exchange.started, quota)
    exchange.extra_headers = verdict.headers
    if not verdict.allowed:
        exchange.notes.append("rate limited; serve --choose rate-limits=off lifts the limits")
        msg = "Rate limit exceeded"
        raise TooManyRequests(msg, code="rate_limit_exceeded")

"""Fixed windows of one hour, decided as a function of values.

The interface gives the numbers and leaves the window open (Limits, 4): here it opens with the first
request and ends an hour later, so that ``X-RateLimit-Reset`` is one instant and not a slope.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.document.rules import upholds
from understudy.engine.exchange import Exchange, exchange_of
from understudy.errors import TooManyRequests

WINDOW = timedelta(hours=1)  # interface, Limits: "per hour"


class Window(NamedTuple):
    """What a principal has used since the window opened."""

    opened: datetime
    used: int


class Verdict(NamedTuple):
    """Whether a request may pass, and what its headers say."""

    allowed: bool
    limit: int
    remaining: int
    reset: datetime

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The three headers; Reset in Unix seconds."""
        return (
            ("x-ratelimit-limit", str(self.limit)),
            ("x-ratelimit-remaining", str(self.remaining)),
            ("x-ratelimit-reset", str(int(self.reset.timestamp()))),
        )


def count(window: Window | None, now: datetime, limit: int) -> tuple[Verdict, Window]:
    """Counts one request.

    Args:
        window: The principal's window, if one is open.
        now: The world's time.
        limit: Requests that an hour allows.

    Returns:
        The verdict, and the window to keep.
    """
    if window is None or now >= window.opened + WINDOW:
        window = Window(now, 0)
    allowed = window.used < limit
    if allowed:
        window = Window(window.opened, window.used + 1)
    return Verdict(allowed, limit, limit - window.used, window.opened + WINDOW), window


class RateLimit:
    """Counts the requests of the hour, by principal or else by the client's address.

    Args:
        app: The next layer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    @upholds("rate-limit-anonymous", "rate-limit-authenticated")
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


def _count(exchange: Exchange, quota: int) -> None:
    who = exchange.principal.person if exchange.principal else f"address {exchange.client}"
    windows = exchange.world.windows
    verdict, windows[who] = count(windows.get(who), exchange.started, quota)
    exchange.extra_headers = verdict.headers
    if not verdict.allowed:
        exchange.notes.append("rate limited; serve --choose rate-limits=off lifts the limits")
        msg = "Rate limit exceeded"
        raise TooManyRequests(msg, code="rate_limit_exceeded")

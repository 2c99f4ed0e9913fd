"""Decides about fixed windows of one hour, as a function of values.

The interface gives the numbers and leaves the window open (Limits, 4): here it opens with the first
request, or with the hour of the clock, and ends an hour later, so that ``X-RateLimit-Reset`` is one
instant and not a slope.
"""

from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from msgspec import Struct

from understudy.limits import Count
from understudy.mock.server.clock import Instant

WINDOW = timedelta(hours=1)  # interface, Limits: "per hour"

_DROPPED_AT_ONCE = 2
"""More than one, so that closed windows grow fewer while others open."""


class Window(NamedTuple):
    """The requests of a principal since the window opened."""

    opened: Instant
    used: Count

    def is_closed(self, now: datetime) -> bool:
        """Tells whether it counts no request of now any more.

        One that opened an hour ahead is of before the time was set back; a moment ahead, of another
        request that arrived later and was counted first.
        """
        return abs(now - self.opened) >= WINDOW


class Windows(OrderedDict[str, Window]):
    """Principal to window, in the order they opened; closed ones make room while others open.

    Each that opens drops two closed ones at most, so no request pays for thousands, and there are
    never more than were open at once.
    """

    def keep(self, principal: str, window: Window) -> list[str]:
        """Keeps a window, as it is now.

        Returns:
            The principals whose windows were dropped.
        """
        before = self.get(principal)
        self[principal] = window
        if before is not None and before.opened == window.opened:
            return []
        self.move_to_end(principal)
        dropped = []
        for _ in range(_DROPPED_AT_ONCE):
            oldest, closed = next(iter(self.items()))
            if not closed.is_closed(window.opened):
                break
            del self[oldest]
            dropped.append(oldest)
        return dropped


LIMIT_HEADER: Final = "x-ratelimit-"
"""The beginning of the three headers' names, before they are those that a document declares."""


class QuotaDecision(Struct, frozen=True):  # made for each request, at no call of Python
    """The decision on a request: within the quota or beyond it, and the headers that show it."""

    allowed: bool
    limit: int
    remaining: int
    reset: datetime

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The three headers; Reset in Unix seconds."""
        return (
            (f"{LIMIT_HEADER}limit", str(self.limit)),
            (f"{LIMIT_HEADER}remaining", str(self.remaining)),
            (f"{LIMIT_HEADER}reset", str(int(self.reset.timestamp()))),
        )


def count(
    window: Window | None, now: datetime, limit: int, *, is_aligned: bool = False
) -> tuple[QuotaDecision, Window]:
    """Counts one request.

    Args:
        window: The principal's window, if one is open.
        now: The world's time.
        limit: Requests that an hour allows.
        is_aligned: True if the hour is that of the clock.

    Returns:
        The decision, and the new window.
    """
    if window is None or not -WINDOW < now - window.opened < WINDOW:
        window = Window(now.replace(minute=0, second=0, microsecond=0) if is_aligned else now, 0)
    allowed = window.used < limit
    if allowed:
        window = Window(window.opened, window.used + 1)
    remaining = max(0, limit - window.used)  # the limit may have been lowered meanwhile
    return QuotaDecision(allowed, limit, remaining, window.opened + WINDOW), window

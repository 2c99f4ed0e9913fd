"""Counts requests in fixed windows of one hour, as a pure function.

The interface gives the quotas and not the kind of window (Limits, 4): here a window opens with the
first request, or with the hour of the clock, and ends an hour later, so that ``X-RateLimit-Reset`` is
the same instant for all its requests. A sliding window has no such instant.
"""

from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from msgspec import Struct

from understudy.limits import Count
from understudy.mock.server.clock import Instant

WINDOW = timedelta(hours=1)  # interface, Limits: "per hour"

_DROPPED_AT_ONCE = 2
"""Closed windows dropped per opened one: more than one, so that their number falls."""


class Window(NamedTuple):
    """The requests of a principal since the window opened."""

    opened: Instant
    used: Count

    def is_closed(self, now: datetime) -> bool:
        """Tells whether the window ended before now, or lies an hour ahead.

        A window lies ahead where the clock was set back since. One that opened a moment ahead is still
        open: a request that arrived later was counted first.
        """
        return abs(now - self.opened) >= WINDOW


class Windows(OrderedDict[str, Window]):
    """Principal to window, in the order of opening; each new window drops closed ones.

    It drops two at most, so that no request pays for thousands; yet there are never more windows than
    were open at the same time.
    """

    def keep(self, principal: str, window: Window) -> list[str]:
        """Stores the current window of a principal.

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
"""Prefix of the three headers' names; a document may declare others, which replace them later."""


class QuotaDecision(Struct, frozen=True):  # a Struct is made in C, which counts once per request
    """The result of counting a request: permission, and the values of the rate-limit headers."""

    allowed: bool
    limit: int
    remaining: int
    reset: datetime

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The ``X-RateLimit-*`` headers; Reset in Unix seconds."""
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
        window: Principal's window so far, open or closed; None: no request was counted.
        now: World's time.
        limit: Requests allowed per hour.
        is_aligned: True for windows that open on the hour (10:00, 11:00).

    Returns:
        The decision, and the window to store.
    """
    if window is None or not -WINDOW < now - window.opened < WINDOW:
        window = Window(now.replace(minute=0, second=0, microsecond=0) if is_aligned else now, 0)
    allowed = window.used < limit
    if allowed:
        window = Window(window.opened, window.used + 1)
    remaining = max(0, limit - window.used)  # the limit may have been lowered meanwhile
    return QuotaDecision(allowed, limit, remaining, window.opened + WINDOW), window

"""Requests an hour (interface, Limits).

The interface leaves the window open. Here it is fixed: an hour that starts with the first request
counted, because its arithmetic can be told in three headers.
"""

import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock

WINDOW = timedelta(hours=1)


@dataclass(frozen=True)
class Allowance:
    """What a caller has left.

    Attributes:
        used: Requests asked for in this window, the refused ones too.
        resets: When the window ends.
    """

    limit: int
    used: int
    resets: datetime

    @property
    def is_exceeded(self) -> bool:
        """Tells whether the request just counted is one too many."""
        return self.used > self.limit

    def headers(self, now: datetime, names: str = "X-RateLimit") -> dict[str, str]:
        """Tells it in headers, whose names begin as they are told; Reset is in seconds since 1970."""
        headers = {
            f"{names}-Limit": str(self.limit),
            f"{names}-Remaining": str(max(0, self.limit - self.used)),
            f"{names}-Reset": str(math.ceil(self.resets.timestamp())),
        }
        if self.is_exceeded:
            headers["Retry-After"] = str(math.ceil((self.resets - now).total_seconds()))
        return headers


class RateLimits:
    """Counts requests for each caller."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._allowances: dict[str, Allowance] = {}

    def count(self, caller: str, limit: int, now: datetime, *, by_clock: bool = False) -> Allowance:
        """Counts one request and returns what is left; a window can end with the clock's hour."""
        with self._lock:
            found = self._allowances.get(caller)
            if found is None or found.resets <= now:
                begun = timedelta(minutes=now.minute, seconds=now.second + now.microsecond / 1e6)
                found = Allowance(limit, 0, now + WINDOW - (begun if by_clock else timedelta()))
            counted = replace(found, used=found.used + 1)
            self._allowances[caller] = counted
            return counted

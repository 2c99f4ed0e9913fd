"""Names of the rate-limit headers, which the interface leaves open (interface, Limits, 4)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

LIMIT_HEADERS: Final = ("X-RateLimit", "RateLimit", "X-Rate-Limit")
"""Prefixes that the names of the three headers may have, the assumed one first."""

PARTS: Final = ("limit", "remaining", "reset")
"""Last parts of the three names."""


def limit_headers_in(header: Callable[[str], str]) -> tuple[str, tuple[str, str, str]] | None:
    """Returns the prefix and the values of the three headers; None unless all are present.

    Args:
        header: Returns the value of a header, by its name in lower case; empty if it is absent.
    """
    for beginning in LIMIT_HEADERS:
        limit, remaining, reset = (header(f"{beginning.lower()}-{part}") for part in PARTS)
        if limit and remaining and reset:
            return beginning, (limit, remaining, reset)
    return None


def limit_header(header: Callable[[str], str], part: str) -> str:
    """Returns the value of one of the three headers, under any prefix; empty if it is absent.

    Args:
        header: Returns the value of a header, by its name in lower case; empty if it is absent.
        part: One of ``PARTS``.
    """
    values = (header(f"{beginning.lower()}-{part}") for beginning in LIMIT_HEADERS)
    return next(filter(None, values), "")


def moment_of(seconds: int, now: datetime) -> datetime:
    """Returns the time of a reset, which servers state in Unix time or in seconds from now."""
    moment = datetime.fromtimestamp(seconds, UTC)  # long past, if the seconds count from now
    return moment if moment > now - timedelta(days=1) else now + timedelta(seconds=seconds)

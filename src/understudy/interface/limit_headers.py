"""Names the response headers that say what is left of a limit, which the interface leaves open (Limits, 4)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

LIMIT_HEADERS: Final = ("X-RateLimit", "RateLimit", "X-Rate-Limit")
"""The beginnings that the names of the three headers may have, the assumed one first."""

PARTS: Final = ("limit", "remaining", "reset")
"""The ends of the three names."""


def limit_headers_in(header: Callable[[str], str]) -> tuple[str, tuple[str, str, str]] | None:
    """Returns what the three headers begin with, and their values; None where they are not all there.

    Args:
        header: Returns the value of a header, by its name in lower case; empty if it is absent.
    """
    for beginning in LIMIT_HEADERS:
        limit, remaining, reset = (header(f"{beginning.lower()}-{part}") for part in PARTS)
        if limit and remaining and reset:
            return beginning, (limit, remaining, reset)
    return None


def limit_header(header: Callable[[str], str], part: str) -> str:
    """Returns the value of one of the three headers, whatever its name begins with; empty without it.

    Args:
        header: As above.
        part: One of ``PARTS``.
    """
    values = (header(f"{beginning.lower()}-{part}") for beginning in LIMIT_HEADERS)
    return next(filter(None, values), "")


def moment_of(seconds: int, now: datetime) -> datetime:
    """Returns when an hour ends: at Unix seconds, or so many seconds from now where those are long over."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment if moment > now - timedelta(days=1) else now + timedelta(seconds=seconds)

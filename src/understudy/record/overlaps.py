"""Tells which exchanges were under way at the same time as a change.

A page sends several requests at a time. Whether a read that overlaps a change shows the state before
or after it is open, so no relation between such exchanges may be judged.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class ExchangeSpan:
    """The time of one exchange.

    Attributes:
        is_change: True if it may change a resource.
        overlaps_change: True if it or one that it overlaps is a change.
    """

    is_change: bool
    overlaps_change: bool = False


class Overlaps:
    """Knows the exchanges that are under way."""

    def __init__(self) -> None:
        self._open: list[ExchangeSpan] = []

    @contextmanager
    def span(self, *, is_change: bool) -> Iterator[ExchangeSpan]:
        """Keeps an exchange as under way until the context ends."""
        own = ExchangeSpan(is_change)
        for other in self._open:
            if own.is_change or other.is_change:
                own.overlaps_change = other.overlaps_change = True
        self._open.append(own)
        try:
            yield own
        finally:
            self._open = [each for each in self._open if each is not own]

"""Keeps the sum of what changing records weigh, so that a limit on it costs the same for thousands."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Weight:
    """The weight of the records of one collection that a world adds or changes.

    Attributes:
        weigh: Returns the weight of one record.
        total: The sum.
    """

    weigh: Callable[[Any], int]
    total: int

    def replace(self, before: Any, after: Any) -> None:
        """Takes account of a record that is replaced by another; None is no record."""
        self.total -= 0 if before is None else self.weigh(before)
        self.total += 0 if after is None else self.weigh(after)

"""Weighs what speaks for a collection and against it."""

from dataclasses import dataclass, field
from typing import Final

MOST_CONFIDENT: Final = 0.99
"""Nothing that is only inferred is certain."""


@dataclass(slots=True)
class Evidence:
    """Reasons for and against an inference, and their weight together.

    Attributes:
        reasons: Whole clauses, in the order in which they were found.
    """

    reasons: list[str] = field(default_factory=list)
    _sum: float = 0.0

    def add(self, weight: float, reason: str) -> None:
        """Adds a reason; a negative weight speaks against the inference."""
        self._sum += weight
        self.reasons.append(reason)

    @property
    def confidence(self) -> float:
        """The confidence that the reasons give, from 0 to 1."""
        return round(min(max(self._sum, 0.0), MOST_CONFIDENT), 2)

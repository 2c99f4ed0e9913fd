"""What happens in a run, as values that reports consume; nothing in a run knows who listens."""

from collections.abc import Callable
from dataclasses import dataclass

from understudy.deployments.exchange import Exchange
from understudy.verify.findings import Finding


@dataclass(frozen=True, slots=True)
class PhaseStarted:
    """Another phase begins."""

    name: str


@dataclass(frozen=True, slots=True)
class Exchanged:
    """Something was sent and answered.

    Attributes:
        exchange: What.
        settled: Rules that something has been said of so far.
        left: Counted requests without a token that the hour still allows.
    """

    exchange: Exchange
    settled: int
    left: int


@dataclass(frozen=True, slots=True)
class Found:
    """A rule was broken, for the first time in this way."""

    finding: Finding


Event = PhaseStarted | Exchanged | Found
Listen = Callable[[Event], None]


def nobody(_event: Event) -> None:
    """Listens to nothing."""

"""The events of a run, as values; the run does not know its listeners."""

from collections.abc import Callable
from dataclasses import dataclass

from understudy.exchange.messages import Exchange
from understudy.verify.findings import Finding


@dataclass(frozen=True, slots=True)
class PhaseStarted:
    """A phase begins."""

    name: str


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A request was sent and a response received.

    Attributes:
        exchange: The exchange.
        settled: The number of rules with a check result so far.
        rules: The number of rules to judge.
        allowed: Requests that --max-requests still allows; None without that limit.
        left: Counted requests without a token that are left in the hour.
    """

    exchange: Exchange
    settled: int
    rules: int
    left: int
    allowed: int | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A finding was made for the first time."""

    finding: Finding


Event = PhaseStarted | Exchanged | Found
Listener = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """Ignores every event."""

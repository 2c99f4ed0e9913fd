"""What a run came to: every rule passed, failed, or not checked with the reason."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from understudy.deployments.exchange import Exchange
from understudy.interface.rules import Rule
from understudy.verify.findings import Finding

Status = Literal["passed", "failed", "not_checked"]


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """What was found out about one rule.

    Attributes:
        rule: Which.
        status: How it ended.
        reason: Why it was not checked; of an assumption that is not shared, what came.
        checks: Times that it was judged.
        exchanges: Numbers of some of the exchanges that it was judged by.
        could_be: Whether the target's credentials and permissions would allow to check it.
    """

    rule: Rule
    status: Status
    reason: str = ""
    checks: int = 0
    exchanges: tuple[int, ...] = ()
    could_be: bool = False


@dataclass(frozen=True, slots=True)
class Coverage:
    """What of the document was seen: operations, statuses, parameters."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    parameters: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, exchange: Exchange) -> None:
        """Counts an exchange."""
        if exchange.operation:
            self.statuses[exchange.operation, exchange.status] += 1
            for name in exchange.request.query:
                self.parameters[exchange.operation, name[:40]] += 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run, as reports show it.

    Attributes:
        target: The address that was judged.
        seed: Of generated cases.
        started: When, in the machine's time.
        took: How long.
        rules: Every rule, in the catalogue's order.
        findings: What does not hold, each once.
        notes: Assumptions of ours that the deployment does not share.
        ours: Disagreements of the two judges, which are ours to mend.
        requests: How many were sent.
        counted: Counted requests of the hour, by credential.
        coverage: What of the document was seen.
        stopped: Why the run ended early; empty where it did not.
        left: What could not be put back.
        exchanges: All of them, for the HAR.
        more: What a larger budget would have added: names of probes that did not
            run, or not to their end.
    """

    target: str
    seed: int
    started: datetime
    took: timedelta
    rules: tuple[RuleOutcome, ...]
    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    ours: tuple[str, ...]
    requests: int
    counted: dict[str, int]
    coverage: Coverage
    stopped: str
    left: tuple[str, ...]
    exchanges: tuple[Exchange, ...]
    more: tuple[str, ...] = ()

    def count(self, status: Status) -> int:
        """Returns how many rules ended so."""
        return sum(outcome.status == status for outcome in self.rules)

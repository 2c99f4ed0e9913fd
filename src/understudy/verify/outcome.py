"""The outcome of a run: every rule passed, failed, or was not checked for a reason."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from understudy.exchange.messages import Exchange
from understudy.interface.rules import Rule
from understudy.reports.content import Coverage, Status
from understudy.verify.findings import Finding


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """The outcome of one rule.

    Attributes:
        rule: The rule.
        status: Passed, failed or not checked.
        reason: Why it was not checked; of an assumption that does not hold, the actual behaviour.
        checks: The number of its check results.
        exchanges: Numbers of some of the exchanges that it was judged by.
        could_be: True if the target's credentials and permissions allow to check it.
    """

    rule: Rule
    status: Status
    reason: str = ""
    checks: int = 0
    exchanges: tuple[int, ...] = ()
    could_be: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run as reports show it.

    Attributes:
        target: Base URL of the deployment.
        seed: Seed for generated cases.
        started: Start of the run, in the machine's time.
        took: Duration of the run.
        rules: The outcome of every rule, in the catalogue's order.
        findings: The findings, each once.
        notes: Findings about assumptions that the deployment need not share.
        internal_errors: Failures of checks, probes, generators and other parts of verify.
        differences: Responses that the two document validators judge differently.
        requests: The number of requests sent.
        counted: Counted requests of the hour, by credential.
        coverage: The operations, statuses and parameters that were seen.
        stopped: Why the run ended early; empty where it did not.
        not_restored: One line for each change that could not be undone.
        exchanges: All exchanges, for archives.
        document_file: The file of the document in force; None where it is not the user's.
        target_file: The target file; None without one.
        remaining: What the run leaves behind, since no client can undo it.
        not_run: Names of probes and phases that the budget cut short.
        contract: A digest of the documents and rules that the run judged by.
    """

    target: str
    seed: int
    started: datetime
    took: timedelta
    rules: tuple[RuleOutcome, ...]
    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    internal_errors: tuple[str, ...]
    requests: int
    counted: dict[str, int]
    coverage: Coverage
    stopped: str
    not_restored: tuple[str, ...]
    exchanges: tuple[Exchange, ...]
    not_run: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    document_file: Path | None = None
    target_file: Path | None = None
    contract: str = ""

    @property
    def seconds(self) -> float:
        """The duration of the run in seconds, to the millisecond, as reports and those read back have it."""
        return round(self.took.total_seconds(), 3)

    def count(self, status: Status) -> int:
        """Returns the number of rules with this status."""
        return sum(outcome.status == status for outcome in self.rules)

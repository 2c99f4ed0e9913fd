"""Defines findings and the baseline that accepts them, the outcome of a run, and its events."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct, ValidationError, convert

from understudy.errors import StartupError, unreadable
from understudy.exchange.messages import Exchange
from understudy.interface.rules import Rule
from understudy.reports.content import Coverage, Status
from understudy.verify.checks import CheckResult, message_of
from understudy.verify.value_texts import as_json
from understudy.verify.wording import as_on_the_wire


def _general(
    id_: str,
    statement: str,
    section: str = "Versioning",
    status: Literal["stated", "implied"] = "stated",
) -> Rule:
    """Returns a rule that is not in the catalogue, for every response."""
    return Rule(id_, statement, section, status, held_by="document")


DOCUMENT: Final = _general("document", "Every response is one that the OpenAPI document allows.")
ANSWERS: Final = _general(
    "answers", "Every request gets a response, and none is a server error.", "Errors"
)
"""Judges failures of the server: closed connections and statuses 5XX."""

GENERATED: Final = _general(
    "generated", "Requests that the document allows are accepted, and others are refused."
)
"""Judges by Schemathesis's own checks."""

GENERAL: Final = frozenset({ANSWERS.id, DOCUMENT.id, GENERATED.id})
"""Rules that are often broken together with a more specific one, which explains the cause."""

PLAIN: Final = _general(
    "plain-errors", "No refusal shows a stack or a statement of a database.", "Errors", "implied"
)

_INTERNALS: Final = re.compile(
    r"""Traceback \(most recent call last\)|\bat [\w.$<>]+\([\w$]+\.(java|kt|scala):\d+\)"""
    r"""|\bat [^\n]{1,200} in [^\n]{1,200}\.cs:line \d+|Stack trace:\s*#0|\bat [^\n]{1,200}\.[jt]s:\d+:\d+"""
    r"""|goroutine \d+ \[|SQLSTATE\[|ORA-\d{5}|sqlite3?\.(Operational|Integrity)Error|psycopg2?\.errors"""
    r"""|You have an error in your SQL syntax|unterminated quoted string at"""
)
"""Matches the stacks of common languages, and the messages of common databases."""


def internals_in(exchange: Exchange) -> str:
    """Returns the stack or database message that a refusal reveals; empty for none."""
    text = exchange.response.body[:20_000].decode("utf-8", "replace")
    found = _INTERNALS.search(text.replace("\\n", "\n").replace('\\"', '"'))
    return found[0][:60] if found else ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that does not hold.

    Attributes:
        rule: The rule.
        expected: The behaviour that the rule demands.
        actual: The behaviour of the deployment, in our own words.
        steps: The exchanges that show it, the decisive one last.
        is_note: True if it breaks only an assumption that the deployment need not share.
        count: The number of times that it was seen.
        attempts: How often to send the first step to reproduce it.
        needs_time: True if reproducing it needs the time that passed between the steps.
        again: The outcome of sending the steps once more; empty if they were not sent.
        where: The condition that distinguishes the request, in words; may be empty.
    """

    rule: Rule
    expected: str
    actual: str
    steps: tuple[Exchange, ...]
    is_note: bool = False
    count: int = 1
    attempts: int = 1
    needs_time: bool = False
    again: str = ""
    where: str = ""

    @property
    def exchange(self) -> Exchange:
        """The decisive exchange."""
        return self.steps[-1]

    @property
    def received(self) -> str:
        """The actual behaviour; a mere status is followed by the deployment's error message."""
        message = message_of(self.exchange)
        has_reason = self.actual == f"status {self.exchange.status}" and bool(message)
        has_reason = has_reason and not self.exchange.response.is_success
        return f"{self.actual}, {as_json(message)}" if has_reason else self.actual

    def on_the_wire(self) -> "Finding":
        """Returns the finding with its exchanges as they were sent and received."""
        return replace(self, steps=tuple(map(as_on_the_wire, self.steps)))

    @property
    def summary(self) -> str:
        """One line for lists and annotations."""
        request = self.exchange.request
        operation = f"{request.method} {self.exchange.path:.120}"
        return f"{operation} as {self.exchange.identity.name}: expected {self.expected}; actual: {self.received}"

    @property
    def fingerprint(self) -> str:
        """A hash that identifies the finding in every run, for baselines."""
        exchange = self.exchange
        text = f"{self.rule.id}\n{exchange.operation}\n{exchange.identity.kind}\n{exchange.status}"
        return sha256(text.encode()).hexdigest()[:16]


def key_of(rule: str, exchange: Exchange, result: CheckResult) -> tuple[object, ...]:
    """Returns the key by which results are merged into one finding."""
    return (
        rule,
        exchange.operation,
        exchange.identity.kind,
        exchange.status,
        result.expected[:60],
        without_values(message_of(exchange)) if rule == ANSWERS.id else "",
    )


def without_values(text: str) -> str:
    """Returns a message with its numbers and quoted texts masked, so that alike ones are equal."""
    return _VARYING.sub("#", text)


_VARYING = re.compile(r"""\d+|'[^']*'|"[^"]*\"""")
"""Matches what differs between two messages of one failure: numbers and quoted texts."""


def steps_of(exchange: Exchange, evidence: Iterable[Exchange]) -> tuple[Exchange, ...]:
    """Returns the evidence in order, each exchange once, and the decisive one last."""
    earlier = {before.number: before for before in evidence if before.number != exchange.number}
    return (*(earlier[number] for number in sorted(earlier)), exchange)


class Accepted(Struct, frozen=True, forbid_unknown_fields=True):
    """One accepted finding.

    Attributes:
        fingerprint: The finding's fingerprint in the JSON report.
        until: The last day on which it is accepted.
        rule: The rule's id, for readers of the file.
        why: The reason, for readers of the file.
    """

    fingerprint: str
    until: date
    rule: str = ""
    why: str = ""


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    accept: tuple[Accepted, ...] = ()


def load_baseline(path: Path) -> tuple[Accepted, ...]:
    """Reads a baseline file: TOML, a table ``[[accept]]`` for each finding.

    Raises:
        StartupError: The file cannot be read or is invalid.
    """
    try:
        return convert(tomllib.loads(path.read_text()), _File).accept
    except (OSError, UnicodeDecodeError) as error:
        remedy = "Name a report of `--report json=FILE`, or a TOML file with an [[accept]] for each finding."
        raise StartupError(unreadable(f"--baseline {path.absolute()}", error, remedy)) from error
    except (ValueError, RecursionError, ValidationError) as error:
        msg = (
            f"--baseline {path} is neither a JSON report of verify nor a TOML file in which each "
            f"[[accept]] has fingerprint and until, such as 2027-01-31. ({error})"
        )
        raise StartupError(msg) from error


def unaccepted(
    findings: Iterable[Finding], accepted: Iterable[Accepted], today: date
) -> list[Finding]:
    """Returns the findings that no entry accepts today."""
    known = {entry.fingerprint for entry in accepted if today <= entry.until}
    return [finding for finding in findings if finding.fingerprint not in known]


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """The outcome of one rule.

    Attributes:
        rule: The rule.
        status: Passed, failed or not checked.
        reason: Why it was not checked; for an assumption that does not hold, the actual behaviour.
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
    """The results of a run, from which reports are made.

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
        document_file: The user's file of the document in force; None for other documents.
        target_file: The target file; None without one.
        remaining: What the run leaves behind, since no client can undo it.
        not_run: Names of probes and phases that the budget cut short.
        spent: The limits that cut them short, each with the option that raises it.
        contract: A digest of the documents and rules that the run judged by.
        roots: By rule and exchange number of a finding, the rule or guess that explains it.
    """

    target: str
    started: datetime
    took: timedelta
    rules: tuple[RuleOutcome, ...]
    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    internal_errors: tuple[str, ...]
    coverage: Coverage
    exchanges: tuple[Exchange, ...]
    seed: int = 0
    requests: int = 0
    counted: Mapping[str, int] = field(default_factory=dict)
    stopped: str = ""
    not_restored: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()
    spent: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    document_file: Path | None = None
    target_file: Path | None = None
    contract: str = ""
    roots: Mapping[tuple[str, int], str] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """The duration of the run in seconds, rounded as JSON reports store it."""
        return round(self.took.total_seconds(), 3)

    def count(self, status: Status) -> int:
        """Returns the number of rules with this status."""
        return sum(outcome.status == status for outcome in self.rules)


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

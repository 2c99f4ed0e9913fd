"""The content of a report, which every command fills and every format renders.

Only the JSON reports are separate records, since their schemas are published.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from understudy.exchange.messages import Exchange
from understudy.terminal import counted

Status = Literal["passed", "failed", "not_checked"]
Severity = Literal["critical", "major", "moderate", "minor"]


class FileLine(NamedTuple):
    """A line of one of the user's files, counted from 1."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class ShownSide:
    """The commands and the response that show a finding at one deployment.

    Attributes:
        commands: A shell script; secrets are variables.
        title: Name that distinguishes it from the other side; empty for the only one.
        response: The response to its last command; empty if the finding states it.
        folded: Titles and longer texts, which a page shows folded.
    """

    commands: str
    title: str = ""
    response: str = ""
    folded: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A finding.

    Attributes:
        label: Its heading: the operation, the caller, and what else distinguishes it.
        summary: One line for lists and annotations.
        operation: The operation; empty if none matches.
        fingerprint: A hash that the same finding has in every run.
        sides: The deployments that show it, at least one.
        facts: Names and values, such as expected and actual.
        place: The line of the user's file that it belongs to; None without one.
        is_accepted: True if a baseline accepts it.
    """

    label: str
    summary: str
    operation: str
    fingerprint: str
    sides: tuple[ShownSide, ...]
    facts: tuple[tuple[str, str], ...] = ()
    place: FileLine | None = None
    is_accepted: bool = False


@dataclass(frozen=True, slots=True)
class Cause:
    """The findings that have the same cause.

    Attributes:
        name: The rule, or what differs.
        statement: The rule in one sentence; may be empty.
        entries: The findings, at least one.
        rule: The id by which code hosts group results; the name if empty.
        readings: Names of the sides, and what each does where the contract is open.
        consequences: Causes whose rules the same responses break too.
        severity: Critical, major, moderate or minor.
        words: The cause in words, where more is known than the rule; may be empty.
    """

    name: str
    statement: str
    entries: tuple[Entry, ...]
    rule: str = ""
    readings: tuple[tuple[str, str], ...] = ()
    consequences: tuple["Cause", ...] = ()
    severity: Severity = "major"
    words: str = ""

    @property
    def heading(self) -> str:
        """The cause in words, else the statement, else the name."""
        return self.words or self.statement.strip() or self.name

    @property
    def broken(self) -> str:
        """The rule, with its statement unless the heading shows that."""
        return f"{self.name}: {self.statement.strip()}" if self.words else self.name

    @property
    def following(self) -> str:
        """The number and the names of the consequences; empty if there are none."""
        names = self.names_of_consequences
        verb = "follows" if len(names) == 1 else "follow"
        return f"{counted(len(names), 'rule')} {verb}: {', '.join(names)}" if names else ""

    @property
    def result(self) -> str:
        """The id by which code hosts group results."""
        return self.rule or self.name

    @property
    def names_of_consequences(self) -> tuple[str, ...]:
        """The names of the consequences, each once."""
        return tuple(dict.fromkeys(cause.name for cause in self.consequences))


@dataclass(frozen=True, slots=True)
class Section:
    """Causes of one kind.

    Attributes:
        title: The title.
        causes: The causes, at least one.
        is_note: True if the deployment is not to blame.
        introduction: Text before the causes; may be empty.
        topic: First words of each result at code hosts, which do not show the title.
        is_expected: True if only a verbose report lists them.
    """

    title: str
    causes: tuple[Cause, ...]
    is_note: bool = False
    introduction: str = ""
    topic: str = ""
    is_expected: bool = False


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One change between two documents, with all the places that it is seen in.

    Attributes:
        entries: The change at each of its places, at least one; without sides.
        rule: The id by which code hosts group it.
        statement: The kind of change, in one sentence.
        summary: The change in one line.
        effect: The clients that it breaks, in words.
        is_breaking: True if it breaks any client.
        pointer: JSON pointer of the first place.
        further: The further places, in words.
    """

    entries: tuple[Entry, ...]
    rule: str
    statement: str
    summary: str
    effect: str
    is_breaking: bool
    pointer: str
    further: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The changes between two documents."""

    title: str
    changes: tuple[ChangeLine, ...]


@dataclass(frozen=True, slots=True)
class RuleLine:
    """The outcome of one rule.

    Attributes:
        name: The rule.
        statement: The rule in one sentence.
        section: Its section of the interface.
        status: Passed, failed or not checked.
        origin: ``stated``, ``implied``, ``assumed``.
        checks: Number of times it was judged.
        reason: Reason why it was not checked; may be empty.
    """

    name: str
    statement: str
    section: str
    status: Status
    origin: str
    checks: int
    reason: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """The operations, statuses and parameters that were seen in a run."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    parameters: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, exchange: Exchange) -> None:
        """Counts an exchange."""
        operation = exchange.title or exchange.operation
        if operation:
            self.statuses[operation, exchange.status] += 1
            for name in exchange.request.query:
                self.parameters[operation, name[:40]] += 1


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of a command, and everything else in its report.

    Attributes:
        tool: The command, such as ``understudy verify``.
        title: The target or the documents that were judged.
        verdict: The line with the totals.
        is_bad: True if something must be fixed.
        sections: The findings, most urgent first.
        comparisons: Differences between documents.
        rules: Outcome of each rule; empty if rules are not judged one by one.
        cases: Outcome of each case that was sent, with the cause if it failed.
        unchecked: Each reason with the rules that were not checked for it.
        alarms: Problems of the run itself, most urgent first.
        remarks: Further lines for every reader.
        details: Further lines about the tool itself, for verbose reports.
        variables: Names of secrets that the commands need, and where each value is, if known.
        coverage: Counts of what was sent; None if it was not counted.
        numbers: Start, seconds, seed and requests, as texts by their names.
        since: Changes since an earlier run, a line each.
        records: Format for programs (``json``, ``har``) to the command's function that writes it.
    """

    tool: str
    title: str
    verdict: str
    is_bad: bool
    sections: tuple[Section, ...]
    comparisons: tuple[Comparison, ...] = ()
    rules: tuple[RuleLine, ...] = ()
    cases: tuple[tuple[RuleLine, Cause | None], ...] = ()
    unchecked: tuple[tuple[str, tuple[str, ...]], ...] = ()
    alarms: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    coverage: Coverage | None = None
    numbers: Mapping[str, str] = field(default_factory=dict)
    since: tuple[str, ...] = ()
    records: Mapping[str, Callable[[], str]] = field(default_factory=dict)

    @property
    def exports(self) -> tuple[str, str]:
        """The command that sets the variables, and where their values are; empty if unknown."""
        places = "; ".join(f"{name} is {place}" for name, place in self.variables if place)
        return f"export {' '.join(f'{name}=…' for name, _ in self.variables)}", places

    def count(self, status: Status) -> int:
        """Returns the number of rules with this status."""
        return sum(rule.status == status for rule in self.rules)

    @property
    def results(self) -> Iterator["Result"]:
        """All findings and changes, as code hosts list them."""
        for section in self.sections:
            for cause in section.causes:
                for listed in (cause, *cause.consequences):
                    for entry in listed.entries:
                        yield Result(listed.result, section.topic, entry, section.is_note)
        for comparison in self.comparisons:
            for change in comparison.changes:
                for entry in change.entries:
                    yield Result(change.rule, "", entry, not change.is_breaking)


class Result(NamedTuple):
    """An entry as code hosts list it: under a rule, with a level."""

    rule: str
    topic: str
    entry: Entry
    is_note: bool

    def text(self, separator: str) -> str:
        """Returns the topic, if any, and the summary."""
        return separator.join(filter(None, (self.topic, self.entry.summary)))

"""Defines what a report says, whoever found it; each format renders all of it once.

The JSON reports are records of their own, by published schemas; whatever people read is here.
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
    """One deployment's way to show a finding.

    Attributes:
        commands: A shell script; secrets are variables.
        title: What distinguishes it from the other side; empty for the only one.
        response: The response to its last command; empty where the finding tells it.
        folded: Longer texts by their titles, which a page unfolds.
    """

    commands: str
    title: str = ""
    response: str = ""
    folded: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was found.

    Attributes:
        label: Its heading: the operation, the caller, and what else distinguishes it.
        summary: One line for lists and annotations.
        operation: The operation; empty where none matches.
        fingerprint: A hash that the same finding has in every run.
        sides: The deployments that show it, at least one.
        facts: What was expected and what came, each with its name.
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
    """The findings that have one reason.

    Attributes:
        name: The rule, or what differs.
        statement: The rule in one sentence; may be empty.
        entries: What was found, at least one.
        rule: The id by which code hosts group results; the name if empty.
        readings: What each side does where the contract is open, by the sides' names.
        consequences: What the same responses break too.
        severity: How much it matters: critical, major, moderate or minor.
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
        """The cause in words; the name where there are none."""
        return self.words or self.statement.strip() or self.name

    @property
    def broken(self) -> str:
        """The rule, with its sentence where the heading says something else."""
        return f"{self.name}: {self.statement.strip()}" if self.words else self.name

    @property
    def following(self) -> str:
        """The number of rules that follow from it, and which; empty for none."""
        names = self.names_of_consequences
        verb = "follows" if len(names) == 1 else "follow"
        return f"{counted(len(names), 'rule')} {verb}: {', '.join(names)}" if names else ""

    @property
    def result(self) -> str:
        """The id by which code hosts group results."""
        return self.rule or self.name

    @property
    def names_of_consequences(self) -> tuple[str, ...]:
        """The names of what the same responses break too."""
        return tuple(dict.fromkeys(cause.name for cause in self.consequences))


@dataclass(frozen=True, slots=True)
class Section:
    """Causes of one kind.

    Attributes:
        title: The title.
        causes: The causes, at least one.
        is_note: True if they are not to be blamed on the deployment.
        introduction: What a reader has to know first.
        topic: What each result says first at code hosts, where it stands without the title.
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
        entries: The change, at each place, at least one; they have no sides.
        rule: The id by which code hosts group it.
        statement: The kind of change, in one sentence.
        summary: The change in one line.
        effect: The clients that it breaks, in words.
        is_breaking: True if it breaks any.
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
        checks: How often it was judged.
        reason: Why it was not checked; may be empty.
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
    """The findings of a command, and all that a report says beside them.

    Attributes:
        tool: The command, such as ``understudy verify``.
        title: What was judged.
        verdict: The line with the totals.
        is_bad: True if something has to be mended.
        sections: What was found, most urgent first.
        comparisons: How documents differ.
        rules: How each rule ended; empty where rules are not judged one by one.
        cases: How each case ended that was sent, with the cause where it failed.
        unchecked: Each reason with the rules that were not checked for it.
        alarms: What went wrong with the run itself, most urgent first.
        remarks: What else a reader may want to know.
        details: What only those want to know who look into the tool itself.
        variables: Names of secrets that the commands need, each with where its value is; may be empty.
        coverage: What was sent; None where it is not counted.
        numbers: Start, seconds, seed and requests, as texts by their names.
        since: What changed since an earlier run, a line each.
        records: What programs read (``json``, ``har``), by the format: made by the command itself.
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
        """The command that sets the variables, and where their values are; empty for none."""
        places = "; ".join(f"{name} is {place}" for name, place in self.variables if place)
        return f"export {' '.join(f'{name}=…' for name, _ in self.variables)}", places

    def count(self, status: Status) -> int:
        """Returns the number of rules that ended so."""
        return sum(rule.status == status for rule in self.rules)

    @property
    def results(self) -> Iterator["Result"]:
        """All that was found, as code hosts list it."""
        for section in self.sections:
            for cause in section.causes:
                for one in (cause, *cause.consequences):
                    for entry in one.entries:
                        yield Result(one.result, section.topic, entry, section.is_note)
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
        """Returns what was found, behind what it is about."""
        return separator.join(filter(None, (self.topic, self.entry.summary)))

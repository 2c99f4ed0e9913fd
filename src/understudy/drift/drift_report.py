"""Records of a comparison's JSON report, from which its JSON Schema is generated.

``report_of`` turns them into the common report that every other format renders.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Final, Literal

import msgspec
from msgspec import Struct, structs

from understudy.drift.differences import NOTED, Fault
from understudy.drift.documents.changes import STATEMENTS, Audience
from understudy.reports import content
from understudy.terminal import counted


class SeenEntry(Struct, frozen=True, kw_only=True):
    """An entry of a report that a history and a baseline can refer to.

    Attributes:
        fingerprint: A hash that the same entry has in every run.
        first_seen: Time of the first run that saw the entry, in UTC; empty without a history.
        last_seen: Time of the last earlier run that saw the entry; empty if none did.
        is_accepted: True if the baseline accepts the entry today.
    """

    fingerprint: str
    first_seen: str = ""
    last_seen: str = ""
    is_accepted: bool = False


class ReportedDifference(SeenEntry, frozen=True):
    """One aspect of a response that differs between two deployments.

    Attributes:
        request: The operation and the caller.
        aspect: The name of the aspect, such as status or a member.
        deployment: The value of the aspect at the deployment.
        other: The value of the aspect at the other one.
        seen: The number of requests with this difference.
        commands: A shell script that reproduces the deployment's value; secrets are variables. Empty,
            as the texts below, where an earlier difference of the cause has the same.
        response: The response to the script's last request during the comparison.
        other_commands: A shell script that reproduces the value at the other one.
        other_response: The response to its last request during the comparison.
    """

    request: str
    aspect: str
    deployment: str
    other: str
    seen: int
    commands: str
    response: str
    other_commands: str
    other_response: str

    @property
    def summary(self) -> str:
        """One line for lists and annotations."""
        times = f" ({self.seen} times)" if self.seen > 1 else ""
        return f"{self.request}: {self.aspect} {self.deployment}; the other {self.other}{times}"


class ReportedCause(Struct, frozen=True):
    """Differences with one cause.

    Attributes:
        fault: A rule is broken at the deployment or at the other one, their documents differ, the
            contract is silent, no cause is known, the deployment breaks a rule in only one of its
            two runs, or it behaves as was learnt and the mock has no switch for that.
        rule: Name of the rule or of the change of the documents; without a cause, the difference.
        statement: The rule, or the question that the contract leaves open; may be empty.
        readings: The behaviour of each of the two where the contract is silent; else empty.
        differences: The differences.
        severity: Critical, major, moderate or minor.
        words: The cause in words, where more is known than the rule; may be empty.
    """

    fault: Fault
    rule: str
    statement: str
    readings: list[str]
    differences: list[ReportedDifference]
    severity: content.Severity = "major"
    words: str = ""


class ReportedFact(SeenEntry, frozen=True):
    """A fact that no longer holds at the deployment.

    Attributes:
        rule: The rule that leaves the question open.
        question: The rule in one sentence.
        before: The reading that was learnt.
        now: The reading that both runs show.
        learnt: The day on which the fact was learnt, as YYYY-MM-DD.
        request: The operation and the caller of the last request that shows the change.
        commands: A shell script that reproduces the new reading; secrets are variables.
        response: The response to the script's last request.
    """

    rule: str
    question: str
    before: str
    now: str
    learnt: str
    request: str
    commands: str
    response: str

    @property
    def summary(self) -> str:
        """One line for lists and annotations."""
        return f"{self.rule}: now {self.now}, was {self.before} when learnt on {self.learnt}"


class ReportedChange(SeenEntry, frozen=True):
    """One change between two documents.

    Attributes:
        kind: The kind of the change, such as ``member-added``.
        operation: The operation.
        place: The part of the operation; empty for all of it.
        member: Path of the member in a body; empty for the whole body.
        before: The value in the older document; may be empty.
        after: The value in the newer document; may be empty.
        breaks: The clients that the change breaks: those that send, those that read, or none.
        pointer: JSON pointer of the place, in the older document if it is removed.
        summary: The change in one line.
    """

    kind: str
    operation: str
    place: str
    member: str
    before: str
    after: str
    breaks: list[Audience]
    pointer: str
    summary: str


class ReportedDocuments(Struct, frozen=True):
    """The changes between two documents.

    Attributes:
        old: Name or file of the older document.
        new: Name or file of the newer document.
        changes: The changes, those first that break clients.
    """

    old: str
    new: str
    changes: list[ReportedChange]


ReportedEntry = ReportedDifference | ReportedFact | ReportedChange


class DriftReport(Struct, frozen=True):
    """The differences between two deployments, and between their documents.

    Attributes:
        deployment: Base URL of the deployment; empty where only documents were compared.
        other: Base URL of the other one, or the mock; empty where only documents were compared.
        requests: The number of requests that were compared.
        causes: The differences by their causes.
        documents: The documents that were compared.
        not_compared: One line for each part that was not compared, with the reason.
        not_checked: One line for each reason why rules that apply were not checked.
        stopped: One line for each reason why a run ended early.
        not_restored: One line for each change that could not be undone.
        changed_facts: The facts that no longer hold at the deployment.
        version: Version of this format.
    """

    deployment: str
    other: str
    requests: int
    causes: list[ReportedCause]
    documents: list[ReportedDocuments]
    not_compared: list[str]
    not_checked: list[str]
    stopped: list[str]
    not_restored: list[str]
    changed_facts: list[ReportedFact] = []
    version: Literal[2] = 2

    @property
    def entries(self) -> Iterator[ReportedEntry]:
        """The changed facts, the differences and the changes of documents."""
        yield from self.changed_facts
        for cause in self.causes:
            yield from cause.differences
        for documents in self.documents:
            yield from documents.changes

    @property
    def findings(self) -> list[ReportedEntry]:
        """The entries that are a deployment's fault, and that no baseline accepts."""
        return [entry for entry in self._of_kind(is_finding=True) if not entry.is_accepted]

    @property
    def notes(self) -> list[ReportedEntry]:
        """The entries that are open by the contract, seen in only one run, or break no client."""
        return [entry for entry in self._of_kind(is_finding=False) if not entry.is_accepted]

    def _of_kind(self, *, is_finding: bool) -> Iterator[ReportedEntry]:
        yield from self.changed_facts if is_finding else ()
        for cause in self.causes:
            if cause.fault != "learnt" and (cause.fault not in NOTED) == is_finding:
                yield from cause.differences
        for documents in self.documents:
            yield from (it for it in documents.changes if bool(it.breaks) == is_finding)

    def with_entries(self, change: Callable[[ReportedEntry], ReportedEntry]) -> "DriftReport":
        """Returns the report with a function applied to every entry."""
        return structs.replace(
            self,
            changed_facts=[change(it) for it in self.changed_facts],
            causes=[
                structs.replace(cause, differences=[change(it) for it in cause.differences])
                for cause in self.causes
            ],
            documents=[
                structs.replace(pair, changes=[change(it) for it in pair.changes])
                for pair in self.documents
            ],
        )


UNEXPLAINED: Final = "unexplained"

TITLES: Final[Mapping[Fault, str]] = {
    "deployment": "The deployment breaks a rule",
    "other": "The other one breaks a rule",
    "documents": "Their documents differ",
    "silent": "The contract is silent, and they chose otherwise",
    "unexplained": "No rule is about it",
    "unsteady": "The deployment broke a rule in one of its two runs",
    "learnt": "The deployment does as was learnt, and the mock has no switch for it",
}

CHANGED_FACTS: Final = "The deployment no longer does as was learnt"
"""The title of the facts that have changed."""


def _total(report: DriftReport) -> str:
    """Returns the last line of a report: the numbers of causes and of changes of documents."""
    parts = []
    if report.deployment:
        causes = [cause for cause in report.causes if cause.fault != "learnt"]
        parts.append(
            f"{counted(len(causes), 'cause')} of difference between "
            f"{report.deployment} and {report.other}; "
            f"{counted(report.requests, 'request')} compared"
        )
        notes = sum(cause.fault in NOTED for cause in causes)
        parts += [f"{counted(notes, 'note')} among the causes"] if 0 < notes < len(causes) else []
        as_learnt = len(report.causes) - len(causes)
        parts += [f"{as_learnt} more as learnt"] if as_learnt else []
    if report.changed_facts:
        parts.append(f"{counted(len(report.changed_facts), 'fact')} changed")
    if any(pair.changes for pair in report.documents) or not report.deployment:
        changes = [change for pair in report.documents for change in pair.changes]
        broken = sum(bool(change.breaks) for change in changes)
        parts.append(f"{counted(len(changes), 'change')} of documents, {broken} of them breaking")
    accepted = sum(entry.is_accepted for entry in report.entries)
    if accepted:
        parts.append(f"{accepted} accepted by the baseline")
    return "; ".join(parts)


def _breaks(change: ReportedChange) -> str:
    """Returns the clients that a change breaks, in words."""
    if not change.breaks:
        return "breaks no client"
    return f"breaks clients that {' and that '.join(_VERBS[client] for client in change.breaks)}"


_VERBS: Final = {"senders": "send", "readers": "read"}


def _mark(entry: ReportedEntry) -> str:
    """Returns a mark in brackets if the history or the baseline has an entry; else nothing."""
    words = [f"since {entry.first_seen[:10]}"] if entry.last_seen else []
    words += ["accepted"] if entry.is_accepted else []
    return f" [{', '.join(words)}]" if words else ""


def _grouped(
    changes: list[ReportedChange],
) -> list[tuple[list[ReportedChange], list[str]]]:
    """Groups changes that come from one place of a document, with the other uses of that place."""
    groups: dict[tuple[object, ...], list[ReportedChange]] = {}
    for change in changes:
        name = change.member.rpartition(".")[2]
        key = (change.kind, change.pointer, name, change.before, change.after, tuple(change.breaks))
        groups.setdefault(key, []).append(change)
    return [(members, [_where(member) for member in members[1:]]) for members in groups.values()]


def _where(change: ReportedChange) -> str:
    member = f"member {change.member}" if change.member else ""
    return ": ".join(part for part in (change.operation, change.place, member) if part)


def report_of(drift: DriftReport, started: datetime | None = None) -> content.Report:
    """Returns the common report of two deployments and their documents.

    Args:
        drift: The differences.
        started: Start of the comparison; None leaves it out.
    """
    when = {} if started is None else {"started": f"{started.astimezone(UTC):%Y-%m-%dT%H:%M:%S}"}
    return content.Report(
        tool="understudy drift",
        title=_title(drift),
        verdict=_total(drift),
        is_bad=bool(drift.findings or drift.not_restored or drift.stopped),
        sections=tuple(_sections(drift)),
        comparisons=tuple(map(_comparison, filter(lambda pair: pair.changes, drift.documents))),
        alarms=(*(f"not restored: {line}" for line in drift.not_restored), *drift.stopped),
        remarks=(*drift.not_compared, *drift.not_checked),
        numbers=when,
        records={"json": partial(json, drift)},
    )


def _title(drift: DriftReport) -> str:
    if drift.deployment:
        return f"{drift.deployment} and {drift.other}"
    return " and ".join(f"{pair.old} and {pair.new}" for pair in drift.documents)


def _sections(drift: DriftReport) -> Iterator[content.Section]:
    if drift.changed_facts:
        facts = tuple(map(_fact, drift.changed_facts))
        yield content.Section(CHANGED_FACTS, facts, topic=CHANGED_FACTS)
    for fault, title in TITLES.items():
        causes = tuple(_cause(cause) for cause in drift.causes if cause.fault == fault)
        if causes:
            is_expected = fault == "learnt"
            is_note = fault in NOTED or is_expected
            yield content.Section(
                title, causes, is_note=is_note, topic=title, is_expected=is_expected
            )


def _fact(fact: ReportedFact) -> content.Cause:
    entry = content.Entry(
        label=fact.request + _mark(fact),
        summary=fact.summary,
        operation=fact.request.rpartition(" as ")[0],
        fingerprint=fact.fingerprint,
        sides=(content.ShownSide(fact.commands, response=fact.response),),
        is_accepted=fact.is_accepted,
    )
    return content.Cause(
        fact.rule,
        fact.question,
        (entry,),
        rule=f"fact-{fact.rule}",
        readings=(("now", fact.now), (f"when learnt on {fact.learnt}", fact.before)),
    )


def _cause(cause: ReportedCause) -> content.Cause:
    names = ("the deployment", "the other")
    return content.Cause(
        cause.rule,
        cause.statement,
        tuple(map(_difference, cause.differences)),
        rule=UNEXPLAINED if cause.fault == UNEXPLAINED else cause.rule,
        severity=cause.severity,
        readings=tuple(zip(names, (cause.readings[0], cause.readings[-1]), strict=True))
        if cause.readings
        else (),
        words=cause.words,
    )


def _difference(difference: ReportedDifference) -> content.Entry:
    return content.Entry(
        label=difference.summary + _mark(difference),
        summary=difference.summary,
        operation=difference.request.rpartition(" as ")[0],
        fingerprint=difference.fingerprint,
        sides=(
            content.ShownSide(difference.commands, "The deployment", difference.response),
            content.ShownSide(difference.other_commands, "The other", difference.other_response),
        )
        if difference.response
        else (),
        is_accepted=difference.is_accepted,
    )


def _comparison(pair: ReportedDocuments) -> content.Comparison:
    changes = []
    for members, further in _grouped(pair.changes):
        first = members[0]
        changes.append(
            content.ChangeLine(
                entries=tuple(_changed(member, pair) for member in members),
                rule=f"document-{first.kind}",
                statement=STATEMENTS[first.kind],
                summary=first.summary + _mark(first),
                effect=_breaks(first),
                is_breaking=bool(first.breaks),
                pointer=first.pointer,
                further=tuple(further),
            )
        )
    return content.Comparison(f"From {pair.old} to {pair.new}", tuple(changes))


def _changed(change: ReportedChange, pair: ReportedDocuments) -> content.Entry:
    return content.Entry(
        label=change.summary,
        summary=f"{change.summary} ({_breaks(change)}; from {pair.old} to {pair.new})",
        operation=change.operation or pair.new,
        fingerprint=change.fingerprint,
        sides=(),
        is_accepted=change.is_accepted,
    )


def json(report: DriftReport) -> str:
    """Returns the report as JSON."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"

"""Fills a report with how two deployments differ."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Final

import msgspec

from understudy.drift.causes import NOTED, Fault
from understudy.drift.documents.changes import STATEMENTS
from understudy.drift.drift_report import (
    DriftReport,
    ReportedCause,
    ReportedChange,
    ReportedDifference,
    ReportedDocuments,
    ReportedEntry,
    ReportedFact,
)
from understudy.reports.content import (
    Cause,
    ChangeLine,
    Comparison,
    Entry,
    Report,
    Section,
    ShownSide,
)
from understudy.terminal import counted

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
    """Returns the last line: how many causes there are, and how many changes of documents."""
    parts = []
    if report.deployment:
        causes = [cause for cause in report.causes if cause.fault != "learnt"]
        parts.append(
            f"{counted(len(causes), 'cause')} of difference between "
            f"{report.deployment} and {report.other}; "
            f"{counted(report.requests, 'request')} compared"
        )
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
    """Returns the clients that a change breaks."""
    if not change.breaks:
        return "breaks no client"
    return f"breaks clients that {' and that '.join(_VERBS[client] for client in change.breaks)}"


_VERBS: Final = {"senders": "send", "readers": "read"}


def _mark(entry: ReportedEntry) -> str:
    """Returns what the history and the baseline say of an entry, in brackets; or nothing."""
    words = [f"since {entry.first_seen[:10]}"] if entry.last_seen else []
    words += ["accepted"] if entry.is_accepted else []
    return f" [{', '.join(words)}]" if words else ""


def _grouped(
    changes: list[ReportedChange],
) -> list[tuple[list[ReportedChange], list[str]]]:
    """Returns changes of one place of a document once, each with all that it is seen in."""
    groups: dict[tuple[object, ...], list[ReportedChange]] = {}
    for change in changes:
        name = change.member.rpartition(".")[2]
        key = (change.kind, change.pointer, name, change.before, change.after, tuple(change.breaks))
        groups.setdefault(key, []).append(change)
    return [(members, [_where(member) for member in members[1:]]) for members in groups.values()]


def _where(change: ReportedChange) -> str:
    member = f"member {change.member}" if change.member else ""
    return ": ".join(part for part in (change.operation, change.place, member) if part)


def report_of(drift: DriftReport, started: datetime | None = None) -> Report:
    """Returns what a report says of two deployments and their documents.

    Args:
        drift: The differences.
        started: When they were compared; None leaves it out.
    """
    when = {} if started is None else {"started": f"{started.astimezone(UTC):%Y-%m-%dT%H:%M:%S}"}
    return Report(
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


def _sections(drift: DriftReport) -> Iterator[Section]:
    if drift.changed_facts:
        facts = tuple(map(_fact, drift.changed_facts))
        yield Section(CHANGED_FACTS, facts, topic=CHANGED_FACTS)
    for fault, title in TITLES.items():
        causes = tuple(_cause(cause) for cause in drift.causes if cause.fault == fault)
        if causes:
            is_expected = fault == "learnt"
            is_note = fault in NOTED or is_expected
            yield Section(title, causes, is_note=is_note, topic=title, is_expected=is_expected)


def _fact(fact: ReportedFact) -> Cause:
    entry = Entry(
        label=fact.request + _mark(fact),
        summary=fact.summary,
        operation=fact.request.rpartition(" as ")[0],
        fingerprint=fact.fingerprint,
        sides=(ShownSide(fact.commands, response=fact.response),),
        is_accepted=fact.is_accepted,
    )
    return Cause(
        fact.rule,
        fact.question,
        (entry,),
        rule=f"fact-{fact.rule}",
        readings=(("now", fact.now), (f"when learnt on {fact.learnt}", fact.before)),
    )


def _cause(cause: ReportedCause) -> Cause:
    names = ("the deployment", "the other")
    return Cause(
        cause.rule,
        cause.statement,
        tuple(map(_difference, cause.differences)),
        rule=UNEXPLAINED if cause.fault == UNEXPLAINED else cause.rule,
        severity="minor" if cause.fault in NOTED or cause.fault == "learnt" else "major",
        readings=tuple(zip(names, (cause.readings[0], cause.readings[-1]), strict=True))
        if cause.readings
        else (),
    )


def _difference(difference: ReportedDifference) -> Entry:
    return Entry(
        label=difference.summary + _mark(difference),
        summary=difference.summary,
        operation=difference.request.rpartition(" as ")[0],
        fingerprint=difference.fingerprint,
        sides=(
            ShownSide(difference.commands, "The deployment", difference.response),
            ShownSide(difference.other_commands, "The other", difference.other_response),
        ),
        is_accepted=difference.is_accepted,
    )


def _comparison(pair: ReportedDocuments) -> Comparison:
    changes = []
    for members, further in _grouped(pair.changes):
        first = members[0]
        changes.append(
            ChangeLine(
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
    return Comparison(f"From {pair.old} to {pair.new}", tuple(changes))


def _changed(change: ReportedChange, pair: ReportedDocuments) -> Entry:
    return Entry(
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

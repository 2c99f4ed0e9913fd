"""Words that the reports for people share: titles, totals, and what a change breaks."""

from collections.abc import Iterator, Mapping
from typing import Final

from understudy.drift.causes import Fault
from understudy.drift.reports.content import (
    DriftReport,
    ReportedCause,
    ReportedChange,
    ReportedDocuments,
    ReportedEntry,
)
from understudy.verify.reports.grouping import counted

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


def sections(report: DriftReport) -> Iterator[tuple[str, list[ReportedCause]]]:
    """Yields the causes by whose fault they are, with a title."""
    for fault, title in TITLES.items():
        members = [cause for cause in report.causes if cause.fault == fault]
        if members:
            yield title, members


def total(report: DriftReport) -> str:
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


def heading(pair: ReportedDocuments) -> str:
    """Returns the title of a comparison of documents."""
    return f"From {pair.old} to {pair.new}"


def breaks(change: ReportedChange) -> str:
    """Returns the clients that a change breaks."""
    if not change.breaks:
        return "breaks no client"
    return f"breaks clients that {' and that '.join(_VERBS[client] for client in change.breaks)}"


_VERBS: Final = {"senders": "send", "readers": "read"}


def mark(entry: ReportedEntry) -> str:
    """Returns what the history and the baseline say of an entry, in brackets; or nothing."""
    words = [f"since {entry.first_seen[:10]}"] if entry.last_seen else []
    words += ["accepted"] if entry.is_accepted else []
    return f" [{', '.join(words)}]" if words else ""


def grouped(changes: list[ReportedChange]) -> list[tuple[ReportedChange, list[str]]]:
    """Returns changes of one place of a document once, each with all that it is seen in."""
    groups: dict[tuple[object, ...], list[ReportedChange]] = {}
    for change in changes:
        name = change.member.rpartition(".")[2]
        key = (change.kind, change.pointer, name, change.before, change.after, tuple(change.breaks))
        groups.setdefault(key, []).append(change)
    return [(members[0], [_where(member) for member in members[1:]]) for members in groups.values()]


def _where(change: ReportedChange) -> str:
    member = f"member {change.member}" if change.member else ""
    return ": ".join(part for part in (change.operation, change.place, member) if part)

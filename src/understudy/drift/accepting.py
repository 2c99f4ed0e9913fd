"""Accepts known differences until a date, by the baseline files of ``verify``."""

from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from msgspec import structs

from understudy.drift.drift_report import DriftReport, ReportedEntry
from understudy.drift.files import replace_file
from understudy.verify.baseline import Accepted

ACCEPTED_FOR: Final = timedelta(days=30)
"""Days for which a baseline that is written accepts an entry."""


def with_accepted(report: DriftReport, accepted: Iterable[Accepted], today: date) -> DriftReport:
    """Returns a report whose entries tell whether a baseline accepts them today."""
    known = {entry.fingerprint for entry in accepted if today <= entry.until}

    def marked(entry: ReportedEntry) -> ReportedEntry:
        return structs.replace(entry, is_accepted=entry.fingerprint in known)

    return report.with_entries(marked)


def write_baseline(report: DriftReport, path: Path, today: date) -> int:
    """Writes a baseline that accepts all findings of a report for some time.

    Returns:
        The number of entries.

    Raises:
        StartupError: It cannot be written.
    """
    until = today + ACCEPTED_FOR
    entries = {entry.fingerprint: entry for entry in report.findings}
    tables = [
        f"[[accept]]  # {' '.join(entry.summary.split())}\n"
        f'fingerprint = "{entry.fingerprint}"\nuntil = {until.isoformat()}\nwhy = ""\n'
        for entry in entries.values()
    ]
    head = f"# Differences that understudy drift accepts until {until.isoformat()}.\n"
    replace_file(path, "\n".join([head, *tables]).encode())
    return len(entries)

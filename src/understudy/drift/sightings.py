"""Keeps a history of when each difference was seen, and a baseline of accepted differences."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec
from msgspec import structs

from understudy.drift.drift_report import DriftReport, ReportedEntry
from understudy.drift.files import replace_file
from understudy.errors import StartupError, unreadable
from understudy.verify.findings import Accepted

MOST_KEPT: Final = 10_000
"""Most entries of a history; those not seen for the longest time are dropped."""


class Sighting(msgspec.Struct, frozen=True):
    """When one difference was seen.

    Attributes:
        first_seen: The first run that saw it, in UTC.
        last_seen: The last run that saw it, in UTC.
        summary: The difference in one line, for readers of the file.
    """

    first_seen: str
    last_seen: str
    summary: str


class Sightings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The history of a deployment's differences.

    Attributes:
        seen: The sighting of each difference, by its fingerprint.
        version: Version of this format.
    """

    seen: dict[str, Sighting] = {}
    version: int = 1


def read_sightings(path: Path) -> Sightings:
    """Reads a history; it is empty if the file does not exist yet.

    Raises:
        StartupError: The file cannot be read.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Sightings)
    except FileNotFoundError:
        return Sightings()
    except OSError as error:
        raise StartupError(unreadable(f"--history {path}", error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        msg = (
            f"{path} is not a history of understudy drift: {error}. Name another file by --history."
        )
        raise StartupError(msg) from error


def with_sightings(report: DriftReport, earlier: Sightings, now: datetime) -> DriftReport:
    """Returns a report whose entries have the times when they were first and last seen."""

    def dated(entry: ReportedEntry) -> ReportedEntry:
        known = earlier.seen.get(entry.fingerprint)
        first, last = (_text(now), "") if known is None else (known.first_seen, known.last_seen)
        return msgspec.structs.replace(entry, first_seen=first, last_seen=last)

    return report.with_entries(dated)


def keep_sightings(report: DriftReport, earlier: Sightings, path: Path, now: datetime) -> None:
    """Writes the history, with the entries of a run added.

    Raises:
        StartupError: The file cannot be written.
    """
    seen = earlier.seen | {
        entry.fingerprint: Sighting(entry.first_seen, _text(now), entry.summary)
        for entry in report.entries
    }
    newest = sorted(seen.items(), key=lambda item: item[1].last_seen, reverse=True)[:MOST_KEPT]
    kept = Sightings(dict(sorted(newest)))
    text = msgspec.json.format(msgspec.json.encode(kept), indent=2)
    replace_file(path, text + b"\n")


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


ACCEPTED_FOR: Final = timedelta(days=30)
"""Time for which a new baseline accepts its entries."""


def with_accepted(report: DriftReport, accepted: Iterable[Accepted], today: date) -> DriftReport:
    """Returns a report in which the entries that a baseline accepts today are marked."""
    known = {entry.fingerprint for entry in accepted if today <= entry.until}

    def marked(entry: ReportedEntry) -> ReportedEntry:
        return structs.replace(entry, is_accepted=entry.fingerprint in known)

    return report.with_entries(marked)


def write_baseline(report: DriftReport, path: Path, today: date) -> int:
    """Writes a baseline that accepts all findings of a report for thirty days.

    Returns:
        The number of entries.

    Raises:
        StartupError: The file cannot be written.
    """
    until = today + ACCEPTED_FOR
    entries = {entry.fingerprint: entry for entry in report.findings}
    tables = [
        f"[[accept]]  # {' '.join(entry.summary.split())}\n"
        f'fingerprint = "{entry.fingerprint}"\nuntil = {until.isoformat()}\n'
        f'why = "found on {(entry.first_seen or today.isoformat())[:10]}; say why it may stay"\n'
        for entry in entries.values()
    ]
    head = f"# Differences that understudy drift accepts until {until.isoformat()}.\n"
    replace_file(path, "\n".join([head, *tables]).encode())
    return len(entries)

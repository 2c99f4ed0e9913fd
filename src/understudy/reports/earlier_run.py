"""Compares a run with the JSON report of an earlier one: new and gone findings, lost rules."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from understudy.errors import StartupError, unreadable
from understudy.reports.content import Report
from understudy.terminal import counted


class Change(NamedTuple):
    """The changes since an earlier run.

    Attributes:
        lines: A summary, then a line for each new and each gone finding, and each lost rule.
        lost: The rules that were checked then, but not now.
    """

    lines: tuple[str, ...]
    lost: tuple[str, ...]


def is_report(path: Path) -> bool:
    """Tells whether a baseline is a JSON report, rather than a list of accepted findings.

    A name in .json decides: an empty file would be an empty list, and so accepted in silence.
    """
    try:
        with path.open("rb") as file:
            return path.suffix == ".json" or file.read(64).lstrip().startswith(b"{")
    except OSError:
        return False  # reading the list reports the error


def read_report(path: Path, option: str, *members: str) -> Mapping[str, Any]:
    """Returns the JSON report of an earlier run of ``understudy verify``.

    Args:
        path: The file.
        option: The option that names it, for the message.
        members: Further members that it must have.

    Raises:
        StartupError: The file cannot be read, or is not such a report.
    """
    try:
        report: Mapping[str, Any] = orjson.loads(path.read_bytes())
        # Raises unless the report has all that a comparison reads.
        _ = {rule["id"]: rule["status"] for rule in report["rules"]}, [report[it] for it in members]
    except OSError as error:
        msg = unreadable(
            f"{option} {path}", error, "`understudy verify --report json=FILE` writes one."
        )
        raise StartupError(msg) from error
    except (ValueError, KeyError, TypeError) as error:
        msg = (
            f"{option} {path} is not a JSON report of verify; write one with --report json={path}."
        )
        raise StartupError(msg) from error
    return report


def change_since(earlier: Mapping[str, Any], report: Report) -> Change:
    """Returns the changes since an earlier run."""
    before = {
        each["fingerprint"]: f"{each['rule']}: {each['summary']}" for each in earlier["findings"]
    }
    now = {
        result.entry.fingerprint: f"{result.rule}: {result.entry.summary}"
        for result in report.results
        if not result.is_note
    }
    judged = {it.name for it in report.rules if it.status != "not_checked"}
    checked = {each["id"] for each in earlier["rules"] if each["status"] != "not_checked"}
    lost = {it.name: it.reason for it in report.rules if it.name in checked - judged}
    new = [text for fingerprint, text in now.items() if fingerprint not in before]
    ended = [text for fingerprint, text in before.items() if fingerprint not in now]
    gone = [text for text in ended if text.partition(": ")[0] in judged]
    when = str(earlier["started"])[:16].replace("T", " ")
    summary = f"Since the run of {when}: {counted(len(new), 'new finding')}, {len(gone)} gone"
    if len(ended) > len(gone):
        summary += f", {len(ended) - len(gone)} not checked again"
    if lost:
        were = "was" if len(lost) == 1 else "were"
        summary += f"; {counted(len(lost), 'rule')} that {were} checked then {were} not"
    lines = (
        f"{summary}.",
        *(f"new: {text}" for text in new),
        *(f"gone: {text}" for text in gone),
        *(f"not checked: {name}: {why}" for name, why in lost.items()),
    )
    return Change(lines, tuple(lost))

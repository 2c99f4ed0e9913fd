"""Reports findings to GitHub: one annotation for each, in the user's own files where there are any."""

from understudy.verify.outcome import Outcome
from understudy.verify.reports.locations import location


def annotations(outcome: Outcome) -> list[str]:
    """Returns one workflow command for each finding, which GitHub shows as an annotation."""
    lines = []
    for finding in (*outcome.findings, *outcome.notes):
        level = "notice" if finding.is_note else "error"
        place = location(outcome, finding)
        where = f"file={_property(place.path)},line={place.line}," if place is not None else ""
        lines.append(annotation(level, finding.rule.id, finding.summary, where))
    return lines


def annotation(level: str, title: str, text: str, where: str = "") -> str:
    """Returns a workflow command for an annotation.

    Args:
        level: ``error``, ``warning`` or ``notice``.
        title: The title.
        text: The text.
        where: File and line, as properties that end with a comma; empty without a file.
    """
    return f"::{level} {where}title={_property(title)}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

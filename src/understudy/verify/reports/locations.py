"""Finds the line of the user's own file that a finding belongs to, for reports of code hosts."""

import re
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from understudy.verify.findings import Finding
from understudy.verify.outcome import Outcome

_PATH: Final = re.compile(r"""^\s*["']?(?P<path>/[^"':]*)["']?\s*:""")
_BASE_URL: Final = re.compile(r"^\s*base_url\s*=")
_PARAMETER: Final = re.compile(r"\{[^}]*\}")


class Location(NamedTuple):
    """A line of a file, counted from 1."""

    path: str
    line: int


def location(outcome: Outcome, finding: Finding) -> Location | None:
    """Returns the path of the finding's operation in the document in force, or the target file.

    Returns:
        None where neither is a file of the user's.
    """
    if outcome.document_file is not None:
        template = finding.exchange.operation.partition(" ")[2]
        lines = _lines_of_paths(outcome.document_file)
        return Location(outcome.document_file.as_posix(), lines.get(template, 1))
    if outcome.target_file is not None:
        return Location(outcome.target_file.as_posix(), _line_of_address(outcome.target_file))
    return None


@cache
def _lines_of_paths(document: Path) -> dict[str, int]:
    lines: dict[str, int] = {}
    for number, line in enumerate(_text(document).splitlines(), 1):
        match = _PATH.match(line)
        if match is not None:
            lines.setdefault(_PARAMETER.sub("{}", match["path"]), number)
    return lines


@cache
def _line_of_address(target: Path) -> int:
    lines = enumerate(_text(target).splitlines(), 1)
    return next((number for number, line in lines if _BASE_URL.match(line)), 1)


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""  # deleted during the run

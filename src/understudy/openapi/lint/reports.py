"""The result of linting as records, which JSON and its schema are made from."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from understudy.openapi.diagnostics import Diagnostic, Severity
from understudy.openapi.lint.lines import Lines
from understudy.openapi.pointers import escape, steps_of
from understudy.openapi.references import FILES
from understudy.record_schemas import record_schema


class LintEntry(msgspec.Struct, frozen=True):
    """One thing that is wrong with a document.

    Attributes:
        rule: Name of the rule, as the reference of `understudy lint` lists them.
        severity: `error` if a part of the document is not served as it was written.
        file: The file that has the place.
        line: Line of the place, counted from 1; null where it is not known.
        pointer: JSON pointer of the place in the file.
        message: What is wrong, and what is done instead.
    """

    rule: str
    severity: Severity
    file: str
    line: int | None
    pointer: str
    message: str


class LintReport(msgspec.Struct, frozen=True):
    """The report of `understudy lint --format json`.

    Attributes:
        document: The document's file.
        errors: Number of entries with severity `error`.
        warnings: Number of entries with severity `warning`.
        diagnostics: All entries, by file and line.
    """

    document: str
    errors: int
    warnings: int
    diagnostics: list[LintEntry]


def lint_report(path: Path, diagnostics: Sequence[Diagnostic]) -> LintReport:
    """Returns the report on a document, with the file and the line of each place."""
    lines_of = cache(Lines)
    entries = []
    for rule, severity, pointer, message in diagnostics:
        file, place = _located(path, pointer)
        line = lines_of(file).of(place)
        entries.append(LintEntry(rule, severity, str(file), line, place, message))
    entries.sort(key=lambda entry: (entry.file, entry.line or 0))
    counts = Counter(entry.severity for entry in entries)
    return LintReport(str(path), counts["error"], counts["warning"], entries)


def report_schema() -> dict[str, Any]:
    """Returns the JSON Schema (2020-12) of the report."""
    return record_schema(LintReport, "The report of understudy lint")


def _located(path: Path, pointer: str) -> tuple[Path, str]:
    """Returns the file of a place, and its pointer in that file."""
    steps = steps_of(pointer)
    if len(steps) > 1 and steps[0] == FILES:
        return path.parent / steps[1], "/".join(["#", *map(escape, steps[2:])])
    return path, pointer

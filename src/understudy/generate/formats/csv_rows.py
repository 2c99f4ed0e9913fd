"""CSV (RFC 4180) for the import of a test-management tool: a row a case."""

import csv
from collections.abc import Iterable
from io import StringIO

from understudy.generate.cases import Case
from understudy.generate.formats.export import (
    ExportSettings,
    OutputPiece,
    OutputPieces,
    byte_runs,
    plain_text,
)

COLUMNS = (
    *("id", "title", "operation", "category", "kind", "part", "source", "method", "url"),
    *("headers", "body", "body_encoding", "expected", "because", "outcome"),
)


def write(cases: Iterable[Case], settings: ExportSettings) -> OutputPieces:
    """Yields the head, and a row a case."""
    yield _row(COLUMNS)
    for case in cases:
        yield _row(_cells(case, settings))


def _cells(case: Case, settings: ExportSettings) -> tuple[str, ...]:
    request = case.request.filled(settings.secrets)
    body, encoding = _body(request.body)
    return (
        *(case.id, case.description, case.operation, case.category, case.kind, case.part),
        *(case.source, request.method, settings.base_urls[request.site] + request.target),
        "\n".join(f"{name}: {text}" for name, text in request.headers),
        *(body, encoding, " or ".join(case.expected.statuses), case.expected.because),
        case.outcome,
    )


def _body(content: bytes | None) -> tuple[str, str]:
    """Returns a body as a cell, and how it is written there; a large one in pieces and how often."""
    text = plain_text(content)
    if content is None or text is not None:
        return text or "", "" if content is None else "text"
    first, *others = byte_runs(content)
    if not others:
        return first.in_base64, "base64"
    return " ".join(f"{run.in_base64}*{run.times}" for run in (first, *others)), "base64 pieces"


def _row(cells: Iterable[str]) -> OutputPiece:
    text = StringIO()
    csv.writer(text).writerow([_harmless(cell) for cell in cells])
    return OutputPiece("", text.getvalue().encode("utf-8", "backslashreplace"))


def _harmless(cell: str) -> str:
    """Returns a cell that no spreadsheet takes for a formula: with an apostrophe before it."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t")) else cell

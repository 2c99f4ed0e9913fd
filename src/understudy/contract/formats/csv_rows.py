"""CSV (RFC 4180) for the import of a test-management tool: a row a case."""

import base64
import csv
from collections.abc import Iterable
from io import StringIO

from understudy.contract.edge_cases.case import Case
from understudy.contract.formats.writing import Job, Piece, Pieces, plain_text

COLUMNS = (
    *("id", "title", "operation", "category", "kind", "part", "source", "method", "url"),
    *("headers", "body", "body_encoding", "expected", "because", "outcome"),
)


def write(cases: Iterable[Case], job: Job) -> Pieces:
    """Yields the head, and a row a case."""
    yield _row(COLUMNS)
    for case in cases:
        yield _row(_cells(case, job))


def _cells(case: Case, job: Job) -> tuple[str, ...]:
    request = case.request.filled(job.secrets)
    body = plain_text(request.body)
    encoding = "" if request.body is None else "text" if body is not None else "base64"
    if encoding == "base64":
        body = base64.b64encode(request.body or b"").decode()
    return (
        *(case.id, case.description, case.operation, case.category, case.kind, case.part),
        *(case.source, request.method, job.base_urls[request.site] + request.target),
        "\n".join(f"{name}: {text}" for name, text in request.headers),
        *(body or "", encoding, " or ".join(case.expected.statuses), case.expected.because),
        case.outcome,
    )


def _row(cells: Iterable[str]) -> Piece:
    text = StringIO()
    csv.writer(text).writerow([_harmless(cell) for cell in cells])
    return Piece("", text.getvalue().encode("utf-8", "backslashreplace"))


def _harmless(cell: str) -> str:
    """Returns a cell that no spreadsheet takes for a formula: with an apostrophe before it."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t")) else cell

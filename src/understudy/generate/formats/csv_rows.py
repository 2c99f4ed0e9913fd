"""CSV (RFC 4180) for the import of a test-management tool: one row per case."""

import csv
from collections.abc import Iterable
from io import StringIO

from understudy.generate.cases import Case
from understudy.generate.formats.export import (
    ExportSettings,
    OutputPiece,
    OutputPieces,
    body_in_braces,
    byte_runs,
    in_braces,
    plain_text,
)
from understudy.generate.test_data import AVATAR_ID, CLIENT_TOKEN, CODE

COLUMNS = (
    *("id", "title", "operation", "category", "kind", "part", "source", "set_up", "method", "url"),
    *("headers", "body", "body_encoding", "expected", "because", "outcome"),
)

_OBTAINED = {
    AVATAR_ID: "an avatar that is uploaded",
    CODE: "the redirect of an authorization that is approved",
    CLIENT_TOKEN: "the response to a password grant that is sent",
}


def write(cases: Iterable[Case], settings: ExportSettings) -> OutputPieces:
    """Yields the header, and a row for each case."""
    yield _row(COLUMNS)
    for case in cases:
        yield _row(_cells(case, settings))


def _cells(case: Case, settings: ExportSettings) -> tuple[str, ...]:
    request = case.request.filled(settings.secrets)
    body, encoding = _body(body_in_braces(request.body))
    return (
        *(case.id, case.description, case.operation, case.category, case.kind, case.part),
        *(case.source, _set_up(case), request.method),
        in_braces(settings.base_urls[request.site] + request.target),
        "\n".join(f"{name}: {in_braces(text)}" for name, text in request.headers),
        *(body, encoding, " or ".join(case.expected.statuses), case.expected.because),
        case.outcome,
    )


def _set_up(case: Case) -> str:
    if case.set_up is None:
        return ""
    share = "once for the operation" if case.set_up.is_shared else "for this case"
    name, member = case.set_up.variable, case.set_up.member
    return f"{name} is the {member} of {_OBTAINED[name]} {share}"


def _body(content: bytes | None) -> tuple[str, str]:
    """Returns a body as a cell and its encoding; a large body as pieces with their repetitions."""
    text = plain_text(content)
    if content is None or text is not None:
        return text or "", "" if content is None else "text"
    first, *others = byte_runs(content)
    if not others:
        return first.in_base64, "base64"
    return " ".join(f"{run.in_base64}*{run.times}" for run in (first, *others)), "base64 pieces"


def _row(cells: Iterable[str]) -> OutputPiece:
    text = StringIO()
    csv.writer(text).writerow([quoted(cell) for cell in cells])
    return OutputPiece("", text.getvalue().encode("utf-8", "backslashreplace"))


def quoted(cell: str) -> str:
    """Returns a cell that no spreadsheet reads as a formula: such a cell gets an apostrophe."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else cell

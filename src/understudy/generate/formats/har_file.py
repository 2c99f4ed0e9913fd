"""HAR 1.2, for browsers' tools and proxies; responses are empty, because nothing was sent yet.

HAR has no variables, so they are written as ``{{NAME}}``, which the tools that import a HAR know. A
body that is not text is in base64, marked by ``_encoding``: HAR 1.2 allows custom names with ``_``.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from typing import Any
from urllib.parse import unquote_plus

from understudy.cases.drafts import dumps
from understudy.cases.model import LARGE, Case, CaseRequest, SetUp
from understudy.exchange import har
from understudy.generate.formats import export

_HEAD, _FOOT = dumps(har.archive("understudy", ())).split("[]")
"""The text before and after the entries, which are written one by one."""

_EPOCH = "1970-01-01T00:00:00.000Z"
"""The time of a request that was not sent; a real time would make every run's bytes differ."""


def write(cases: Iterable[Case], settings: export.ExportSettings) -> export.OutputPieces:
    """Yields one log."""
    yield export.OutputPiece("", f"{_HEAD}[\n".encode())
    separators = chain([""], repeat(",\n"))

    def piece(request: CaseRequest, **more: Any) -> export.OutputPiece:
        entry = har.entry(_EPOCH, 0, _request(request, settings), har.response(0), **more)
        return export.OutputPiece("", (next(separators) + dumps(entry)).encode())

    def pieces(case: Case, set_up: SetUp | None) -> Iterator[export.OutputPiece]:
        what = {"id": case.id, "kind": case.kind, "expected": list(case.expected.statuses)}
        if set_up is not None:
            kept = {"variable": set_up.variable, "member": set_up.member}
            yield piece(set_up.request, comment=export.SET_UP, _set_up=kept)
        yield piece(
            case.request, comment=f"{export.title(case)}: {export.comment(case)}", _case=what
        )

    yield from export.written(cases, _reason, pieces)
    yield export.OutputPiece("", f"\n]{_FOOT}\n".encode())


def _reason(case: Case) -> str:
    is_large = len(case.request.body or b"") > LARGE
    return "a body of megabytes, which a HAR would hold in base64" if is_large else ""


def _request(case_request: CaseRequest, settings: export.ExportSettings) -> dict[str, Any]:
    request = case_request.filled(settings.secrets)
    return har.request(
        request.method,
        export.in_braces(settings.base_urls[request.site] + request.target),
        [(name, export.in_braces(text)) for name, text in request.headers],
        [(_decoded(name), export.in_braces(_decoded(text or ""))) for name, text in request.query],
        None if request.body is None else _posted(request.body),
        len(request.body or b""),
    )


def _posted(body: bytes) -> dict[str, str]:
    text = export.plain_text(body)
    return har.posted_text(body if text is None else export.in_braces(text).encode())


def _decoded(text: str) -> str:
    return unquote_plus(text, errors="replace")

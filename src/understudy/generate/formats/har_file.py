"""HAR 1.2, for browsers' tools and proxies; answers are empty, as nothing was sent yet.

HAR has no variables, so secrets stand as ``${TOKEN}``. A body that is no text stands in base64 with
``_encoding`` beside it, a name that HAR 1.2 leaves to whoever writes it.
"""

from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote_plus

from understudy import http_archive as har
from understudy.generate.cases import LARGE, Case
from understudy.generate.drafts import dumps
from understudy.generate.formats.export import (
    HIDDEN,
    ExportSettings,
    OmittedCase,
    OutputPiece,
    OutputPieces,
    comment,
    hides_secret,
    plain_text,
    with_variables,
)

_HEAD, _FOOT = dumps(har.archive("understudy", ())).split("[]")
"""What stands around the entries, which are written one by one."""

_EPOCH = "1970-01-01T00:00:00.000Z"
"""When nothing was sent: any time would do, and one that changes would change the bytes."""


def write(cases: Iterable[Case], settings: ExportSettings) -> OutputPieces:
    """Yields one log."""
    yield OutputPiece("", f"{_HEAD}[\n".encode())
    joint = ""
    for case in cases:
        reason = HIDDEN if hides_secret(case) else ""
        if len(case.request.body or b"") > LARGE:
            reason = "a body of megabytes, which a HAR would hold in base64"
        if reason:
            yield OmittedCase(case, reason)
            continue
        yield OutputPiece("", (joint + dumps(_entry(case, settings))).encode())
        joint = ",\n"
    yield OutputPiece("", f"\n]{_FOOT}\n".encode())


def _entry(case: Case, settings: ExportSettings) -> dict[str, Any]:
    return har.entry(
        _EPOCH,
        0,
        _request(case, settings),
        har.response(0),
        comment=f"{case.id}: {comment(case)}",
        _case={"id": case.id, "kind": case.kind, "expected": list(case.expected.statuses)},
    )


def _request(case: Case, settings: ExportSettings) -> dict[str, Any]:
    request = case.request.filled(settings.secrets)
    return har.request(
        request.method,
        _said(settings.base_urls[request.site] + request.target),
        [(name, _said(text)) for name, text in request.headers],
        [(_decoded(name), _said(_decoded(text or ""))) for name, text in request.query],
        None if request.body is None else _posted(request.body),
        len(request.body or b""),
    )


def _posted(body: bytes) -> dict[str, str]:
    text = plain_text(body)
    return har.posted_text(body if text is None else _said(text).encode())


def _decoded(text: str) -> str:
    return unquote_plus(text, errors="replace")


def _said(text: str) -> str:
    return with_variables(text, lambda name: "${" + name.upper() + "}")

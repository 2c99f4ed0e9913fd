"""HAR 1.2, for browsers' tools and proxies; answers are empty, as nothing was sent yet.

HAR has no variables, so secrets stand as ``${TOKEN}``. A body that is no text stands in base64 with
``_encoding`` beside it, a name that HAR 1.2 leaves to whoever writes it.
"""

import base64
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote_plus

from understudy.contract.edge_cases.case import Case
from understudy.contract.edge_cases.drafts import dumps
from understudy.contract.formats.writing import (
    HIDDEN,
    Job,
    LeftOut,
    Piece,
    Pieces,
    comment,
    hides_secret,
    plain_text,
    with_variables,
)

_HEAD = (
    '{"log": {"version": "1.2", "creator": {"name": "understudy", "version": "1"}, "entries": [\n'
)
_EPOCH = "1970-01-01T00:00:00.000Z"
"""When nothing was sent: any time would do, and one that changes would change the bytes."""


def write(cases: Iterable[Case], job: Job) -> Pieces:
    """Yields one log."""
    yield Piece("", _HEAD.encode())
    joint = ""
    for case in cases:
        if hides_secret(case):
            yield LeftOut(case, HIDDEN)
            continue
        yield Piece("", (joint + dumps(_entry(case, job))).encode())
        joint = ",\n"
    yield Piece("", b"\n]}}\n")


def _entry(case: Case, job: Job) -> dict[str, Any]:
    return {
        "startedDateTime": _EPOCH,
        "time": 0,
        "comment": f"{case.id}: {comment(case)}",
        "_case": {"id": case.id, "kind": case.kind, "expected": list(case.expected.statuses)},
        "request": _request(case, job),
        "response": {
            "status": 0,
            "statusText": "",
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": [],
            "content": {"size": 0, "mimeType": "x-unknown"},
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": -1,
        },
        "cache": {},
        "timings": {"send": 0, "wait": 0, "receive": 0},
    }


def _request(case: Case, job: Job) -> dict[str, Any]:
    request = case.request.filled(job.secrets)
    filled = {
        "method": request.method,
        "url": _said(job.base_urls[request.site] + request.target),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": [{"name": name, "value": _said(text)} for name, text in request.headers],
        "queryString": [
            {"name": _decoded(name), "value": _said(_decoded(text or ""))}
            for name, text in request.query
        ],
        "headersSize": -1,
        "bodySize": len(request.body or b""),
    }
    if request.body is not None:
        types = [text for name, text in request.headers if name.lower() == "content-type"]
        filled["postData"] = {"mimeType": types[0] if types else "", **_text(request.body)}
    return filled


def _text(body: bytes) -> dict[str, str]:
    text = plain_text(body)
    if text is None:
        return {"text": base64.b64encode(body).decode(), "_encoding": "base64"}
    return {"text": _said(text)}


def _decoded(text: str) -> str:
    return unquote_plus(text, errors="replace")


def _said(text: str) -> str:
    return with_variables(text, lambda name: "${" + name.upper() + "}")

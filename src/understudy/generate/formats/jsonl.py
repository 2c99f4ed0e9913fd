"""JSON Lines: one case a line, as ``case.schema.json`` beside this module describes it."""

from collections.abc import Iterable
from typing import Any

from understudy.generate.cases import Case
from understudy.generate.drafts import dumps
from understudy.generate.formats.export import (
    ExportSettings,
    OutputPiece,
    OutputPieces,
    byte_runs,
    plain_text,
)


def write(cases: Iterable[Case], settings: ExportSettings) -> OutputPieces:
    """Yields a line a case."""
    for case in cases:
        yield OutputPiece("", f"{dumps(said(case, settings))}\n".encode())


def said(case: Case, settings: ExportSettings) -> dict[str, Any]:
    """Returns a case as JSON has it; secrets stand as ``~~name~~`` unless they may be written."""
    request = case.request.filled(settings.secrets)
    return {
        "id": case.id,
        "operation": case.operation,
        "description": case.description,
        "category": case.category,
        "part": case.part,
        "source": case.source,
        "kind": case.kind,
        "request": {
            "site": request.site,
            "method": request.method,
            "url": settings.base_urls[request.site] + request.target,
            "headers": [[name, text] for name, text in request.headers],
            "body": body(request.body),
        },
        "variables": list(request.variables),
        "expected": {
            "statuses": list(case.expected.statuses),
            "because": case.expected.because,
            "location": case.expected.location,
        },
        **({"outcome": case.outcome} if case.outcome else {}),
    }


def body(content: bytes | None) -> dict[str, Any] | None:
    """Returns a body as text where it is text, in base64 where it is not, in pieces where it is large."""
    if content is None:
        return None
    text = plain_text(content)
    if text is not None:
        return {"text": text}
    first, *others = byte_runs(content)
    if not others:
        return {"base64": first.in_base64}
    pieces = ({"base64": run.in_base64, "times": run.times} for run in (first, *others))
    return {"pieces": [*pieces]}

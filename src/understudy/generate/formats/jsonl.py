"""JSON Lines: one case a line, as ``case.schema.json`` beside this module describes it."""

from collections.abc import Iterable
from typing import Any

from understudy.cases.drafts import dumps
from understudy.cases.model import Case, CaseRequest
from understudy.generate.formats import export


def write(cases: Iterable[Case], settings: export.ExportSettings) -> export.OutputPieces:
    """Yields a line for each case."""
    for case in cases:
        yield export.OutputPiece("", f"{dumps(as_json(case, settings))}\n".encode())


def as_json(case: Case, settings: export.ExportSettings) -> dict[str, Any]:
    """Returns a case as JSON; secrets are ``{{NAME}}`` unless they may be written."""
    request = case.request.filled(settings.secrets)
    return {
        "id": case.id,
        "operation": case.operation,
        "description": case.description,
        "category": case.category,
        "part": case.part,
        "source": case.source,
        "kind": case.kind,
        **_set_up(case, settings),
        "request": _request(request, settings),
        "variables": list(request.variables),
        "expected": {
            "statuses": list(case.expected.statuses),
            "because": case.expected.because,
            "location": case.expected.location,
        },
        **_step(case),
        **({"outcome": case.outcome} if case.outcome else {}),
    }


def _set_up(case: Case, settings: export.ExportSettings) -> dict[str, Any]:
    if case.set_up is None:
        return {}
    request = _request(case.set_up.request.filled(settings.secrets), settings)
    shared = case.set_up.is_shared
    return {
        "set_up": {
            "variable": case.set_up.variable,
            "member": case.set_up.member,
            "is_shared": shared,
            "request": request,
        }
    }


def _step(case: Case) -> dict[str, Any]:
    step = case.step
    if step is None:
        return {}
    place = {"sequence": step.sequence, "title": step.title, "number": step.number}
    return {"step": {**place, **step.as_json()}}


def _request(request: CaseRequest, settings: export.ExportSettings) -> dict[str, Any]:
    return {
        "site": request.site,
        "method": request.method,
        "url": export.in_braces(settings.base_urls[request.site] + request.target),
        "headers": [[name, export.in_braces(text)] for name, text in request.headers],
        "body": body(export.body_in_braces(request.body)),
    }


def body(content: bytes | None) -> dict[str, Any] | None:
    """Returns a body as text, in base64 if it is not plain text, or in pieces if it is large."""
    if content is None:
        return None
    text = export.plain_text(content)
    if text is not None:
        return {"text": text}
    first, *others = export.byte_runs(content)
    if not others:
        return {"base64": first.in_base64}
    pieces = ({"base64": run.in_base64, "times": run.times} for run in (first, *others))
    return {"pieces": [*pieces]}

"""JSON Lines: one case a line, as ``case.schema.json`` beside this module describes it."""

import base64
from collections.abc import Iterable
from typing import Any

from understudy.contract.edge_cases.case import Case
from understudy.contract.edge_cases.drafts import dumps
from understudy.contract.formats.writing import Job, Piece, Pieces, plain_text


def write(cases: Iterable[Case], job: Job) -> Pieces:
    """Yields a line a case."""
    for case in cases:
        yield Piece("", f"{dumps(said(case, job))}\n".encode())


def said(case: Case, job: Job) -> dict[str, Any]:
    """Returns a case as JSON has it; secrets stand as ``~~name~~`` unless they may be written."""
    request = case.request.filled(job.secrets)
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
            "url": job.base_urls[request.site] + request.target,
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


def body(content: bytes | None) -> dict[str, str] | None:
    """Returns a body as text where it is text, in base64 where it is not."""
    if content is None:
        return None
    text = plain_text(content)
    if text is None:
        return {"base64": base64.b64encode(content).decode()}
    return {"text": text}

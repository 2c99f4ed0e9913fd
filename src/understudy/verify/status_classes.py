"""Opens the exact statuses of the bundled documents to classes, for judging real deployments.

The bundled documents name the exact statuses of the mock. The interface gives few of them: of the
others, which are marked with ``x-status: assumed``, a deployment may choose any of the same class,
and it may refuse a request with any status.
"""

from typing import Any

from understudy.openapi.loader import Document

MARK = "x-status"


def with_status_classes(document: Document) -> Document:
    """Returns the document with ``2XX`` beside assumed statuses, and ``default`` for refusals."""
    paths = {
        path: {
            method: _opened(operation) if "responses" in operation else operation
            for method, operation in item.items()
        }
        for path, item in document.raw["paths"].items()
    }
    return Document(document.path, {**document.raw, "paths": paths})


def _opened(operation: dict[str, Any]) -> dict[str, Any]:
    responses = operation["responses"]
    classes = {
        f"{status[0]}XX": response
        for status, response in responses.items()
        if response.get(MARK) == "assumed"
    }
    refusals = (responses[status] for status in sorted(responses) if status.startswith("4"))
    refusal = next(refusals, {"description": "A refusal, or a failure."})
    return {**operation, "responses": {**responses, **classes, "default": refusal}}

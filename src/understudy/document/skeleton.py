"""The 3.0.3 view of a document that Connexion routes on.

Connexion refuses OpenAPI 3.1 and parts of 3.0, and converting schemas down fails on real documents.
Routing needs no schemas: only paths, methods and whether anything is asked of the caller. That much
is generated, and the validators come from the original (``schemas``).
"""

from collections.abc import Sequence
from typing import Any

from understudy.document.operations import Operation, Parameter

SCHEME = "bearer"
"""The one security scheme of a skeleton: whatever the document asks for, one place decides it."""


def routing_id(operation: Operation) -> str:
    """Returns the operationId that the skeleton gives: unique even where the document's is not."""
    return f"{operation.method} {operation.path}"


def skeleton(operations: Sequence[Operation]) -> dict[str, Any]:
    """Returns a document that Connexion accepts, with the same paths and methods."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.0.3",
        "info": {"title": "skeleton", "version": "0"},
        "paths": paths,
        "components": {"securitySchemes": {SCHEME: {"type": "http", "scheme": "bearer"}}},
    }


def _operation(operation: Operation) -> dict[str, Any]:
    return {
        "operationId": routing_id(operation),
        "parameters": [_path_parameter(p) for p in operation.parameters if p.location == "path"],
        "responses": {"default": {"description": "see the original"}},
        "security": [{SCHEME: []}] if operation.security else [],
    }


def _path_parameter(parameter: Parameter) -> dict[str, Any]:
    return {"name": parameter.name, "in": "path", "required": True, "schema": {"type": "string"}}

"""Hypothesis strategies for the schemas and operations of the bundled documents.

For property tests of a client: drawn values are valid by the document. Schemathesis generates them;
as its public interface takes operations, a schema is drawn as the body of a made-up operation.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import schemathesis
from hypothesis.strategies import SearchStrategy
from schemathesis.generation import GenerationMode

from understudy.errors import nearest
from understudy.openapi.loader import bundled_document

DOCUMENTS = ("service.yaml", "authorization.yaml")

_PATH = "/drawn"


class CallArguments(NamedTuple):
    """The arguments of a valid call of an operation.

    Attributes:
        path: Path parameters by name.
        query: Query parameters by name.
        headers: Header parameters by name.
        body: Value of the body; None if the operation takes none, or none was drawn.
    """

    path: Mapping[str, Any]
    query: Mapping[str, Any]
    headers: Mapping[str, Any]
    body: Any


def named(name: str) -> Callable[[], SearchStrategy[Any]]:
    """Returns the function that makes the strategy of a schema or operation, by its snake-case name.

    Raises:
        AttributeError: There is no such strategy; the message names the nearest.
    """
    schemas, operations = _schemas(), _operations()
    if name in schemas:
        document, original = schemas[name]
        return lambda: _of_schema(document, original)
    if name in operations:
        document, path, method = operations[name]
        return lambda: _strategy(bundled_document(document).raw, path, method).map(_arguments)
    msg = f"There is no strategy {name!r}{nearest(name, names())}"
    raise AttributeError(msg)


def names() -> list[str]:
    """Returns the names of every strategy."""
    return [*_schemas(), *_operations()]


@cache  # the bundled documents do not change
def _schemas() -> dict[str, tuple[str, str]]:
    return {
        _snake(name): (document, name)
        for document in reversed(DOCUMENTS)
        for name in bundled_document(document).raw.get("components", {}).get("schemas", {})
    }


@cache  # the bundled documents do not change
def _operations() -> dict[str, tuple[str, str, str]]:
    return {
        _snake(operation["operationId"]): (document, path, method)
        for document in DOCUMENTS
        for path, item in bundled_document(document).raw["paths"].items()
        for method, operation in item.items()
        if "operationId" in operation
    }


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _of_schema(document: str, name: str) -> SearchStrategy[Any]:
    raw = bundled_document(document).raw
    schema = {"$ref": f"#/components/schemas/{name}"}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    operation = {"requestBody": body, "responses": {"200": {"description": "drawn"}}}
    alone = {**raw, "paths": {_PATH: {"post": operation}}}
    drawn = _strategy(alone, _PATH, "post")
    return drawn.map(lambda case: case.body)


def _strategy(raw: dict[str, Any], path: str, method: str) -> SearchStrategy[Any]:
    operation = schemathesis.openapi.from_dict(raw)[path][method.upper()]
    strategy: SearchStrategy[Any] = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    return strategy


def _arguments(case: Any) -> CallArguments:
    has_body = case.media_type is not None
    return CallArguments(
        dict(case.path_parameters or {}),
        dict(case.query or {}),
        dict(case.headers or {}),
        case.body if has_body else None,
    )

"""Tells whether a document allows a request: its parameters, and its body where that is JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from understudy.exchange.messages import NO_JSON, Exchange
from understudy.interface.operations import key_of
from understudy.openapi.declared_parameters import Parameter
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Document
from understudy.openapi.operations import Operation, operations
from understudy.openapi.schemas import Schemas
from understudy.verify.document_checks import typed_text

COMPOSED = frozenset({"array", "object"})
"""Types of parameters whose texts are written in a style of their own; they are not judged."""


class DeclaredRequests:
    """The requests that a deployment's own document allows.

    Args:
        document: The document in force.
    """

    def __init__(self, document: Document) -> None:
        self._schemas = Schemas(document)
        self._operations = {key_of(each.method, each.path): each for each in operations(document)}

    def allows(self, exchange: Exchange) -> bool:
        """Tells whether the document allows a request; what it does not declare, it allows."""
        operation = self._operations.get(exchange.operation)
        if operation is None:
            return True
        texts = _texts(exchange, operation)
        return all(
            self._allows(parameter, texts[parameter.location].get(parameter.name, ()))
            for parameter in operation.parameters
            if parameter.location in texts
        ) and self._allows_body(exchange, operation)

    def _allows(self, parameter: Parameter, texts: Sequence[str]) -> bool:
        types = self._schemas.types(parameter.schema)
        if not texts or parameter.schema is None or parameter.is_json or types & COMPOSED:
            return bool(texts) or not parameter.required
        validator = self._schemas.validator(parameter.schema)
        return all(validator.is_valid(typed_text(text, types)) for text in texts)

    def _allows_body(self, exchange: Exchange, operation: Operation) -> bool:
        body = operation.request_body
        media = body.content.get("application/json") if body is not None else None
        if media is None or media.schema is None or exchange.request.json is NO_JSON:
            return True
        return bool(self._schemas.validator(media.schema).is_valid(exchange.request.json))


def _texts(exchange: Exchange, operation: Operation) -> dict[str, dict[str, list[str]]]:
    """Returns the texts of the query and of the path, by the names of their parameters."""
    query: dict[str, list[str]] = {}
    for name, text in exchange.request.pairs:
        query.setdefault(name, []).append(text)
    return {"query": query, "path": dict(_path_texts(exchange, operation))}


def _path_texts(exchange: Exchange, operation: Operation) -> Iterator[tuple[str, list[Any]]]:
    names = PATH_PARAMETER.findall(operation.path)
    for name, text in zip(names, exchange.values, strict=False):  # a recording may lack them
        yield name, [text]

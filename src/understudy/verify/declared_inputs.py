"""Reads from the document in force what a deployment takes as input, and which requests it allows.

The interface calls the field of an upload ``data``, leaves the bounds of texts and QR codes open,
and the word for the service's own logo; the published definition is the authority for all of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from understudy.exchange.messages import NO_JSON, Exchange
from understudy.interface.declared_inputs import DeclaredInputs
from understudy.interface.operations import QR_CODE, UPDATE_PROFILE, UPLOAD_AVATAR, key_of
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Document, Node
from understudy.openapi.operations import Operation, Parameter, operations
from understudy.openapi.schemas import Schemas
from understudy.verify.document_checks import typed_text

STATED: Final = DeclaredInputs()
FORM: Final = "multipart/form-data"
JSON: Final = "application/json"


def declared_inputs(document: Document) -> DeclaredInputs:
    """Returns the inputs that a document declares; the interface's where it declares none."""
    declared = {key_of(each.method, each.path): each for each in operations(document)}
    size = _query_schema(document, declared.get(QR_CODE), "size")
    icons = _query_schema(document, declared.get(QR_CODE), "type").get("enum")
    return DeclaredInputs(
        upload_field=_upload_field(document, declared.get(UPLOAD_AVATAR)),
        qr_types=tuple(map(str, icons)) if icons else STATED.qr_types,
        least_qr_size=_whole(size.get("minimum")),
        largest_qr_size=_whole(size.get("maximum")),
        longest=_longest(document, declared.get(UPDATE_PROFILE)),
    )


def _upload_field(document: Document, operation: Operation | None) -> str:
    names = _binary_members(document, operation) if operation is not None else []
    return STATED.upload_field if STATED.upload_field in names or not names else names[0]


def _binary_members(document: Document, operation: Operation) -> list[str]:
    schema = _body_schema(operation, FORM)
    properties = document.follow(schema).child("properties") if schema is not None else None
    members = properties.children() if properties is not None else ()
    return [str(name) for name, schema in members if _is_binary(document.follow(schema))]


def _is_binary(schema: Node) -> bool:
    """Tells whether a schema is of bytes: ``format: binary``, or a media type (OpenAPI 3.1)."""
    if not isinstance(schema.value, dict):
        return False
    return schema.value.get("format") == "binary" or "contentMediaType" in schema.value


def _body_schema(operation: Operation, media_type: str) -> Node | None:
    body = operation.request_body
    media = body.content.get(media_type) if body is not None else None
    return media.schema if media is not None else None


def _query_schema(document: Document, operation: Operation | None, name: str) -> Mapping[str, Any]:
    """Returns the keywords of a query parameter's schema; empty where it is not declared."""
    for parameter in operation.parameters if operation is not None else ():
        is_named = (parameter.name, parameter.location) == (name, "query")
        if is_named and parameter.schema is not None:
            value = document.follow(parameter.schema).value
            return value if isinstance(value, dict) else {}
    return {}


def _longest(document: Document, operation: Operation | None) -> dict[str, int]:
    schema = _body_schema(operation, JSON) if operation is not None else None
    if schema is None:
        return {}
    schemas = Schemas(document)
    members = {
        name: schemas.property_schema(schema, name) for name in schemas.property_names(schema)
    }
    bounds = {
        name: _whole(member.value.get("maxLength"))
        for name, member in members.items()
        if member is not None and isinstance(member.value, dict)
    }
    return {name: bound for name, bound in bounds.items() if bound is not None}


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) else None


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

"""Reads from the document in force what a deployment takes as input, where the interface is silent.

The interface calls the field of an upload ``data``, leaves the bounds of texts and QR codes open,
and the word for the service's own logo; the published definition is the authority for all of them.
"""

from collections.abc import Mapping
from typing import Any, Final

from understudy.interface.declared_inputs import DeclaredInputs
from understudy.interface.operations import QR_CODE, UPDATE_PROFILE, UPLOAD_AVATAR, key_of
from understudy.openapi.loader import Document, Node
from understudy.openapi.operations import Operation, operations
from understudy.openapi.schemas import Schemas

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

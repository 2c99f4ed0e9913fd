"""Finds the name of the field that an upload sends its picture under, in the document in force.

The interface calls it ``data``; the published definition is its authority, and other deployments
were seen to call it ``image``.
"""

from typing import Final

from understudy.interface.operations import UPLOAD_AVATAR, key_of
from understudy.openapi.loader import Document, Node
from understudy.openapi.operations import Operation, operations

STATED: Final = "data"
FORM: Final = "multipart/form-data"


def upload_field(document: Document) -> str:
    """Returns the field's name in a document; the interface's where the document has none."""
    for operation in operations(document):
        if key_of(operation.method, operation.path) == UPLOAD_AVATAR:
            names = _binary_members(document, operation)
            return STATED if STATED in names or not names else names[0]
    return STATED


def _binary_members(document: Document, operation: Operation) -> list[str]:
    body = operation.request_body
    form = body.content.get(FORM) if body else None
    if form is None or form.schema is None:
        return []
    properties = document.follow(form.schema).child("properties")
    members = properties.children() if properties is not None else ()
    return [str(name) for name, schema in members if _is_binary(document.follow(schema))]


def _is_binary(schema: Node) -> bool:
    """Tells whether a schema is of bytes: ``format: binary``, or a media type (OpenAPI 3.1)."""
    if not isinstance(schema.value, dict):
        return False
    return schema.value.get("format") == "binary" or "contentMediaType" in schema.value

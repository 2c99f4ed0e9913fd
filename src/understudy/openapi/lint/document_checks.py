"""Finds contradictions between the parts of a document: paths, bodies, security."""

from collections.abc import Iterator

from understudy.openapi.diagnostics import Diagnostic
from understudy.openapi.lint.contradictions import contradiction
from understudy.openapi.loader import Document, Node
from understudy.openapi.operations import Operation, operations
from understudy.openapi.pointers import escape
from understudy.openapi.schemas import Schemas
from understudy.openapi.skeleton import routed_path


def check_document(document: Document, schemas: Schemas) -> Iterator[Diagnostic]:
    """Yields the contradictions between parts of a document."""
    declared = operations(document)
    yield from _check_paths(declared)
    yield from _check_security(document, declared)
    for operation in declared:
        yield from _check_request(schemas, operation)


def _check_paths(declared: tuple[Operation, ...]) -> Iterator[Diagnostic]:
    first: dict[tuple[str, str], str] = {}
    for operation in declared:
        path = first.setdefault((operation.method, routed_path(operation)), operation.path)
        if path != operation.path:
            message = f"{operation.method} requests that fit {operation.path!r} go to {path!r}."
            yield contradiction("unreachable-path", operation.pointer, message)


def _check_security(document: Document, declared: tuple[Operation, ...]) -> Iterator[Diagnostic]:
    listed = document.root.child("components", "securitySchemes") or Node("", {})
    used = set()
    for operation in declared:
        names = {name for alternative in operation.security for name in alternative}
        used |= names
        for name in sorted(names - set(listed.value)):
            message = f"{name!r} is not a security scheme of the document."
            yield contradiction("undeclared-security-scheme", operation.pointer, message)
    for name in listed.value:
        if name not in used:
            pointer = f"{listed.pointer}/{escape(name)}"
            yield contradiction("unused-security-scheme", pointer, f"no operation uses {name!r}.")


def _check_request(schemas: Schemas, operation: Operation) -> Iterator[Diagnostic]:
    content = operation.request_body.content if operation.request_body else {}
    for media in content.values():
        if media.schema is None:
            continue
        for name in dict.fromkeys(schemas.required_names(media.schema)):
            member = schemas.property_schema(media.schema, name)
            if member and isinstance(member.value, dict) and member.value.get("readOnly") is True:
                message = f"{name!r} is required and readOnly; requests need not have it."
                yield contradiction("required-read-only", member.pointer, message)

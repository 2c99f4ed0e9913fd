"""Lints one document: reads it, and looks at all that was read."""

from collections.abc import Iterator
from copy import deepcopy

from understudy.openapi.diagnostics import Diagnostic
from understudy.openapi.lint.contradictions import contradiction
from understudy.openapi.lint.document_checks import check_document
from understudy.openapi.lint.schema_checks import check_example, check_schema
from understudy.openapi.loader import Document, Node
from understudy.openapi.mending import mend
from understudy.openapi.pointers import steps_of, value_at
from understudy.openapi.schemas import Schemas

_ILLUSTRATED = ("media type", "parameter", "header")
"""Kinds of objects that have a schema and examples beside it."""


def lint(document: Document) -> list[Diagnostic]:
    """Returns the losses and the contradictions of a document, each once, in its order."""
    schemas = Schemas(document)
    found = [*document.losses, *check_document(document, schemas), *_checked(document, schemas)]
    return list(dict.fromkeys(found))


def _checked(document: Document, schemas: Schemas) -> Iterator[Diagnostic]:
    """Yields the contradictions in every object that the document reaches.

    Raises nothing, as the document was mended; the walk only tells what kind each object is of.
    """
    for pointer, kind in mend(deepcopy(document.raw), None).units:
        if kind == "schema":
            yield from check_schema(schemas, Node(pointer, value_at(document.raw, pointer)))
        elif kind in _ILLUSTRATED:
            yield from _illustrated(document, schemas, pointer, kind)


def _illustrated(
    document: Document, schemas: Schemas, pointer: str, kind: str
) -> Iterator[Diagnostic]:
    owner = document.follow(Node(pointer, value_at(document.raw, pointer)))
    schema = owner.child("schema")
    if schema is None:
        if kind == "media type" and "itemSchema" not in owner.value:
            message = "this media type has no schema, so any body is taken."
            yield contradiction("missing-schema", owner.pointer, message)
        return
    is_json = kind != "media type" or "json" in steps_of(pointer)[-1]
    for example in _examples(document, owner):
        # a text is the body as it is sent, which a schema describes once it is parsed
        if is_json or not isinstance(example.value, str):
            yield from check_example(schemas, schema, example)


def _examples(document: Document, owner: Node) -> Iterator[Node]:
    if "example" in owner.value:
        yield Node(f"{owner.pointer}/example", owner.value["example"])
    for _, named in (owner.child("examples") or Node("", {})).children():
        example = document.follow(named).child("value")
        if example is not None:
            yield example

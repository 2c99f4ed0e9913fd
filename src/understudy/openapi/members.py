"""Finds the schemas of members and items in whatever a schema is composed of."""

from collections.abc import Iterator

from understudy.openapi.loader import Node
from understudy.openapi.schemas import Schemas
from understudy.openapi.validators import COMPOSING

_MAX_DEPTH = 8
"""Levels of composition that are looked through; a schema may be composed of itself."""


def member_schema(schemas: Schemas, schema: Node | None, name: str) -> Node | None:
    """Returns the schema of a member, as the object or any part or alternative of it declares it."""
    parts = () if schema is None else _parts(schemas, schema)
    return next((it for part in parts if (it := part.child("properties", name))), None)


def item_schema(schemas: Schemas, schema: Node | None) -> Node | None:
    """Returns the schema of an array's items, as the array or any part or alternative declares it."""
    parts = () if schema is None else _parts(schemas, schema)
    return next((it for part in parts if (it := part.child("items"))), None)


def member_names(schemas: Schemas, schema: Node | None) -> list[str]:
    """Returns the names that an object, its parts and its alternatives declare."""
    parts = () if schema is None else _parts(schemas, schema)
    declared = (part.child("properties") for part in parts)
    return list(dict.fromkeys(str(name) for it in declared if it for name in it.value))


def _parts(schemas: Schemas, schema: Node, depth: int = 0) -> Iterator[Node]:
    node = schemas.follow(schema)
    yield node
    for keyword in COMPOSING if depth < _MAX_DEPTH else ():
        for _, part in (node.child(keyword) or Node("", [])).children():
            yield from _parts(schemas, part, depth + 1)

"""Finds items within the bodies that a document declares, whatever envelope they are in."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from understudy.errors import StartupError
from understudy.openapi.loader import Document, Node
from understudy.openapi.media_types import is_json
from understudy.openapi.operations import DeclaredResponse, MediaType, Operation
from understudy.openapi.resources.model import Steps
from understudy.openapi.resources.names import canonical

_FEW_MEMBERS: Final = 8
"""The most members of an object that is an envelope around an item."""

_DEEPEST: Final = 2
"""Levels of envelopes within one another."""

_NESTED: Final = 20
"""Levels of schemas that are composed of one another."""

_FORMS: Final = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})


class BodySchemas:
    """Reads the schemas of a document's bodies as members, through references and compositions.

    Args:
        document: The document.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._members: dict[str, dict[str, Node]] = {}

    def members(self, schema: Node | None) -> dict[str, Node]:
        """Returns the members of an object schema: its own, and those of every part of it."""
        if schema is None:
            return {}
        known = self._members.get(schema.pointer)
        if known is None:
            known = {}
            for part in self._parts(schema):
                properties = part.child("properties")
                if properties is not None and isinstance(properties.value, dict):
                    known = {**{str(k): node for k, node in properties.children()}, **known}
            self._members[schema.pointer] = known
        return known

    def keyword(self, schema: Node | None, name: str) -> Any:
        """Returns the first value of a keyword in the parts of a schema, or None."""
        for part in self._parts(schema) if schema else ():
            if name in part.value:
                return part.value[name]
        return None

    def types(self, schema: Node | None) -> frozenset[str]:
        """Returns the JSON types that a schema names, without ``null``; empty for any."""
        types: set[str] = set()
        for part in self._parts(schema) if schema else ():
            value = part.value.get("type", [])
            types |= {value} if isinstance(value, str) else set(map(str, value))
        return frozenset(types - {"null"})

    def items(self, schema: Node) -> Node | None:
        """Returns the schema of the items of an array schema, or None."""
        for part in self._parts(schema):
            items = part.child("items")
            if items is not None and isinstance(items.value, dict):
                return items
        return None

    def pointer(self, schema: Node) -> str:
        """Returns the place where a schema is defined: equal for two references to one schema."""
        return next((part.pointer for part in self._parts(schema)), schema.pointer)

    def _parts(self, schema: Node) -> Iterator[Node]:
        """Yields a schema without its reference, and all that it is composed of."""
        pending = [schema]
        seen: set[str] = set()
        while pending and len(seen) < _NESTED:
            try:
                part = self._document.follow(pending.pop(0))
            except StartupError:
                continue  # nothing is inferred from a reference that leads nowhere
            if not isinstance(part.value, dict) or part.pointer in seen:
                continue
            seen.add(part.pointer)
            yield part
            for keyword in ("allOf", "anyOf", "oneOf"):
                listed = part.child(keyword)
                if listed is not None and isinstance(listed.value, list):
                    pending += [node for _, node in listed.children()]

    def opened(self, schema: Node | None, names: Sequence[str]) -> tuple[Steps, Node | None]:
        """Opens the envelope around an item.

        Args:
            schema: The schema of a body.
            names: Canonical names of members that identify an item.

        Returns:
            The steps to the item, and its schema.
        """
        return self._opened(schema, frozenset(names), _DEEPEST) or ((), schema)

    def _opened(
        self, schema: Node | None, names: frozenset[str], depth: int
    ) -> tuple[Steps, Node] | None:
        members = self.members(schema)
        if schema is None or not members or names & {canonical(name) for name in members}:
            return None if schema is None or not members else ((), schema)
        if not depth or len(members) > _FEW_MEMBERS:
            return None
        for name, member in members.items():
            if "array" not in self.types(member) and self.members(member):
                inner = self._opened(member, names, depth - 1)
                if inner is not None:
                    return (name, *inner[0]), inner[1]
        return None

    def arrays(self, schema: Node | None, depth: int = _DEEPEST) -> Iterator[tuple[Steps, Node]]:
        """Yields the places of lists of objects in a body, with the schema of their items."""
        if schema is None:
            return
        if "array" in self.types(schema):
            items = self.items(schema)
            if items is not None:
                yield (), items
            return
        if depth:
            for name, member in self.members(schema).items():
                for steps, items in self.arrays(member, depth - 1):
                    yield (name, *steps), items


def _is_json(media_type: str) -> bool:
    return is_json(media_type) or media_type == "*/*"


def success(operation: Operation) -> tuple[int, DeclaredResponse] | None:
    """Returns the lowest success that an operation declares, with its status; else its default."""
    declared = sorted(status for status in operation.responses if status.startswith("2"))
    if declared:
        status = declared[0]
        return int(status) if status.isdecimal() else 200, operation.responses[status]
    default = operation.responses.get("default")
    return None if default is None else (200, default)


def response_schema(operation: Operation | None) -> Node | None:
    """Returns the schema of the JSON body of the first success that has one."""
    if operation is None:
        return None
    statuses = sorted(status for status in operation.responses if status.startswith("2"))
    for status in statuses:
        for media_type, media in operation.responses[status].content.items():
            if _is_json(media_type) and media.schema is not None:
                return media.schema
    return None


def request_schema(operation: Operation | None) -> Node | None:
    """Returns the schema of the JSON body or of the form that an operation takes, or None."""
    media = None if operation is None else request_media(operation)
    return None if media is None else media.schema


def request_media(operation: Operation) -> MediaType | None:
    """Returns the JSON body that an operation takes, or else its form; None without either."""
    content = operation.request_body.content if operation.request_body else {}
    by_json = [media for name, media in content.items() if _is_json(name)]
    by_form = [media for name, media in content.items() if name in _FORMS]
    return next(iter((*by_json, *by_form)), None)

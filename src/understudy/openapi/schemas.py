"""Queries the schemas of a document: their validators, types, members, and ``readOnly`` flags."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any, Final, Literal

from understudy.errors import StartupError
from understudy.openapi.composition import COMPOSING
from understudy.openapi.loader import LITERALS, NAME_MAPS, Document, Node, once_per_document
from understudy.openapi.pointers import objects_in
from understudy.openapi.validators import Compiler, SchemaValidator

# Requests need not send ``readOnly`` members even if they are required, and responses need not have
# ``writeOnly`` ones (OpenAPI 3.0.3, Schema Object).

Flag = Literal["readOnly", "writeOnly"]
FLAGS: Final[tuple[Flag, ...]] = ("readOnly", "writeOnly")

_MAX_DEPTH = 8
"""Levels of composition that are followed, as a schema may contain itself."""

_MOST_PARTS = 200
"""Largest number of parts of a composed schema that are visited."""

ALL: Final = ("allOf",)
"""The only composing keyword whose subschemas apply to every value."""

_COMPOSED = frozenset({*COMPOSING, "if", "then", "else"})

Follow = Callable[[Node], Node]


def is_flagged(member: Node, flag: Flag, follow: Follow, depth: int = 0) -> bool:
    """Tells whether a member's schema has a flag, directly, through a reference, or in ``allOf``."""
    value = member.value
    if not isinstance(value, dict) or depth > _MAX_DEPTH:
        return False
    if value.get(flag) is True:
        return True
    parts = [part for _, part in (member.child("allOf") or Node("", [])).children()]
    if isinstance(value.get("$ref"), str):
        parts.append(follow(member))
    return any(is_flagged(part, flag, follow, depth + 1) for part in parts)


def without_required(document: Document, flag: Flag) -> Document:
    """Returns a document in which no schema requires a member with a flag.

    JSON pointers into the document stay valid. If nothing changes, the same document is returned.
    """
    raw = _Relaxation(document, flag).relaxed(document.root)
    return document if raw is document.raw else replace(document, raw=raw)


class _Relaxation:
    """Makes a modified copy of a document, in which unchanged values are shared."""

    def __init__(self, document: Document, flag: Flag) -> None:
        self._flag: Flag = flag
        self._follow = _following(document)

    def relaxed(
        self, node: Node, enclosing: tuple[Node, ...] = (), *, has_names: bool = False
    ) -> Any:
        """Returns the value of a node with ``required`` relaxed; the same object if nothing changes.

        Args:
            node: Any node of the document.
            enclosing: The schemas that contain the node by composition; they may declare its members.
            has_names: Whether the members of the node are names chosen by the author, not keywords.
        """
        if isinstance(node.value, list):
            items = [self.relaxed(item, enclosing) for _, item in node.children()]
            return node.value if _same(items, node.value) else items
        if not isinstance(node.value, dict):
            return node.value
        members = {
            key: child.value
            if key in LITERALS and not has_names
            else self.relaxed(
                child,
                (*enclosing, node) if key in _COMPOSED else (),
                has_names=not has_names and key in NAME_MAPS,
            )
            for key, child in node.children()
        }
        required = members.get("required")
        if isinstance(required, list) and not has_names:
            kept = [name for name in required if not self._is_flagged(name, node, enclosing)]
            members["required"] = required if len(kept) == len(required) else kept
        return node.value if _same(members.values(), node.value.values()) else members

    def _is_flagged(self, name: Any, schema: Node, enclosing: tuple[Node, ...]) -> bool:
        parts = (part for node in (schema, *enclosing) for part in parts_of(node, self._follow))
        members = (part.child("properties", name) for part in parts)
        return any(it and is_flagged(it, self._flag, self._follow) for it in members)


def parts_of(schema: Node, follow: Follow, through: Sequence[str] = COMPOSING) -> Iterator[Node]:
    """Yields a schema with its reference followed, and then its composed parts (``Schemas.parts``)."""
    pending = [schema]
    seen: set[str] = set()
    while pending and len(seen) < _MOST_PARTS:
        part = follow(pending.pop(0))
        if not isinstance(part.value, dict) or part.pointer in seen:
            continue
        seen.add(part.pointer)
        yield part
        listed = (part.child(keyword) for keyword in through)
        pending[:0] = [node for it in listed if it for _, node in it.children()]


def _same(values: Iterable[Any], others: Iterable[Any]) -> bool:
    return all(value is other for value, other in zip(values, others, strict=True))


def _following(document: Document) -> Follow:
    def follow(node: Node) -> Node:
        try:
            return document.follow(node)
        except StartupError:  # compiling the schema reports the broken reference
            return node

    return follow


_JSON_TYPES = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    dict: "object",
    list: "array",
    type(None): "null",
}


_GIVEN = frozenset({"example", "examples", "const", "default", "enum"})
"""Keywords that give a value, so that the schema's structure does not determine its size."""

_MOST_WITHIN = 100
"""Levels of nesting at which counting ends, as a schema that requires itself is infinite."""


class Schemas:
    """The schemas of one document.

    Args:
        document: The document with the schemas.
        optional: Flag of members that are treated as optional; None: none are.

    Attributes:
        compiler: Compiles the schemas, and tells which are invalid or too large.
    """

    def __init__(self, document: Document, optional: Flag | None = None) -> None:
        self._document = document
        self._optional: Flag | None = optional
        self.compiler = Compiler(document)
        self._members: dict[tuple[str, int], Mapping[str, Node]] = {}
        self._sizes: dict[tuple[str, int], int] = {}

    @cached_property
    def flags(self) -> frozenset[Flag]:
        """The flags (``readOnly``, ``writeOnly``) that occur in the document."""
        parts = objects_in(self._document.raw)
        return frozenset(flag for it in parts for flag in FLAGS if it.get(flag) is True)

    @cached_property
    def for_requests(self) -> "Schemas":
        """The schemas for requests, which do not require ``readOnly`` members."""
        return self._without("readOnly")

    @cached_property
    def for_responses(self) -> "Schemas":
        """The schemas for responses, which do not require ``writeOnly`` members."""
        return self._without("writeOnly")

    def _without(self, flag: Flag) -> "Schemas":
        if flag not in self.flags:
            return self
        document = without_required(self._document, flag)
        return self if document is self._document else Schemas(document, optional=flag)

    def is_flagged(self, member: Node, flag: Flag) -> bool:
        """Tells whether a member's schema has a flag."""
        return flag in self.flags and is_flagged(member, flag, self._document.follow)

    def validator(self, schema: Node) -> SchemaValidator:
        """Returns the validator of a schema; cached by pointer."""
        return self.compiler.validator(schema)

    def types(
        self, schema: Node | None, known: dict[str, frozenset[str]] | None = None
    ) -> frozenset[str]:
        """Returns the JSON types that a schema allows, ``null`` included; empty: any type.

        Composition is followed, because a parameter's text has to be converted to some type before
        it can be validated.

        Args:
            schema: The schema; None allows any type.
            known: Types by pointer of the schemas visited so far, so that a recursive schema ends.
        """
        known = {} if known is None else known
        if schema is None:
            return frozenset()
        schema = self._document.follow(schema)
        if not isinstance(schema.value, dict) or schema.pointer in known:
            return known.get(schema.pointer, frozenset())
        known[schema.pointer] = frozenset()
        named = schema.value.get("type", [])
        types = {named} if isinstance(named, str) else set(named)
        for parts in filter(None, map(schema.child, () if types else COMPOSING)):
            types.update(*(self.types(part, known) for _, part in parts.children()))
        if not types:
            values = (
                [schema.value["const"]] if "const" in schema.value else schema.value.get("enum")
            )
            types = {_JSON_TYPES[type(value)] for value in values or ()}
        if schema.value.get("nullable") is True:
            types.add("null")
        known[schema.pointer] = frozenset(types)
        return known[schema.pointer]

    def parts(self, schema: Node | None, through: Sequence[str] = COMPOSING) -> Iterator[Node]:
        """Yields a schema with its reference followed, and then its composed parts.

        Args:
            schema: The schema; None has no parts.
            through: The composing keywords to follow; ``ALL`` leaves alternatives out.
        """
        return iter(()) if schema is None else parts_of(schema, self._document.follow, through)

    def members(
        self, schema: Node | None, through: Sequence[str] = COMPOSING
    ) -> Mapping[str, Node]:
        """Returns the properties that the parts of a schema declare; outer parts override inner ones."""
        if schema is None:
            return {}
        key = schema.pointer, len(through)
        known = self._members.get(key)
        if known is None:
            found: dict[str, Node] = {}
            declared = (part.child("properties") for part in self.parts(schema, through))
            for name, node in (pair for it in declared if it for pair in it.children()):
                found.setdefault(str(name), node)
            known = self._members[key] = found  # once it is complete, as other threads read it
        return known

    def keyword(self, schema: Node | None, name: str, through: Sequence[str] = COMPOSING) -> Any:
        """Returns the first value of a keyword among the parts of a schema, or None."""
        parts = self.parts(schema, through)
        return next((part.value[name] for part in parts if name in part.value), None)

    def items(self, schema: Node | None) -> Node | None:
        """Returns the first ``items`` schema among the parts of an array schema, or None."""
        declared = (part.child("items") for part in self.parts(schema))
        return next((it for it in declared if it and isinstance(it.value, dict)), None)

    def is_file(self, member: Node) -> bool:
        """Tells whether a member of a multipart form is a file, and not its text in base64.

        OpenAPI 3.0 says ``format: binary``, 3.1 ``contentMediaType`` or nothing at all (3.1.0, 4.8.14.2).
        """
        parts = [part.value for part in self.parts(member, ALL)]
        keywords = {name for part in parts for name in part}
        is_binary = (
            self.keyword(member, "format", ALL) == "binary" or "contentMediaType" in keywords
        )
        is_free = bool(parts) and not keywords
        return (is_binary or is_free) and "contentEncoding" not in keywords

    def required_names(self, schema: Node) -> list[str]:
        """Returns the members that an object schema requires, through references and ``allOf``."""
        names = [n for it in self.parts(schema, ALL) for n in it.value.get("required", ())]
        if self._optional is None:
            return names
        members = self.members(schema, ALL)
        return [
            name
            for name in dict.fromkeys(names)
            if name not in members or not self.is_flagged(members[name], self._optional)
        ]

    def size(self, schema: Node, depth: int, within: int = 0) -> int:
        """Estimates how many values a sample of a schema contains, itself included.

        Args:
            schema: The schema.
            depth: Levels on which optional members are counted too.
            within: Number of schemas around this one.
        """
        schema = self._document.follow(schema)
        key = schema.pointer, depth
        if not isinstance(schema.value, dict) or _GIVEN & schema.value.keys():
            return 1
        if key not in self._sizes and within < _MOST_WITHIN:
            self._sizes[key] = 1  # what a recursive occurrence adds
            below = self._below(schema, depth)
            sizes = (count * self.size(part, left, within + 1) for part, left, count in below)
            self._sizes[key] = 1 + sum(sizes)
        return self._sizes.get(key, 1)

    def _below(self, schema: Node, depth: int) -> Iterator[tuple[Node, int, int]]:
        """Yields the schemas of members and items, the depth left, and how often each occurs."""
        required = schema.value.get("required", ())
        for name, member in (schema.child("properties") or Node("", {})).children():
            if depth > 0 or name in required:
                yield member, max(depth - 1, 0), 1
        items = schema.child("items")
        if items is not None:
            yield items, max(depth - 1, 0), schema.value.get("minItems", min(depth, 1))
        for keyword in COMPOSING:
            parts = (schema.child(keyword) or Node("", [])).children()
            yield from (
                (part, depth, 1) for _, part in islice(parts, None if keyword == "allOf" else 1)
            )

    def follow(self, schema: Node) -> Node:
        """Returns the schema that a reference leads to, or the schema itself without one."""
        return self._document.follow(schema)

    def place(self, path: Iterable[str | int]) -> Node:
        """Returns the node of the document that a validator's ``schema_path`` leads to."""
        place = self._document.root
        for step in path:
            below = place.child(step)
            if below is None:  # a keyword of the translated schema that the document does not have
                break
            place = below
        return place


@once_per_document
def schemas_of(document: Document) -> Schemas:
    """Returns the schemas of a document, whose validators are compiled once for all that use them."""
    return Schemas(document)

"""Answers what the schemas of a document say: which values they accept, and which members they have."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice

from understudy.openapi.directions import Flag, flags_of, is_flagged, without_required
from understudy.openapi.loader import Document, Node
from understudy.openapi.validators import COMPOSING, Compiler, SchemaValidator

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
"""Keywords that give a value instead of describing one."""

_MOST_WITHIN = 100


class Schemas:
    """The schemas of one document.

    Args:
        document: The document with the schemas.
        optional: The flag of members that nothing has to have; None: what is required is required.
    """

    def __init__(self, document: Document, optional: Flag | None = None) -> None:
        self._document = document
        self._optional: Flag | None = optional
        self._compiler = Compiler(document)
        self._names: dict[str, Sequence[str]] = {}
        """Pointer of an object schema to the names that it declares."""
        self._sizes: dict[tuple[str, int], int] = {}

    @cached_property
    def flags(self) -> frozenset[Flag]:
        """The flags by which schemas of the document tell requests from responses."""
        return flags_of(self._document)

    @cached_property
    def for_requests(self) -> "Schemas":
        """The validators of requests, which need no ``readOnly`` member."""
        return self._without("readOnly")

    @cached_property
    def for_responses(self) -> "Schemas":
        """The validators of responses, which need no ``writeOnly`` member."""
        return self._without("writeOnly")

    def _without(self, flag: Flag) -> "Schemas":
        if flag not in self.flags:
            return self
        document = without_required(self._document, flag)
        return self if document is self._document else Schemas(document, optional=flag)

    def is_flagged(self, member: Node, flag: Flag) -> bool:
        """Tells whether a member's schema says that it is ``readOnly`` or ``writeOnly``."""
        return flag in self.flags and is_flagged(member, flag, self._document.follow)

    def validator(self, schema: Node) -> SchemaValidator:
        """Returns the validator of a schema; the same one for the same place."""
        return self._compiler.validator(schema)

    def expect_bounded(self, schema: Node) -> None:
        """Accepts a schema that no value takes too long for.

        Raises:
            StartupError: It is composed of too many schemas; the text says where.
        """
        self._compiler.expect_bounded(schema)

    def expect_valid(self, schema: Node) -> None:
        """Accepts a schema that can be compiled.

        Raises:
            StartupError: It is invalid, or composed of too many; the text says where and why.
        """
        self._compiler.expect_valid(schema)

    def types(self, schema: Node | None) -> frozenset[str]:
        """Returns the JSON types that a schema names, ``null`` among them; empty for any.

        What is composed is followed (``allOf``, ``anyOf``, ``oneOf``), because a parameter's text
        has to be read as some type before it can be judged.
        """
        if schema is None:
            return frozenset()
        schema = self._document.follow(schema)
        if not isinstance(schema.value, dict):
            return frozenset()
        named = schema.value.get("type", [])
        types = {named} if isinstance(named, str) else set(named)
        if not types:
            for keyword in COMPOSING:
                parts = schema.child(keyword)
                if parts is not None:
                    types |= {t for _, part in parts.children() for t in self.types(part)}
        if not types:
            known = [schema.value["const"]] if "const" in schema.value else schema.value.get("enum")
            types = {_JSON_TYPES[type(value)] for value in known or ()}
        if schema.value.get("nullable") is True:
            types.add("null")
        return frozenset(types)

    def property_schema(self, schema: Node | None, name: str) -> Node | None:
        """Returns the schema of a member of an object schema, through references and ``allOf``."""
        if schema is None:
            return None
        schema = self._document.follow(schema)
        member = schema.child("properties", name)
        parts = schema.child("allOf")
        if member is None and parts is not None:
            candidates = (self.property_schema(part, name) for _, part in parts.children())
            member = next((part for part in candidates if part is not None), None)
        return member and self._document.follow(member)

    def property_names(self, schema: Node) -> Sequence[str]:
        """Returns the names that an object schema declares, through references and ``allOf``."""
        names = self._names.get(schema.pointer)
        if names is None:
            names = self._names[schema.pointer] = self._property_names(schema)
        return names

    def _property_names(self, schema: Node) -> list[str]:
        schema = self._document.follow(schema)
        names = list((schema.child("properties") or Node("", {})).value)
        for _, part in (schema.child("allOf") or Node("", [])).children():
            names += self.property_names(part)
        return names

    def required_names(self, schema: Node) -> list[str]:
        """Returns the members that an object schema requires, through references and ``allOf``."""
        names = self._required_names(schema)
        if self._optional is None:
            return names
        members = {name: self.property_schema(schema, name) for name in names}
        return [
            name
            for name, member in members.items()
            if member is None or not self.is_flagged(member, self._optional)
        ]

    def _required_names(self, schema: Node) -> list[str]:
        schema = self._document.follow(schema)
        names = list((schema.child("required") or Node("", [])).value)
        for _, part in (schema.child("allOf") or Node("", [])).children():
            names += self._required_names(part)
        return names

    def size(self, schema: Node, depth: int, within: int = 0) -> int:
        """Returns about how many values a value of a schema has.

        Args:
            schema: The schema.
            depth: Levels on which optional members are counted too.
            within: How many schemas it is within; beyond some it ends, as what requires itself does.
        """
        schema = self._document.follow(schema)
        key = schema.pointer, depth
        if not isinstance(schema.value, dict) or _GIVEN & schema.value.keys():
            return 1
        if key not in self._sizes and within < _MOST_WITHIN:
            self._sizes[key] = 1  # for a circle
            below = self._below(schema, depth)
            sizes = (count * self.size(part, its, within + 1) for part, its, count in below)
            self._sizes[key] = 1 + sum(sizes)
        return self._sizes.get(key, 1)

    def _below(self, schema: Node, depth: int) -> Iterator[tuple[Node, int, int]]:
        """Yields the schemas of the parts of a value, the depth that is left, and how many there are."""
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
        """Returns the schema that a reference leads to, or the schema itself."""
        return self._document.follow(schema)

    def place(self, path: Iterable[str | int]) -> Node:
        """Returns where a validator's ``schema_path`` leads in the document as it was written."""
        place = self._document.root
        for step in path:
            below = place.child(step)
            if below is None:  # a keyword that the document says in its own dialect
                break
            place = below
        return place

    def items_schema(self, schema: Node) -> Node | None:
        """Returns the schema of an array's items."""
        return self._document.follow(schema).child("items")

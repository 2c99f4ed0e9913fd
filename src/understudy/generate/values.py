"""Values for a schema: one that it surely takes, and those at the edges of every keyword.

The compiled schema is the judge of each: what a candidate was made for is only its description, so
that a keyword that understudy does not read can make a case less pointed, and never wrong.
"""

import re
from collections import ChainMap
from collections.abc import Iterator
from itertools import islice, product
from random import Random  # noqa: TID251 - seeded by whoever asks
from typing import Any

from understudy.openapi.loader import Node
from understudy.openapi.schemas import Schemas

MAX_DEPTH = 4
MOST_MERGED = 16
DEEPEST = 8
"""Of required members: a schema that requires itself has no values at all."""

PLAIN_FORMATS = {
    "byte": "bm90ZQ==",
    "date": "2026-03-14",
    "date-time": "2026-03-14T09:26:53Z",
    "email": "ada@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "time": "09:26:53Z",
    "uri": "https://example.com/a",
    "uri-reference": "/a",
    "uuid": "3f2b6c1e-8d4a-4c7b-9e10-5a6b7c8d9e0f",
}

ONE_OF_EACH: tuple[tuple[str, str, Any], ...] = (
    ("null", "null", None),
    ("boolean", "true", True),
    ("integer", "a number", 7),
    ("number", "a fraction", 7.5),
    ("string", "a text", "7"),
    ("array", "a list", []),
    ("object", "an object", {}),
)
"""Type, what it is called, and one of it."""


class Values:
    """Makes values for the schemas of one document.

    Args:
        schemas: The document's validators.
    """

    def __init__(self, schemas: Schemas) -> None:
        self.schemas = schemas

    def keywords(self, schema: Node) -> dict[str, Any]:
        """Returns the keywords of a schema, through references and ``allOf``; the first wins."""
        node = self.schemas.follow(schema)
        if not isinstance(node.value, dict):
            return {}
        found = dict(node.value)
        for _, part in (node.child("allOf") or Node("", [])).children():
            found = {**self.keywords(part), **found}
        return found

    def members(self, schema: Node, depth: int = 0) -> dict[str, Node]:
        """Returns the members that an object schema declares, in any of its alternatives too."""
        node = self.schemas.follow(schema)
        declared = (node.child("properties") or Node("", {})).children()
        found = {str(name): self.schemas.follow(member) for name, member in declared}
        for keyword in ("allOf", "oneOf", "anyOf") if depth < MAX_DEPTH else ():
            for _, part in (node.child(keyword) or Node("", [])).children():
                found = {**self.members(part, depth + 1), **found}
        return found

    def sample(self, schema: Node, depth: int = 0) -> Any:
        """Returns a value that the schema takes, if one of those that come to mind is one."""
        takes = self.schemas.validator(schema).is_valid
        candidates = self._candidates(schema, depth)
        first = next(candidates)
        return first if takes(first) else next((v for v in candidates if takes(v)), first)

    def _candidates(self, schema: Node, depth: int) -> Iterator[Any]:
        said = self.keywords(schema)
        examples = said.get("examples")
        listed = examples if isinstance(examples, list) else []
        yield from (said[keyword] for keyword in ("example", "default", "const") if keyword in said)
        yield from (*listed, *said.get("enum", ()))
        for keyword in ("oneOf", "anyOf"):
            parts = self.schemas.follow(schema).child(keyword)
            if parts is not None and depth < MAX_DEPTH:
                yield from (self.sample(part, depth + 1) for _, part in parts.children())
        types = self.schemas.types(schema) or self._implied(said)
        for name in ("object", "array", "string", "integer", "number", "boolean", "null"):
            if name in types:
                yield from self._typed(name, schema, said, depth)
        yield from self._merged(schema, depth)
        yield from (value for _, _, value in ONE_OF_EACH)

    def _merged(self, schema: Node, depth: int) -> Iterator[Any]:
        """Yields the object with the members that its alternatives ask for."""
        choices = [parts for parts in self._alternatives(schema) if depth < MAX_DEPTH]
        whole = self._object(schema, depth) if choices else {}
        for parts in islice(product(*choices), MOST_MERGED if choices else 0):
            drawn = [self.sample(part, depth + 1) for part in parts]
            yield dict(ChainMap(*(v for v in drawn if isinstance(v, dict)), whole))

    def _alternatives(self, schema: Node) -> Iterator[list[Node]]:
        node = self.schemas.follow(schema)
        for keyword in ("oneOf", "anyOf"):
            found = node.child(keyword)
            if found is not None:
                yield [part for _, part in found.children()]
        for _, part in (node.child("allOf") or Node("", [])).children():
            yield from self._alternatives(part)

    def _implied(self, said: dict[str, Any]) -> frozenset[str]:
        return frozenset({"object" if "properties" in said else "string"})

    def _typed(self, name: str, schema: Node, said: dict[str, Any], depth: int) -> Iterator[Any]:
        match name:
            case "object":
                yield self._object(schema, depth)
            case "array":
                yield from self._arrays(schema, said, depth)
            case "string":
                yield from _texts(said)
            case "integer" | "number":
                yield from _numbers(said)
            case _:
                yield name != "null" or None

    def _arrays(self, schema: Node, said: dict[str, Any], depth: int) -> Iterator[list[Any]]:
        node = self.schemas.follow(schema)
        listed, held = node.child("prefixItems"), node.child("contains")
        first = [] if listed is None else [self.sample(p, depth + 1) for _, p in listed.children()]
        first += [] if held is None else [self.sample(held, depth + 1)]
        if first:
            yield first
        items = self.schemas.items_schema(schema)
        item = "a" if items is None or depth >= MAX_DEPTH else self.sample(items, depth + 1)
        yield [item] * max(1, said.get("minItems", 1))
        yield []

    def _object(self, schema: Node, depth: int) -> dict[str, Any]:
        names = dict.fromkeys(self.schemas.required_names(schema))
        if depth == 0:
            names.update(dict.fromkeys(self.schemas.property_names(schema)))
        made = {}
        for name in names:
            member = self.schemas.property_schema(schema, name)
            is_required = name in self.schemas.required_names(schema)
            if not is_required and member is not None and self.keywords(member).get("readOnly"):
                continue
            if depth < MAX_DEPTH or (is_required and depth < DEEPEST):
                made[name] = "a" if member is None else self.sample(member, depth + 1)
        return made


def _texts(said: dict[str, Any]) -> Iterator[str]:
    if "pattern" in said:
        yield from matching(said)
    form = said.get("format")
    if form in PLAIN_FORMATS:
        yield PLAIN_FORMATS[form]
    yield "Port Lindry"
    yield sized(max(1, said.get("minLength", 1)))
    yield ""


def _numbers(said: dict[str, Any]) -> Iterator[int | float]:
    low: Any = said.get("minimum", said.get("exclusiveMinimum", 0))
    low = 0 if isinstance(low, bool) else low
    step = said.get("multipleOf", 1)
    yield from (low, low + 1, (low // step + 1) * step, 0, said.get("maximum", 1), low + 0.5)


def matching(said: dict[str, Any]) -> list[str]:
    """Returns texts that match a pattern, as far as Python reads it as JavaScript does."""
    from rstr import Rstr  # noqa: PLC0415 - only where a pattern is

    found = []
    for mutation in range(3):
        try:
            found.append(str(Rstr(_Ordered(mutation)).xeger(said["pattern"])))
        except (ValueError, KeyError, RecursionError, re.error):
            found.append("a")
    return found


class _Ordered(Random):
    """Chooses out of sets too, whose order is another in every process."""

    def choice(self, seq: Any) -> Any:
        """Returns one of them."""
        return super().choice(sorted(seq) if isinstance(seq[0], str) else seq)


def sized(size: int) -> str:
    """Returns a text of so many plain characters."""
    return ("abcdefghij" * (size // 10 + 1))[: max(size, 0)]

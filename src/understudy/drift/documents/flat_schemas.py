"""Flattens schemas, so that two ways to write the same schema are equal.

References are followed, ``allOf`` is merged, and ``anyOf`` and ``oneOf`` become alternatives, each with
the keywords beside them. Null is a type, whether a document writes it as ``nullable``, in a list of
types or as an alternative. Members that a message never has are left out: ``readOnly`` members of
requests, ``writeOnly`` members of responses.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any, Final, Literal, NamedTuple

import orjson

from understudy.openapi.composition import COMPOSING
from understudy.openapi.loader import Document, Node
from understudy.openapi.schemas import Flag, is_flagged
from understudy.openapi.validators import in_draft_7

MOST_VALUES: Final = 10_000
"""Most values of one keyword in which references are resolved; further ones are compared by name."""

DEEPEST: Final = 40
"""Levels of one keyword that are compared."""

_TEXTS: Final = frozenset({"title", "description", "example", "examples", "$comment"})
"""Keywords that have no effect on validation."""


class WholeValues:
    """Writes the keywords of one document as JSON, with their references resolved."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._left = MOST_VALUES

    def text(self, value: Any) -> str:
        """Returns a keyword's value as JSON that is equal for equivalent values."""
        self._left = MOST_VALUES
        return json_text(self._resolved(value, DEEPEST))

    def _resolved(self, value: Any, levels: int) -> Any:
        self._left -= 1
        if not levels:
            return None
        if isinstance(value, list):
            return [self._resolved(item, levels - 1) for item in value]
        if not isinstance(value, dict):
            return value
        if isinstance(value.get("$ref"), str) and self._left > 0:
            target = self._document.follow(Node("#", value)).value
            return self._resolved(target, levels - 1)
        return {
            name: self._resolved(member, levels - 1)
            for name, member in value.items()
            # an object value belongs to a property that happens to be named like a text keyword
            if name not in _TEXTS or isinstance(member, dict)
        }


def json_text(value: Any) -> str:
    """Returns a value as JSON with sorted members, so that equal values have equal texts."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()


Ranges = Mapping[str, "Bound"]
"""The bounds of a schema, by keyword such as ``minimum``."""

LEAST: Final = ("minimum", "minLength", "minItems", "minProperties")
GREATEST: Final = ("maximum", "maxLength", "maxItems", "maxProperties")
_EXCLUSIVE: Final = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_NO_BOUND: Final = {"minLength": 0, "minItems": 0, "minProperties": 0}
"""Values of bounds that exclude nothing."""


class Bound(NamedTuple):
    """The least or greatest value, and whether the value itself is excluded."""

    value: float
    is_exclusive: bool = False

    def __str__(self) -> str:
        """Returns the bound as messages write it."""
        return f"{self.value:g} (exclusive)" if self.is_exclusive else f"{self.value:.12g}"


def ranges_of(schema: Mapping[str, Any]) -> Ranges:
    """Returns the bounds of a schema in JSON Schema draft 7."""
    bounds: dict[str, Bound] = {}
    for name in (*LEAST, *GREATEST):
        if _is_number(schema.get(name)) and schema[name] != _NO_BOUND.get(name):
            bounds[name] = Bound(schema[name])
    for name, inclusive in _EXCLUSIVE.items():
        if _is_number(schema.get(name)):
            bound = Bound(schema[name], is_exclusive=True)
            bounds[inclusive] = _narrower(inclusive, bound, bounds.get(inclusive))
    return bounds


def merged_ranges(ranges: Iterable[Ranges]) -> Ranges:
    """Returns the narrowest of each bound."""
    merged: dict[str, Bound] = {}
    for bounds in ranges:
        for name, bound in bounds.items():
            merged[name] = _narrower(name, bound, merged.get(name))
    return merged


def changed_ranges(old: Ranges, new: Ranges) -> Iterator[tuple[str, bool]]:
    """Yields the name of each bound that differs, and True where the new one is narrower."""
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name), new.get(name)
        if before != after:
            yield name, after is not None and _narrower(name, after, before) == after


def _narrower(name: str, bound: Bound, other: Bound | None) -> Bound:
    if other is None:
        return bound
    if bound.value == other.value:
        return max(bound, other)
    is_least = name in LEAST
    return bound if (bound.value > other.value) == is_least else other


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


MOST_ALTERNATIVES: Final = 512
"""Most alternatives that a schema is split into; a schema with more is compared as a whole."""

UNSPLIT: Final = "x-unsplit"
"""Keyword for a schema that is compared as a whole: holds its ``allOf``, ``anyOf`` and ``oneOf``."""

Parts = tuple[Node, ...]
"""Schemas that all apply to one value."""


class Alternatives:
    """Splits the schemas of one document into alternatives, each schema once, as these multiply.

    Args:
        document: The document in JSON Schema draft 7, from ``in_one_dialect``.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[str, list[Parts]] = {}

    def of(self, parts: Parts) -> list[Parts]:
        """Returns the alternatives of schemas that all apply; empty if no value is valid."""
        combined = _combined([self._split(part) for part in parts])
        return [tuple(map(_unsplit, parts))] if combined is None else combined

    def _split(self, node: Node) -> list[Parts]:
        if node.value is False:
            return []
        if not isinstance(node.value, dict):
            return [()]
        if node.pointer not in self._known:
            self._known[node.pointer] = [()]  # ends the recursion of a schema that contains itself
            self._known[node.pointer] = self._split_object(node)
        return self._known[node.pointer]

    def _split_object(self, node: Node) -> list[Parts]:
        factors: list[list[Parts]] = [[(node,)]]
        if isinstance(node.value.get("$ref"), str):
            followed = self._split(self._document.follow(node))
            # OpenAPI 3.0 ignores the keywords beside a reference.
            is_alone = self._document.is_30 or len(node.value) == 1
            factors = [followed] if is_alone else [[(node,)], followed]
        for keyword in COMPOSING:
            listed = node.child(keyword)
            if listed is None or not isinstance(listed.value, list):
                continue
            groups = [self._split(part) for _, part in listed.children()]
            if keyword == "allOf":
                factors += groups
            else:
                alternatives = (parts for group in groups for parts in group)
                distinct = {tuple(it.pointer for it in parts): parts for parts in alternatives}
                factors.append(list(distinct.values()))
        combined = _combined(factors)
        return [(_unsplit(node),)] if combined is None else combined


def _combined(factors: Sequence[Sequence[Parts]]) -> list[Parts] | None:
    """Returns the product of the factors, each combination without duplicates; None if too many."""
    if prod(map(len, factors)) > MOST_ALTERNATIVES:
        return None
    return [
        tuple({part.pointer: part for parts in choice for part in parts}.values())
        for choice in product(*factors)
    ]


def _unsplit(node: Node) -> Node:
    value = {name: member for name, member in node.value.items() if name not in COMPOSING}
    composed = {name: node.value[name] for name in COMPOSING if name in node.value}
    return Node(node.pointer, {**value, UNSPLIT: composed})


Direction = Literal["request", "response"]

TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
"""The types of JSON Schema. A schema with ``number`` always has ``integer`` too."""

FOREIGN: Final[Mapping[Direction, Flag]] = {"request": "readOnly", "response": "writeOnly"}
"""The flag of members that messages of a direction never have."""

_COMPARED_WHOLE: Final = frozenset(
    {
        *("not", "if", "then", "else", "contains", "minContains", "maxContains", "prefixItems"),
        *("patternProperties", "propertyNames", "dependentRequired", "dependentSchemas"),
        *("unevaluatedItems", "unevaluatedProperties", "uniqueItems", "multipleOf"),
        *("contentEncoding", "contentMediaType", UNSPLIT),
    }
)
"""Keywords that are compared as a whole: adding one narrows a schema, removing one widens it."""


@dataclass(frozen=True, slots=True)
class FlatSchema:
    """A schema without references and composition.

    Attributes:
        pointer: JSON pointer of the schema.
        name: Last step of the pointer, by which alternatives are paired.
        types: The allowed types.
        values: The allowed values of ``enum`` or ``const``, as JSON; None for any value.
        ranges: The bounds.
        patterns: The patterns that a string must match, all of them.
        formats: The formats that a value must have, all of them.
        properties: The schemas of each member, by name.
        required: Names of the required members.
        others: The schemas of additional members; None if these are forbidden.
        items: The schemas of the items of an array.
        keywords: Further keywords, as JSON.
        default: The default value, as JSON; empty without one.
        discriminator: The member that selects an alternative; empty without one.
    """

    pointer: str
    name: str
    types: frozenset[str]
    values: frozenset[str] | None
    ranges: Ranges
    patterns: frozenset[str]
    formats: frozenset[str]
    properties: Mapping[str, Parts]
    required: frozenset[str]
    others: Parts | None
    items: Parts
    keywords: frozenset[str]
    default: str
    discriminator: str


def in_one_dialect(document: Document) -> Document:
    """Returns a document whose schemas are JSON Schema draft 7, translated from OpenAPI 3.0."""
    return replace(document, raw=in_draft_7(document.raw)) if document.is_30 else document


class FlatSchemas:
    """Flattens the schemas of one document for messages of one direction.

    Args:
        document: The document, from ``in_one_dialect``.
        direction: The direction of the messages.
    """

    def __init__(self, document: Document, direction: Direction) -> None:
        self._document = document
        self._alternatives = Alternatives(document)
        self._whole_values = WholeValues(document)
        self._flag = FOREIGN[direction]
        self._known: dict[tuple[str, ...], tuple[FlatSchema, ...]] = {}

    def alternatives(self, parts: Parts) -> tuple[FlatSchema, ...]:
        """Returns the alternatives of schemas that all apply to one value."""
        key = tuple(part.pointer for part in parts)
        if key not in self._known:
            flats = [self._flat(it, parts[0].pointer) for it in self._alternatives.of(parts)]
            self._known[key] = _with_null_as_type(flats)
        return self._known[key]

    def _flat(self, parts: Parts, pointer: str) -> FlatSchema:
        values = _values(parts)
        types = _types(parts)
        if values is not None:
            values = frozenset(text for text in values if _type_of(text) & types)
            types &= frozenset().union(*map(_type_of, values)) or types
        properties = self._properties(parts)
        missing = {name for name, schemas in properties.items() if self._is_foreign(schemas)}
        named = parts[-1].pointer if parts else pointer
        return FlatSchema(
            pointer=named,
            name=named.rpartition("/")[2],
            types=types,
            values=values,
            ranges=merged_ranges(ranges_of(part.value) for part in parts),
            patterns=_texts(parts, "pattern"),
            formats=_texts(parts, "format"),
            properties={name: it for name, it in properties.items() if name not in missing},
            required=frozenset(_required(parts)) - missing,
            others=_others(parts),
            items=tuple(it for part in parts if (it := part.child("items")) is not None),
            keywords=frozenset(self._keywords(parts)),
            default=next(
                (json_text(it.value["default"]) for it in parts if "default" in it.value), ""
            ),
            discriminator=next(_discriminators(parts), ""),
        )

    def _keywords(self, parts: Iterable[Node]) -> Iterator[str]:
        for part in parts:
            for keyword in sorted(_COMPARED_WHOLE & part.value.keys()):
                value = part.value[keyword]
                if value is not False or keyword.startswith("unevaluated"):
                    yield f"{keyword}: {self._whole_values.text(value)}"

    def _is_foreign(self, schemas: Parts) -> bool:
        return any(is_flagged(it, self._flag, self._document.follow) for it in schemas)

    def _properties(self, parts: Iterable[Node]) -> dict[str, Parts]:
        """Returns the members of merged schemas; a member that any of them forbids is left out."""
        declared = [dict((part.child("properties") or Node("", {})).children()) for part in parts]
        names = dict.fromkeys(str(name) for members in declared for name in members)
        properties: dict[str, Parts] = {}
        for name in names:
            schemas = []
            for part, members in zip(parts, declared, strict=True):
                rest = part.child("additionalProperties")
                if name in members:
                    schemas.append(members[name])
                elif rest is not None and "patternProperties" not in part.value:
                    schemas.append(rest)
            if all(schema.value is not False for schema in schemas):
                properties[name] = tuple(schemas)
        return properties


def types_text(types: frozenset[str]) -> str:
    """Returns types as messages write them."""
    if types >= TYPES:
        return "any type"
    named = types - {"integer"} if "number" in types else types
    return " or ".join(sorted(named)) or "no type"


def _with_null_as_type(flats: list[FlatSchema]) -> tuple[FlatSchema, ...]:
    """Moves an alternative that is only null into the types of the other alternatives."""
    rest = [flat for flat in flats if flat.types != {"null"}]
    if len(rest) == len(flats) or not rest:
        return tuple(flats)
    return tuple(
        replace(
            flat,
            types=flat.types | {"null"},
            values=None if flat.values is None else flat.values | {"null"},
        )
        for flat in rest
    )


def _type_of(text: str) -> frozenset[str]:
    """Returns the types of a JSON value; a whole number of any notation is an integer too."""
    value = orjson.loads(text)
    if isinstance(value, float):
        return frozenset({"integer", "number"} if value.is_integer() else {"number"})
    names = {bool: "boolean", int: "integer", str: "string", dict: "object", list: "array"}
    return frozenset({names.get(type(value), "null")})


def _types(parts: Iterable[Node]) -> frozenset[str]:
    types = TYPES
    for part in parts:
        named = part.value.get("type", [])
        listed = frozenset({named} if isinstance(named, str) else named)
        if listed:
            types &= listed | {"integer"} if "number" in listed else listed
    return types


def _values(parts: Iterable[Node]) -> frozenset[str] | None:
    values: frozenset[str] | None = None
    for part in parts:
        listed = part.value.get("enum")
        if "const" in part.value:
            listed = [part.value["const"]]
        if isinstance(listed, list):
            own = frozenset(map(json_text, listed))
            values = own if values is None else values & own
    return values


def _texts(parts: Iterable[Node], keyword: str) -> frozenset[str]:
    return frozenset(str(part.value[keyword]) for part in parts if keyword in part.value)


def _required(parts: Iterable[Node]) -> Iterator[str]:
    for part in parts:
        listed = part.value.get("required")
        if isinstance(listed, list):
            yield from map(str, listed)


def _others(parts: Iterable[Node]) -> Parts | None:
    rest = [it for part in parts if (it := part.child("additionalProperties")) is not None]
    if any(schema.value is False for schema in rest):
        return None
    return tuple(schema for schema in rest if schema.value not in (True, {}))


def _discriminators(parts: Iterable[Node]) -> Iterator[str]:
    for part in parts:
        discriminator = part.value.get("discriminator")
        if isinstance(discriminator, dict):
            yield str(discriminator.get("propertyName", ""))

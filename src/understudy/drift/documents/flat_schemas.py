"""Flattens schemas, so that two ways to write the same one are equal.

References are followed, ``allOf`` is merged, and ``anyOf`` and ``oneOf`` become alternatives, each with
the keywords beside them. Null is a type, whether a document says ``nullable``, a list of types or an
alternative that is null alone. What a message of one direction never has is left out: ``readOnly``
members of requests, ``writeOnly`` members of responses.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

import orjson

from understudy.drift.documents.alternatives import UNSPLIT, Alternatives, Parts
from understudy.drift.documents.value_ranges import Ranges, merged_ranges, ranges_of
from understudy.drift.documents.whole_values import WholeValues, json_text
from understudy.openapi.directions import Flag, is_flagged
from understudy.openapi.loader import Document, Node
from understudy.openapi.validators import in_draft_7

Direction = Literal["request", "response"]

TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
"""The types of JSON Schema; a ``number`` that need not be whole is listed beside ``integer``."""

FOREIGN: Final[Mapping[Direction, Flag]] = {"request": "readOnly", "response": "writeOnly"}
"""The flag of members that a message of a direction never has."""

_COMPARED_WHOLE: Final = frozenset(
    {
        *("not", "if", "then", "else", "contains", "minContains", "maxContains", "prefixItems"),
        *("patternProperties", "propertyNames", "dependentRequired", "dependentSchemas"),
        *("unevaluatedItems", "unevaluatedProperties", "uniqueItems", "multipleOf"),
        *("contentEncoding", "contentMediaType", UNSPLIT),
    }
)
"""Keywords whose change cannot be split: one more narrows a schema, one less widens it."""


@dataclass(frozen=True, slots=True)
class FlatSchema:
    """A schema without references and composition.

    Attributes:
        pointer: JSON pointer of the schema.
        name: Its last step, by which alternatives are paired.
        types: The types that a value may have.
        values: The values that it may have, as JSON; None for any.
        ranges: Each bound with its value.
        patterns: The patterns that a text matches.
        formats: The formats that a value has.
        properties: Name to the schemas of a member.
        required: Names of the members that must be there.
        others: The schemas of other members; None if there are none.
        items: The schemas of the items of an array.
        keywords: Further keywords, as JSON.
        default: The value for one that is left out, as JSON; empty without one.
        discriminator: The member that tells alternatives apart; empty without one.
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
    """Returns a document whose schemas are JSON Schema, also where it is OpenAPI 3.0."""
    return replace(document, raw=in_draft_7(document.raw)) if document.is_30 else document


class FlatSchemas:
    """Flattens the schemas of one document for messages of one direction.

    Args:
        document: The document, in one dialect.
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
        return any(is_flagged(one, self._flag, self._document.follow) for one in schemas)

    def _properties(self, parts: Iterable[Node]) -> dict[str, Parts]:
        """Returns the members of merged schemas; a closed one takes none but its own."""
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
    """Returns types as a message names them."""
    if types >= TYPES:
        return "any type"
    named = types - {"integer"} if "number" in types else types
    return " or ".join(sorted(named)) or "no type"


def _with_null_as_type(flats: list[FlatSchema]) -> tuple[FlatSchema, ...]:
    """Returns alternatives of which none is null alone, unless it is the only one."""
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
    """Returns the types that a JSON value is of: a whole number is a number too."""
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

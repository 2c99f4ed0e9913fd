"""Reads schemas as the sum of their parts, for whoever makes a value of them.

A value has to keep to several schemas at once: what they refer to, all of ``allOf``, one of each
``oneOf`` and ``anyOf``, and one side of each ``if``. Each choice of these is one reading.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from understudy.openapi.loader import Node
from understudy.openapi.sample_patterns import matches
from understudy.openapi.schemas import Schemas

MAX_READINGS = 64
"""Choices of alternatives that are tried: their number is the product of what each schema offers."""

BOUNDS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
_KEYWORDS_OF = {
    "object": frozenset(
        {
            *("properties", "required", "additionalProperties", "minProperties", "maxProperties"),
            *("patternProperties", "propertyNames", "dependentRequired", "discriminator"),
            *("unevaluatedProperties", "dependentSchemas"),
        }
    ),
    "array": frozenset({"items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"}),
    "number": frozenset({*BOUNDS, "multipleOf"}),
}
_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")


class SchemaPlace(NamedTuple):
    """The place of a value: the parts of its schemas in one reading, its name, and what is around.

    Attributes:
        schemas: The schemas that the value keeps to.
        parts: What they consist of.
        name: Name of the member.
        above: Pointers of the schemas around it.
        is_deep: True if only required members are made: far down, or within the same schema.
    """

    schemas: tuple[Node, ...]
    parts: tuple[Node, ...]
    name: str
    above: tuple[str, ...]
    is_deep: bool

    def values(self, keyword: str) -> list[Any]:
        """Returns the values of a keyword in all parts."""
        return [part.value[keyword] for part in self.parts if keyword in part.value]

    def nodes(self, keyword: str) -> list[Node]:
        """Returns the nodes of a keyword in all parts."""
        return [node for part in self.parts if (node := part.child(keyword)) is not None]

    def most(self, keyword: str, otherwise: int) -> int:
        """Returns the tightest upper bound of all parts."""
        return int(min(self.values(keyword), default=otherwise))

    def fewest(self, keyword: str) -> int:
        """Returns the tightest lower bound of all parts, or 0."""
        return int(max(self.values(keyword), default=0))

    @property
    def types(self) -> list[str]:
        """The types to try: those that all parts allow, or else the one that the keywords describe."""
        types = set(_TYPES)
        for value in self.values("type"):
            named = {value} if isinstance(value, str) else set(value)
            types &= named | ({"integer"} if "number" in named else set())
        if types != set(_TYPES):
            return [name for name in _TYPES if name in types] or ["string"]
        keywords = {keyword for part in self.parts for keyword in part.value}
        described = [name for name, its in _KEYWORDS_OF.items() if its & keywords]
        return [*described[:1], "string", *(["integer", "object"] if "not" in keywords else [])]

    @property
    def pointer(self) -> str:
        """Identifies the schema, so that it is recognised within itself."""
        return pointer_of(self.schemas, self.parts)

    def declared(self) -> dict[str, list[Node]]:
        """Returns the members that the parts declare, each with all of its schemas."""
        members: dict[str, list[Node]] = {}
        for properties in self.nodes("properties"):
            for name, member in properties.children():
                members.setdefault(str(name), []).append(member)
        return members

    def member(self, name: str) -> list[Node]:
        """Returns every schema that a member of a name keeps to."""
        nodes = [node for part in self.parts for node in _of_member(part, name)]
        return nodes or self.nodes("unevaluatedProperties")

    def allows(self, name: str) -> bool:
        """Tells whether no part closes a member out."""
        if any(node.value is False for node in self.member(name)):
            return False
        is_known = any(declares(part, name) for part in self.parts)
        return is_known or False not in self.values("unevaluatedProperties")

    def dependents(self, names: Sequence[str]) -> list[str]:
        """Returns the members that must stand beside others (``dependentRequired``)."""
        rules = self.values("dependentRequired")
        known = list(names)
        for name in known:  # grows as it goes
            known += [str(n) for rule in rules for n in rule.get(name, ()) if n not in known]
        return known[len(names) :]

    def item(self, index: int) -> list[Node]:
        """Returns every schema that an item keeps to."""
        nodes = []
        for part in self.parts:
            first = part.child("prefixItems")
            place = None if first is None else first.child(index)
            items = place or part.child("items") or part.child("unevaluatedItems")
            nodes += [items] if items is not None else []
        return nodes


def declares(part: Node, name: str) -> bool:
    """Tells whether a part of a schema says something of a member, by its name or a pattern."""
    patterns = part.value.get("patternProperties")
    is_listed = name in (part.value.get("properties") or ())
    return is_listed or any(matches(str(pattern), name) for pattern in patterns or ())


def _of_member(part: Node, name: str) -> Iterator[Node]:
    member = part.child("properties", name)
    if member is not None:
        yield member
    patterns = part.child("patternProperties")
    for pattern, node in patterns.children() if patterns else ():
        if matches(str(pattern), name):
            yield node
    other = part.child("additionalProperties")
    if other is not None and not declares(part, name):
        yield other


def readings(schemas: Schemas, nodes: Sequence[Node]) -> list[tuple[Node, ...]]:
    """Returns the parts of some schemas, once for each choice of their alternatives."""
    expanded = _expanded(schemas, [*nodes], (), frozenset())
    return list(islice(expanded, MAX_READINGS))


def _expanded(
    schemas: Schemas, pending: list[Node], parts: tuple[Node, ...], seen: frozenset[str]
) -> Iterator[tuple[Node, ...]]:
    while pending:
        part, *pending = pending
        if not isinstance(part.value, dict) or part.pointer in seen:
            continue
        seen |= {part.pointer}
        if isinstance(part.value.get("$ref"), str):
            pending = [schemas.follow(part), *pending]
        if part.value.keys() != {"$ref"}:
            parts = (*parts, part)
        pending += [*_listed(part, "allOf"), *_listed(part, "dependentSchemas")]
        choices = [options for keyword in ("oneOf", "anyOf") if (options := _listed(part, keyword))]
        conditions = _conditions(part)
        groups = [[[option] for option in options] for options in choices] + conditions
        if groups:
            for chosen in _products(groups):
                yield from _expanded(schemas, [*chosen, *pending], parts, seen)
            return
    yield parts


def _products(groups: Sequence[Sequence[list[Node]]]) -> Iterator[list[Node]]:
    """Yields each choice of one option of every group, the first options first."""
    if not groups:
        yield []
        return
    for option in groups[0]:
        for rest in _products(groups[1:]):
            yield [*option, *rest]


def _conditions(part: Node) -> list[list[list[Node]]]:
    """Returns the two sides of a schema's condition."""
    condition = part.child("if")
    if condition is None:
        return []
    held = [node for node in (condition, part.child("then")) if node is not None]
    other = part.child("else")
    return [[held, [] if other is None else [other]]]


def _listed(part: Node, keyword: str) -> list[Node]:
    below = part.child(keyword)
    is_listed = below is not None and isinstance(below.value, list | dict)
    return [node for _, node in below.children()] if below is not None and is_listed else []


def pointer_of(schemas: Sequence[Node], parts: Sequence[Node]) -> str:
    """Returns what identifies a schema, so that it is recognised within itself."""
    return (parts or schemas)[0].pointer if (parts or schemas) else ""


def declared_values(places: Sequence[SchemaPlace]) -> list[Any]:
    """Returns the values that a document gives; examples first, as those are meant to be seen."""
    parts = {part.pointer: part for place in places for part in place.parts}.values()
    single = [
        part.value[keyword]
        for keyword in ("example", "const", "default")
        for part in parts
        if keyword in part.value and not (keyword == "default" and part.value[keyword] in _EMPTY)
    ]
    return single + [
        value
        for keyword in ("examples", "enum")
        for part in parts
        if isinstance(part.value.get(keyword), list)
        for value in part.value[keyword]
    ]


_EMPTY: tuple[Any, ...] = ("", [], {}, None)
"""Defaults that show nothing of what a value looks like."""

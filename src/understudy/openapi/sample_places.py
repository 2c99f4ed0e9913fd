"""Flattens composed schemas into parts, and makes the values that depend on several parts.

A value must satisfy several schemas at once: the targets of references, all of ``allOf``, one of
each ``oneOf`` and ``anyOf``, and one branch of each ``if``. Each choice of these is called a reading.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, islice
from math import ceil, floor, lcm
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import orjson

from understudy.limits import JSON_DEPTH, JSON_INTEGER
from understudy.openapi.loader import Node
from understudy.openapi.pointers import levels_of
from understudy.openapi.sample_texts import matches
from understudy.openapi.schemas import Schemas

MAX_READINGS = 64
"""Largest number of readings that are tried, as the numbers of alternatives multiply."""

BOUNDS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
_KEYWORDS_OF = {
    "object": frozenset(
        (
            "properties required additionalProperties minProperties maxProperties"
            " patternProperties propertyNames dependentRequired discriminator"
            " unevaluatedProperties dependentSchemas"
        ).split()
    ),
    "array": frozenset({"items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"}),
    "number": frozenset({*BOUNDS, "multipleOf"}),
}
_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")


class SchemaPlace(NamedTuple):
    """A value to make: the parts of its schemas in one reading, its name, and its surroundings.

    Attributes:
        schemas: The schemas that the value must satisfy.
        parts: The schemas of one reading, without references and composition.
        name: Name of the member.
        above: Pointers of the schemas around the value.
        is_deep: True if only required members are made: below the depth limit, or in a recursion.
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
        """The types to try: those that all parts allow, or else guesses from the keywords."""
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
    def container(self) -> type | None:
        """The type of an object or a list where only that is meant: by types, or else by other keywords."""
        types = self.types
        is_certain = len(types) == 1 or not self.values("type")
        return {"object": dict, "array": list}.get(types[0]) if is_certain else None

    @property
    def pointer(self) -> str:
        """Pointer that identifies the schema, to detect recursion."""
        return pointer_of(self.schemas, self.parts)

    def declared(self) -> dict[str, list[Node]]:
        """Returns the members that the parts declare, each with all of its schemas."""
        members: dict[str, list[Node]] = {}
        for properties in self.nodes("properties"):
            for name, member in properties.children():
                members.setdefault(str(name), []).append(member)
        return members

    def member(self, name: str) -> list[Node]:
        """Returns all schemas that the member with a name must satisfy."""
        nodes = [node for part in self.parts for node in _of_member(part, name)]
        return nodes or self.nodes("unevaluatedProperties")

    def allows(self, name: str) -> bool:
        """Tells whether all parts allow a member with this name."""
        if any(node.value is False for node in self.member(name)):
            return False
        is_known = any(declares(part, name) for part in self.parts)
        return is_known or False not in self.values("unevaluatedProperties")

    def dependents(self, names: Sequence[str]) -> list[str]:
        """Returns the further members that some members require (``dependentRequired``)."""
        rules = self.values("dependentRequired")
        known = list(names)
        for name in known:  # the loop extends the list, as required members may require others
            known += [str(n) for rule in rules for n in rule.get(name, ()) if n not in known]
        return known[len(names) :]

    def item(self, index: int) -> list[Node]:
        """Returns all schemas that the item at an index must satisfy."""
        nodes = []
        for part in self.parts:
            first = part.child("prefixItems")
            place = None if first is None else first.child(index)
            items = place or part.child("items") or part.child("unevaluatedItems")
            nodes += [items] if items is not None else []
        return nodes


def declares(part: Node, name: str) -> bool:
    """Tells whether a part declares a member by name or by a pattern."""
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
    """Returns the readings of some schemas: their parts, for each choice of alternatives."""
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
    """Yields every combination of one option per group, joined, the first options first."""
    if not groups:
        yield []
        return
    for option in groups[0]:
        for rest in _products(groups[1:]):
            yield [*option, *rest]


def _conditions(part: Node) -> list[list[list[Node]]]:
    """Returns the two branches of a schema's ``if``, as a group of options."""
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
    """Returns the pointer that identifies joined schemas, to detect recursion."""
    return (parts or schemas)[0].pointer if (parts or schemas) else ""


def declared_values(places: Sequence[SchemaPlace], *, with_examples: bool = True) -> list[Any]:
    """Returns the values that a document gives for a place, examples first, as they are typical."""
    parts = {part.pointer: part for place in places for part in place.parts}.values()
    single = [
        part.value[keyword]
        for keyword in (("example", "const", "default") if with_examples else ("const",))
        for part in parts
        if keyword in part.value and not (keyword == "default" and part.value[keyword] in _EMPTY)
    ]
    listed = [
        value
        for keyword in (("examples", "enum") if with_examples else ("enum",))
        for part in parts
        if isinstance(part.value.get(keyword), list)
        for value in part.value[keyword]
    ]
    (container, *others) = {place.container for place in places}
    if container is None or others:
        return single + listed
    read = (_from_json(it) if isinstance(it, str) else it for it in (*single, *listed))
    return [it for it in read if isinstance(it, container)]


def _from_json(text: str) -> Any:
    """Returns the JSON value that an author wrote as a text; None for other texts.

    Where a schema names members and no type, its validator accepts every text, too.
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    # the document was checked for its depth, but not what its texts contain
    return value if levels_of(value, JSON_DEPTH.most) <= JSON_DEPTH.most else None


_EMPTY: tuple[Any, ...] = ("", [], {}, None)
"""Defaults that are not used as samples, as they show nothing of a typical value."""


# A made object may break a rule about several members: ``not``, ``oneOf`` with branches that are
# valid together, or members that exclude one another. Optional members can be dropped then, and
# members that the schema leaves open can be added.

MAX_MEMBERS = 60
"""Largest number of members that are dropped or added one by one."""

_ONE_OF_EACH: Final[tuple[Any, ...]] = ("other", 7, True, [], {}, None, 0.5)
"""A value of each JSON type."""


def accepted_objects(
    made: dict[str, Any],
    required: Sequence[str],
    place: SchemaPlace,
    accepts: Callable[[Any], bool],
    schemas: Schemas,
) -> Iterator[dict[str, Any]]:
    """Yields variants of a rejected object that the schemas may accept.

    Args:
        made: The rejected object.
        required: Names of the members to keep.
        place: The place of the object.
        accepts: Tells whether all schemas of the place accept an object.
        schemas: The document's validators.
    """
    fewest = {name: made[name] for name in made if name in set(required)}
    if accepts(fewest):
        yield _grown(fewest, made, accepts)
    optional = [name for name in made if name not in fewest][:MAX_MEMBERS]
    for dropped in optional:
        yield {name: value for name, value in made.items() if name != dropped}
    for base in (made, fewest):
        yield from _distinguished(base, place, schemas)


def _grown(
    fewest: dict[str, Any], made: dict[str, Any], accepts: Callable[[Any], bool]
) -> dict[str, Any]:
    """Returns the fewest members plus each further one that is accepted together with them."""
    kept = dict(fewest)
    for name in [it for it in made if it not in fewest][:MAX_MEMBERS]:
        more = {**kept, name: made[name]}
        kept = more if accepts(more) else kept
    return {name: kept[name] for name in made if name in kept}


def _distinguished(
    made: dict[str, Any], place: SchemaPlace, schemas: Schemas
) -> Iterator[dict[str, Any]]:
    """Yields objects with an added member that makes the other ``oneOf`` alternatives invalid."""
    distinguished = made
    for alternatives in place.nodes("oneOf"):
        for _, alternative in alternatives.children():
            if any(part.pointer == alternative.pointer for part in place.parts):
                continue
            if isinstance(alternative.value, dict) and "$ref" in alternative.value:
                target = schemas.follow(alternative)
                if any(part.pointer == target.pointer for part in place.parts):
                    continue
            distinguished = _spoilt(distinguished, alternative, place, schemas)
            yield distinguished


def _spoilt(
    made: dict[str, Any], alternative: Node, place: SchemaPlace, schemas: Schemas
) -> dict[str, Any]:
    """Returns an object with an added member that makes it invalid for an alternative, if possible."""
    is_valid = schemas.validator(alternative).is_valid
    if not is_valid(made):
        return made
    own = place.declared()
    for parts in readings(schemas, (alternative,)):
        for name in SchemaPlace((), parts, "", (), is_deep=False).declared():
            if name in own or not place.allows(name):
                continue
            for value in _ONE_OF_EACH:
                changed = {**made, name: value}
                if not is_valid(changed):
                    return changed
    return made


_TRIES = 8  # candidate numbers per step


def numbers(place: SchemaPlace, number: int, *, is_plain: bool) -> Iterator[float]:
    """Yields numbers that a place may accept, the likeliest first.

    Args:
        place: The place of the number.
        number: Index of the value, if several are made for one place.
        is_plain: Whether the numbers next to the bounds come first, if there are bounds.
    """
    bounds = [
        bound
        for keyword in BOUNDS
        for bound in place.values(keyword)
        if isinstance(bound, int | float) and not isinstance(bound, bool)
        if abs(bound) <= JSON_INTEGER.most  # documents round the bounds of 64 bits to beyond them
    ]
    near = [bound + step for bound in bounds for step in (0, 1, -1, 0.5, -0.5)]
    varied = [number + 1, *(bound + number + 1 for bound in bounds)]
    exact = _exact(place, number)
    others = (0, 1.5, -1, 0.5, 100, 10_000, -1.5, 1e9)
    # an unbound number is probably an identifier, and counts from 1
    is_bound = bool(bounds or place.values("multipleOf"))
    yield from chain(near, exact, varied) if is_plain and is_bound else chain(varied, exact, near)
    yield from others


def drawn_numbers(place: SchemaPlace, chance: int) -> Iterator[float]:
    """Yields a random number between the bounds, or from a span of 1000 without two bounds."""
    low, high, steps = _range(place)
    first = low if low is not None else high - 1000 if high is not None else Fraction(1)
    span = min((first + 1000 if high is None else high) - first, Fraction(10**15))
    step = _common(
        [*steps, Fraction(1)] if "integer" in place.types else steps or [Fraction(1, 100)]
    )
    count = max(int(span / step) + 1, 1)
    yield _number(step * (ceil(first / step) + chance % count))


def _exact(place: SchemaPlace, number: int) -> Iterator[float]:
    """Yields multiples of the common step within the bounds, or else fractions of their span.

    Integers come first if they are allowed.
    """
    low, high, steps = _range(place)
    if "integer" in place.types:
        yield from _multiples(_common([*steps, Fraction(1)]), low, high, number)
        if "number" not in place.types:
            return
    if steps:
        yield from _multiples(_common(steps), low, high, number)
    elif low is not None and high is not None:
        for part in range(1, _TRIES):
            share = Fraction((part + number) % _TRIES or _TRIES - 1, _TRIES)
            yield float(low + (high - low) * share)


def _multiples(
    step: Fraction, low: Fraction | None, high: Fraction | None, number: int
) -> Iterator[float]:
    """Yields multiples of a step upwards from the lower bound, or downwards from the upper one."""
    if low is None and high is not None:
        first, sign = floor(high / step), -1
    else:
        first, sign = ceil((low or Fraction(0)) / step), 1
    for tried in range(_TRIES):
        yield _number(step * (first + sign * (number + tried)))
        yield _number(step * (first + sign * tried))


def _range(place: SchemaPlace) -> tuple[Fraction | None, Fraction | None, list[Fraction]]:
    """Returns the tightest bounds of a number, and the values of ``multipleOf``."""
    low = _tightest(place, "minimum", "exclusiveMinimum", max)
    high = _tightest(place, "maximum", "exclusiveMaximum", min)
    return low, high, [abs(Fraction(str(step))) for step in place.values("multipleOf") if step]


def _tightest(place: SchemaPlace, inclusive: str, exclusive: str, choose: Any) -> Fraction | None:
    bounds = [*place.values(inclusive), *place.values(exclusive)]
    known = [Fraction(str(it)) for it in bounds if isinstance(it, int | float) and it is not True]
    return choose(known) if known else None


def _common(steps: list[Fraction]) -> Fraction:
    """Returns the least common multiple of all steps."""
    common = steps[0]
    for step in steps[1:]:
        denominator = lcm(common.denominator, step.denominator)
        both = (int(common * denominator), int(step * denominator))
        common = Fraction(lcm(*both), denominator)
    return common


def _number(value: Fraction) -> float:
    return int(value) if value.denominator == 1 else float(value)


_SCHEMAS = "#/components/schemas/"


def discriminating_members(parts: Sequence[Node]) -> dict[str, str]:
    """Returns the discriminator members of an object, each with the value for its schema.

    Args:
        parts: The parts of the object's schema in one reading.
    """
    members: dict[str, str] = {}
    for part in parts:
        discriminator = part.value.get("discriminator")
        if isinstance(discriminator, dict) and isinstance(discriminator.get("propertyName"), str):
            others = [it.pointer for it in parts if it.pointer != part.pointer]
            name = next(_names(discriminator.get("mapping"), others, part.pointer), None)
            if name is not None:
                members.setdefault(discriminator["propertyName"], name)
    return members


def _names(mapping: Any, alternatives: Sequence[str], base: str) -> Iterator[str]:
    """Yields possible values of a discriminator member, the best first.

    Args:
        mapping: The discriminator's ``mapping``, from value to schema.
        alternatives: Pointers of the other parts of the object's schema.
        base: Pointer of the schema with the discriminator.
    """
    targets = mapping.items() if isinstance(mapping, dict) else ()
    named = {_pointer(str(target)): str(name) for name, target in targets}
    yield from (named[pointer] for pointer in (*alternatives, base) if pointer in named)
    yield from _own_names(alternatives)
    yield from named.values()
    yield from _own_names([base])


def _own_names(pointers: Sequence[str]) -> Iterator[str]:
    """Yields the names of component schemas, the values that discriminators have without mapping."""
    names = (pointer.removeprefix(_SCHEMAS) for pointer in pointers if pointer.startswith(_SCHEMAS))
    return (name for name in names if "/" not in name)


def _pointer(target: str) -> str:
    """Returns the pointer of a mapping's target, which may be a bare schema name."""
    return unquote(target) if "#" in target else _SCHEMAS + target

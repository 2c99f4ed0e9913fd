"""Makes sample values that conform to a schema: for generated responses, and for plain requests.

A schema is read as the sum of its parts: itself, what it refers to, all of ``allOf`` and one of each
``oneOf`` or ``anyOf``. The compiled schema decides between candidates, such as examples and
alternatives; if it accepts none, the first one is returned.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from understudy.limits import SAMPLE_CHARACTERS, SAMPLE_VALUES
from understudy.openapi.discriminators import discriminating_members
from understudy.openapi.loader import Node
from understudy.openapi.sample_texts import matching, plain_text_for, text_for
from understudy.openapi.schemas import Schemas

MAX_REPEATS = 3
"""Times that a schema may be nested in itself: one that requires itself has no values."""

MAX_DEPTH = 5
"""Levels with optional members: the size of a value can grow exponentially with its depth."""

MAX_RETRIED_DEPTH = 2
"""Levels at which alternatives are tried: each try makes everything below it."""

_ATTEMPTS = 5
_BOUNDS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
_KEYWORDS_OF = {
    "object": frozenset({"properties", "required", "additionalProperties", "minProperties"}),
    "array": frozenset({"items", "prefixItems", "contains", "minItems", "maxItems"}),
    "number": frozenset({*_BOUNDS, "multipleOf"}),
}
_PREFERRED = ("object", "array", "string", "integer", "number", "boolean", "null")


class SampleStyle(NamedTuple):
    """The kind of values that a sampler makes.

    Attributes:
        text: Makes a text of a member's name, a format and a seed.
        depth: Levels with optional members; below them only required ones are made.
        is_for_requests: Whether optional members that only responses have are left out.
        is_plain: Whether a number is the lowest possible one, and never varies.
    """

    text: Callable[[str, str, str], str] = text_for
    depth: int = MAX_DEPTH
    is_for_requests: bool = False
    is_plain: bool = False


PLAUSIBLE = SampleStyle()
"""Values that a person might expect, which vary with the seed."""

PLAIN = SampleStyle(plain_text_for, depth=1, is_for_requests=True, is_plain=True)
"""The simplest values of a request, which stay the same."""


class _Place(NamedTuple):
    """The place of a value: the parts of its schema, its name, and the schemas around it."""

    schema: Node
    parts: tuple[Node, ...]
    name: str
    above: tuple[str, ...]
    depth: int

    def values(self, keyword: str) -> list[Any]:
        """Returns the values of a keyword in all parts."""
        return [part.value[keyword] for part in self.parts if keyword in part.value]

    def children(self, keyword: str) -> dict[str | int, Node]:
        """Returns the nodes below a keyword; of two with one name the first part's."""
        nodes: dict[str | int, Node] = {}
        for part in self.parts:
            child = part.child(keyword)
            if child is not None:
                nodes = {**dict(child.children()), **nodes}
        return nodes

    @property
    def type(self) -> str:
        """The type to make: one that all parts allow, or else the one that the keywords describe."""
        types = set(_PREFERRED)
        for value in self.values("type"):
            named = {value} if isinstance(value, str) else set(value)
            types &= named | ({"integer"} if "number" in named else set())
        if types != set(_PREFERRED):
            return next((name for name in _PREFERRED if name in types), "string")
        keywords = {keyword for part in self.parts for keyword in part.value}
        return next((name for name, its in _KEYWORDS_OF.items() if its & keywords), "string")

    @property
    def pointer(self) -> str:
        """Identifies the schema, so that it is recognised within itself."""
        return self.parts[0].pointer if self.parts else self.schema.pointer

    @property
    def is_deep(self) -> bool:
        """True if only required members are made: far down, or within the same schema."""
        return len(self.above) >= self.depth or self.pointer in self.above


class Sampler:
    """Makes sample values for the schemas of one document.

    Args:
        schemas: The document's validators.
        seed: The same seed and schema give the same value.
        number: Which of several values for one place is made, counted from 0.
        style: What kind of values is made.
    """

    def __init__(
        self, schemas: Schemas, seed: int, number: int = 0, style: SampleStyle = PLAUSIBLE
    ) -> None:
        self._schemas = schemas
        self._seed = seed
        self._number = number
        self._style = style
        self._made = [0]

    def value(self, schema: Node, name: str = "", above: tuple[str, ...] = ()) -> Any:
        """Makes a value.

        Args:
            schema: The schema of the value.
            name: Name of the member; it suggests what a person expects to see.
            above: Pointers of the schemas around it.

        Raises:
            LimitExceeded: The schema requires more than a response may hold.
        """
        if not above:
            self._made = [0]
        is_valid = self._schemas.validator(schema).is_valid
        depth = self._style.depth
        places = [_Place(schema, parts, name, above, depth) for parts in self._readings(schema)]
        if above.count(places[0].pointer) >= MAX_REPEATS:
            return None
        if places[0].is_deep:
            places.reverse()  # what ends a recursion is written last: expression | literal
        declared = [value for place in places for value in _declared(place) if is_valid(value)]
        if declared:
            return declared[self._number % len(declared)]
        values = [self._typed(places[0])]
        if len(above) <= MAX_RETRIED_DEPTH and not is_valid(values[0]):
            values += [self._typed(place) for place in places[1:]]
        return next((value for value in values if is_valid(value)), values[0])

    def _readings(
        self, schema: Node, seen: frozenset[str] = frozenset()
    ) -> Iterator[tuple[Node, ...]]:
        """Yields the parts of a schema, once for each of its alternatives."""
        parts, pending = [], [schema]
        while pending:
            part = pending.pop(0)
            if isinstance(part.value, dict) and part.pointer not in seen:
                seen |= {part.pointer}
                parts.append(part)
                if "$ref" in part.value:
                    pending.append(self._schemas.follow(part))
                pending += _listed(part, "allOf")
        alternatives = [
            node for part in parts for node in _listed(part, "oneOf") or _listed(part, "anyOf")
        ]
        own = tuple(part for part in parts if set(part.value) != {"$ref"})
        if not alternatives:
            yield own
        for alternative in alternatives:
            for more in self._readings(alternative, seen):
                yield (*own, *more)

    def _typed(self, place: _Place) -> Any:
        match place.type:
            case "object":
                return self._object(place)
            case "array":
                return self._array(place)
            case "integer" | "number":
                return self._number_for(place)
            case "boolean":
                return True
            case "null":
                return None
            case _:
                return self._text(place)

    def _object(self, place: _Place) -> dict[str, Any]:
        declared = place.children("properties")
        required = [name for names in place.values("required") for name in names]
        fewest = max(place.values("minProperties"), default=0)
        optional = [] if place.is_deep else [n for n in declared if self._is_made(declared[n])]
        names = dict.fromkeys([*optional, *required])
        self._count(max(fewest, len(names)))
        for number in range(fewest):
            if len(names) < fewest:
                names.setdefault(f"member_{number + 1}")
        other = (part.child("additionalProperties") for part in place.parts)
        others = next((node for node in other if node and isinstance(node.value, dict)), None)
        made = {str(n): self._below(declared.get(n, others), str(n), place) for n in names}
        for name, text in discriminating_members(place.parts).items():
            member = declared.get(name)
            if name in made and (member is None or self._schemas.validator(member).is_valid(text)):
                made[name] = text
        return made

    def _is_made(self, member: Node) -> bool:
        if not self._style.is_for_requests:
            return True
        followed = self._schemas.follow(member).value
        return not (isinstance(followed, dict) and followed.get("readOnly"))

    def _array(self, place: _Place) -> list[Any]:
        fewest = max(place.values("minItems"), default=0)
        most = min(place.values("maxItems"), default=max(1, fewest))
        items = next((part.child("items") for part in place.parts if "items" in part.value), None)
        first = place.children("prefixItems")
        contained = [node for part in place.parts if (node := part.child("contains"))]
        item_name = place.name.removesuffix("s")
        if contained:
            return [self._below(node, item_name, place) for node in contained]
        if (items is None or place.is_deep) and not fewest and not self._style.is_plain:
            return []
        count = min(most, max(1, fewest, len(first) if self._style.is_plain else 0))
        self._count(count)
        return [
            self._below(first.get(number, items), item_name, place, number)
            for number in range(count)
        ]

    def _below(self, schema: Node | None, name: str, place: _Place, number: int = 0) -> Any:
        if schema is None:
            return self._style.text(name, "", f"{self._seed} {number} {place.pointer} {name}")
        sampler = Sampler(self._schemas, self._seed, number or self._number, self._style)
        sampler._made = self._made
        return sampler.value(schema, name, (*place.above, place.pointer))

    def _count(self, values: int) -> None:
        """Counts values before they are made: a small schema can require any number of them."""
        self._made[0] += values
        SAMPLE_VALUES.check(self._made[0])

    def _number_for(self, place: _Place) -> float:
        """Tries the numbers that the bounds suggest until the schema accepts one."""
        bounds = [
            bound
            for keyword in _BOUNDS
            for bound in place.values(keyword)
            if not isinstance(bound, bool)
        ]
        steps = place.values("multipleOf")
        near = [bound + step for bound in bounds for step in (0, 1, -1, 0.5, -0.5)]
        multiples = [(b // s + n) * s for b in bounds or [0] for s in steps for n in (0, 1, 2, -1)]
        middle = [sum(bounds) / len(bounds)] if bounds else []
        varied = [self._number + 1, *(bound + self._number + 1 for bound in bounds)]
        is_valid = self._schemas.validator(place.schema).is_valid
        order = (
            (near, multiples, middle, varied)
            if self._style.is_plain
            else (varied, near, multiples, middle)
        )
        return next((number for numbers in order for number in numbers if is_valid(number)), 1)

    def _text(self, place: _Place) -> str:
        """Tries texts until the schema accepts one."""
        is_valid = self._schemas.validator(place.schema).is_valid
        seeds = (f"{self._seed} {self._number} {attempt}" for attempt in range(_ATTEMPTS))
        texts = (self._one_text(place, seed) for seed in seeds)
        return next((text for text in texts if is_valid(text)), "")

    def _one_text(self, place: _Place, seed: str) -> str:
        for pattern in place.values("pattern"):
            with contextlib.suppress(ValueError):
                return matching(pattern, seed)
        form = "".join(place.values("format")[:1])
        text = self._style.text(place.name, form, f"{seed} {place.pointer}")
        shortest = max(place.values("minLength"), default=0)
        SAMPLE_CHARACTERS.check(shortest)
        while len(text) < shortest:
            text += "a" if form else f" {self._style.text('', '', f'{seed} {len(text)}')}"
        return text[: min(place.values("maxLength"), default=len(text))]


def _listed(part: Node, keyword: str) -> list[Node]:
    below = part.child(keyword)
    return [] if below is None else [node for _, node in below.children()]


def _declared(place: _Place) -> list[Any]:
    """Returns the values that a document gives; examples first, as those are meant to be seen."""
    single = [*place.values("example"), *place.values("const"), *place.values("default")]
    return single + [
        value
        for keyword in ("examples", "enum")
        for listed in place.values(keyword)
        if isinstance(listed, list)
        for value in listed
    ]

"""Makes values up that keep to a schema, for answers that nobody wrote a handler for.

A schema is read as the sum of its parts: itself, what it refers to, all of ``allOf`` and one of
``oneOf`` or ``anyOf``. What comes of it is held against the compiled schema, which decides between
examples and between alternatives; where none will do, the first is as good as any.
"""

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from understudy.openapi.loader import Node
from understudy.openapi.sample_texts import matching, text_for
from understudy.openapi.schemas import Schemas

MAX_REPEATS = 3
"""How often a schema may stand within itself: one that requires itself can never be satisfied."""

MAX_DEPTH = 5
"""Levels of a made-up value with optional members: what refers to much grows by powers."""

MAX_RETRIED_DEPTH = 2
"""Levels at which alternatives are tried: each try makes up everything below it."""

_ATTEMPTS = 5
_BOUNDS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
_KEYWORDS_OF = {
    "object": frozenset({"properties", "required", "additionalProperties", "minProperties"}),
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems"}),
    "number": frozenset({*_BOUNDS, "multipleOf"}),
}
_PREFERRED = ("object", "array", "string", "integer", "number", "boolean", "null")


class _Place(NamedTuple):
    """Where a value goes: the parts of its schema, its name, and what stands above it."""

    schema: Node
    parts: tuple[Node, ...]
    name: str
    above: tuple[str, ...]

    def said(self, keyword: str) -> list[Any]:
        """Returns what the parts say under a keyword."""
        return [part.value[keyword] for part in self.parts if keyword in part.value]

    def children(self, keyword: str) -> dict[str | int, Node]:
        """Returns the nodes below a keyword; of two under one name the first part's."""
        found: dict[str | int, Node] = {}
        for part in self.parts:
            below = part.child(keyword)
            if below is not None:
                found = {**dict(below.children()), **found}
        return found

    @property
    def type(self) -> str:
        """The type to make up: what every part agrees on, or what the keywords are about."""
        types = set(_PREFERRED)
        for said in self.said("type"):
            named = {said} if isinstance(said, str) else set(said)
            types &= named | ({"integer"} if "number" in named else set())
        if types != set(_PREFERRED):
            return next((kind for kind in _PREFERRED if kind in types), "string")
        keywords = {keyword for part in self.parts for keyword in part.value}
        return next((kind for kind, its in _KEYWORDS_OF.items() if its & keywords), "string")

    @property
    def pointer(self) -> str:
        """The schema's own, by which it is known again within itself."""
        return self.parts[0].pointer if self.parts else self.schema.pointer

    @property
    def is_deep(self) -> bool:
        """Tells whether to make up only what is required: it is far down, or within itself."""
        return len(self.above) >= MAX_DEPTH or self.pointer in self.above


class Sampler:
    """Makes values up.

    Args:
        schemas: The document's validators.
        seed: Same seed and schema, same value.
        turn: Of several values for one place, which one.
    """

    def __init__(self, schemas: Schemas, seed: int, turn: int = 0) -> None:
        self._schemas = schemas
        self._seed = seed
        self._turn = turn

    def value(self, schema: Node, name: str = "", above: tuple[str, ...] = ()) -> Any:
        """Makes up a value.

        Args:
            schema: What it must keep to.
            name: Of the member it is for; says much of what a person expects to see.
            above: Pointers of the schemas that it stands within.
        """
        takes = self._schemas.validator(schema).is_valid
        places = [_Place(schema, parts, name, above) for parts in self._readings(schema)]
        if above.count(places[0].pointer) >= MAX_REPEATS:
            return None
        if places[0].is_deep:
            places.reverse()  # what ends a circle is written last: expression | literal
        given = [found for place in places for found in _given(place) if takes(found)]
        if given:
            return given[self._turn % len(given)]
        made = [self._typed(places[0])]
        if len(above) <= MAX_RETRIED_DEPTH and not takes(made[0]):
            made += [self._typed(place) for place in places[1:]]
        return next((found for found in made if takes(found)), made[0])

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
        telling = tuple(part for part in parts if set(part.value) != {"$ref"})
        if not alternatives:
            yield telling
        for alternative in alternatives:
            for more in self._readings(alternative, seen):
                yield (*telling, *more)

    def _typed(self, place: _Place) -> Any:
        match place.type:
            case "object":
                return self._object(place)
            case "array":
                return self._array(place)
            case "integer" | "number":
                return self._number(place)
            case "boolean":
                return True
            case "null":
                return None
            case _:
                return self._text(place)

    def _object(self, place: _Place) -> dict[str, Any]:
        declared = place.children("properties")
        required = [name for names in place.said("required") for name in names]
        fewest = max(place.said("minProperties"), default=0)
        names = dict.fromkeys(required if place.is_deep else [*declared, *required])
        for number in range(fewest):
            if len(names) < fewest:
                names.setdefault(f"member_{number + 1}")
        other = (part.child("additionalProperties") for part in place.parts)
        others = next((node for node in other if node and isinstance(node.value, dict)), None)
        return {
            str(name): self._below(declared.get(name, others), str(name), place) for name in names
        }

    def _array(self, place: _Place) -> list[Any]:
        fewest = max(place.said("minItems"), default=0)
        most = min(place.said("maxItems"), default=max(1, fewest))
        items = next((part.child("items") for part in place.parts if "items" in part.value), None)
        if (items is None or place.is_deep) and not fewest:
            return []
        first = place.children("prefixItems")
        return [
            self._below(first.get(number, items), place.name.removesuffix("s"), place, turn=number)
            for number in range(min(most, max(1, fewest)))
        ]

    def _below(self, schema: Node | None, name: str, place: _Place, turn: int = 0) -> Any:
        if schema is None:
            return text_for(name, "", f"{self._seed} {turn} {place.pointer} {name}")
        sampler = Sampler(self._schemas, self._seed, turn or self._turn)
        return sampler.value(schema, name, (*place.above, place.pointer))

    def _number(self, place: _Place) -> float:
        """Tries what the bounds suggest until the schema takes one."""
        bounds = [b for keyword in _BOUNDS for b in place.said(keyword) if not isinstance(b, bool)]
        steps = place.said("multipleOf")
        near = [bound + step for bound in bounds for step in (0, 1, -1, 0.5, -0.5)]
        multiples = [(b // s + n) * s for b in bounds or [0] for s in steps for n in (0, 1, 2, -1)]
        middle = [sum(bounds) / len(bounds)] if bounds else []
        turned = [self._turn + 1, *(bound + self._turn + 1 for bound in bounds)]
        takes = self._schemas.validator(place.schema).is_valid
        found = (*turned, *near, *multiples, *middle)
        return next((number for number in found if takes(number)), 1)

    def _text(self, place: _Place) -> str:
        """Tries texts until the schema takes one."""
        takes = self._schemas.validator(place.schema).is_valid
        seeds = (f"{self._seed} {self._turn} {attempt}" for attempt in range(_ATTEMPTS))
        made = (self._one_text(place, seed) for seed in seeds)
        return next((text for text in made if takes(text)), "")

    def _one_text(self, place: _Place, seed: str) -> str:
        for pattern in place.said("pattern"):
            with contextlib.suppress(ValueError):
                return matching(pattern, seed)
        form = "".join(place.said("format")[:1])
        text = text_for(place.name, form, f"{seed} {place.pointer}")
        shortest = max(place.said("minLength"), default=0)
        while len(text) < shortest:
            text += "a" if form else f" {text_for('', '', f'{seed} {len(text)}')}"
        return text[: min(place.said("maxLength"), default=len(text))]


def _listed(part: Node, keyword: str) -> list[Node]:
    below = part.child(keyword)
    return [] if below is None else [node for _, node in below.children()]


def _given(place: _Place) -> list[Any]:
    """Returns what a document gives for a value: examples first, as those are meant to be seen."""
    found = [*place.said("example"), *place.said("const"), *place.said("default")]
    return found + [
        value for key in ("examples", "enum") for said in place.said(key) for value in said
    ]

"""Reads the bounds of schemas: of numbers, of lengths, and of how many members or items there are."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

Ranges = Mapping[str, "Bound"]
"""Name of a bound, such as ``minimum``, to its value."""

LEAST: Final = ("minimum", "minLength", "minItems", "minProperties")
GREATEST: Final = ("maximum", "maxLength", "maxItems", "maxProperties")
_EXCLUSIVE: Final = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_NO_BOUND: Final = {"minLength": 0, "minItems": 0, "minProperties": 0}
"""Bounds that leave nothing out."""


class Bound(NamedTuple):
    """The least or the greatest value, and whether the value itself is left out."""

    value: float
    is_exclusive: bool = False

    def __str__(self) -> str:
        """Returns it as a message has it."""
        return f"{self.value:g} (exclusive)" if self.is_exclusive else f"{self.value:.12g}"


def ranges_of(schema: Mapping[str, Any]) -> Ranges:
    """Returns the bounds of one schema; bounds of JSON Schema and of OpenAPI 3.0 are equal."""
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
    """Returns the bounds that hold where all of several do."""
    merged: dict[str, Bound] = {}
    for each in ranges:
        for name, bound in each.items():
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

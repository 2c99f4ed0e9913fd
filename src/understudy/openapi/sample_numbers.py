"""Makes numbers that schemas accept: between bounds, and multiples of steps."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from math import ceil, floor, lcm
from typing import Any

from understudy.openapi.sample_places import BOUNDS, SchemaPlace

_TRIES = 8


def numbers(place: SchemaPlace, number: int, *, is_plain: bool) -> Iterator[float]:
    """Yields numbers that a place may accept, the likeliest first.

    Args:
        place: The place of the number.
        number: Which of several values for one place is made, counted from 0.
        is_plain: Whether the lowest numbers come first, where there are bounds.
    """
    bounds = [
        bound
        for keyword in BOUNDS
        for bound in place.values(keyword)
        if isinstance(bound, int | float) and not isinstance(bound, bool)
    ]
    near = [bound + step for bound in bounds for step in (0, 1, -1, 0.5, -0.5)]
    varied = [number + 1, *(bound + number + 1 for bound in bounds)]
    exact = _exact(place, number)
    others = (0, 1.5, -1, 0.5, 100, 10_000, -1.5, 1e9)
    is_bound = bool(
        bounds or place.values("multipleOf")
    )  # else it counts from 1, as identifiers do
    yield from chain(near, exact, varied) if is_plain and is_bound else chain(varied, exact, near)
    yield from others


def _exact(place: SchemaPlace, number: int) -> Iterator[float]:
    """Yields multiples of the common step between the bounds, or else fractions of their span.

    Integers come first where they are allowed.
    """
    low = _tightest(place, "minimum", "exclusiveMinimum", max)
    high = _tightest(place, "maximum", "exclusiveMaximum", min)
    steps = [abs(Fraction(str(step))) for step in place.values("multipleOf") if step]
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
    """Yields multiples of a step from the lower bound on, or down from the upper one."""
    if low is None and high is not None:
        first, sign = floor(high / step), -1
    else:
        first, sign = ceil((low or Fraction(0)) / step), 1
    for tried in range(_TRIES):
        yield _number(step * (first + sign * (number + tried)))
        yield _number(step * (first + sign * tried))


def _tightest(place: SchemaPlace, inclusive: str, exclusive: str, choose: Any) -> Fraction | None:
    bounds = [*place.values(inclusive), *place.values(exclusive)]
    known = [Fraction(str(it)) for it in bounds if isinstance(it, int | float) and it is not True]
    return choose(known) if known else None


def _common(steps: list[Fraction]) -> Fraction:
    """Returns the least number that is a multiple of all steps."""
    common = steps[0]
    for step in steps[1:]:
        denominator = lcm(common.denominator, step.denominator)
        both = (int(common * denominator), int(step * denominator))
        common = Fraction(lcm(*both), denominator)
    return common


def _number(value: Fraction) -> float:
    return int(value) if value.denominator == 1 else float(value)

"""Draws charts as SVG: bars for servers, lines for growth.

Colours are CSS variables of the page, so that one drawing serves light and dark. A chart has a title,
a description for those who do not see it, and the unit at its axis; the page has its figures as a
table too.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape

from tests.tools.benchmarks.figures import Growth
from tests.tools.benchmarks.loads import Spread

WIDTH = 720
_NAMES, _RIGHT = 220, 150
_ROW = 26
_LEFT, _TOP, _BOTTOM, _HEIGHT = 70, 28, 48, 310
_END = WIDTH - 40
_LINES = 4
"""Colours that the page has for lines."""

SYMBOLS = ("circle", "square", "triangle", "diamond")
"""Marks of the points, so that lines differ without colour."""


def bars(title: str, unit: str, values: Mapping[str, Spread]) -> str:
    """Draws a bar a server, with a thin line from the least to the most of the rounds.

    Args:
        title: What a screen reader calls the chart.
        unit: Of the values, for the axis.
        values: Server to value, from top to bottom.
    """
    most = max((value.most for value in values.values()), default=0) or 1
    scale = (WIDTH - _NAMES - _RIGHT) / most
    parts = []
    for row, (name, value) in enumerate(values.items()):
        top = row * _ROW
        middle = top + _ROW / 2
        parts += [
            f'<text x="{_NAMES - 8}" y="{middle + 4:g}" class="name">{escape(name)}</text>',
            f'<rect x="{_NAMES}" y="{top + 5}" width="{value.median * scale:.1f}" '
            f'height="{_ROW - 10}" class="bar{_ours(name)}"/>',
            f'<path d="M{_NAMES + value.least * scale:.1f} {middle:g}H'
            f'{_NAMES + value.most * scale:.1f}" class="spread"/>',
            f'<text x="{_NAMES + value.most * scale + 6:.1f}" y="{middle + 4:g}" class="value">'
            f"{number(value.median)}</text>",
        ]
    height = len(values) * _ROW
    parts += [
        f'<path d="M{_NAMES} 0V{height}H{WIDTH - _RIGHT}" class="axis"/>',
        f'<text x="{_NAMES}" y="{height + 20}" class="value">{escape(unit)}</text>',
    ]
    description = "; ".join(f"{name}: {number(it.median)}" for name, it in values.items())
    return _svg(title, f"{unit}: {description}", height + 30, parts)


def lines(growth: Growth) -> str:
    """Draws a line for each of a growth's series; sizes grow tenfold from mark to mark."""
    points = [point for series in growth.series.values() for point in series.items()]
    across = _Axis([math.log10(max(size, 1)) for size, _ in points], _LEFT, _END)
    up = _Axis([0, *(value for _, value in points)], _HEIGHT - _BOTTOM, _TOP)
    parts = [
        f'<path d="M{_LEFT} {_TOP}V{_HEIGHT - _BOTTOM}H{_END}" class="axis"/>',
        *(
            f'<path d="M{_LEFT} {up.at(mark):.1f}H{_END}" class="grid"/>'
            f'<text x="{_LEFT - 6}" y="{up.at(mark) + 4:.1f}" class="name">{number(mark)}</text>'
            for mark in marks(up.most)
        ),
        *(
            f'<text x="{across.at(math.log10(max(size, 1))):.1f}" y="{_HEIGHT - _BOTTOM + 18}" '
            f'class="mark">{size:,}</text>'
            for size in sorted({size for size, _ in points})
        ),
        f'<text x="{(_LEFT + _END) / 2:g}" y="{_HEIGHT - 8}" class="mark">{escape(growth.size)}</text>',
        f'<text x="{_LEFT - 60}" y="{_TOP - 12}" class="value">{escape(growth.unit)}</text>',
    ]
    for place, series in enumerate(growth.series.values()):
        places = [
            (across.at(math.log10(max(size, 1))), up.at(value)) for size, value in series.items()
        ]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        style = f"line l{place % _LINES}"
        parts.append(f'<path d="M{path}" class="{style}"/>')
        parts += [_symbol(place, x, y) for x, y in places]
    description = "; ".join(
        f"{name}: " + ", ".join(f"{size:,} {growth.size}: {number(it)}" for size, it in s.items())
        for name, s in growth.series.items()
    )
    return _svg(growth.title, f"{growth.unit}: {description}", _HEIGHT, parts)


def legend(names: Sequence[str]) -> str:
    """Draws the names of a chart's lines, each behind its colour and its mark."""
    items = (
        f'<li><svg width="34" height="14" aria-hidden="true"><path d="M0 7H34" '
        f'class="line l{place % _LINES}"/>{_symbol(place, 17, 7)}</svg> {escape(name)}</li>'
        for place, name in enumerate(names)
    )
    return f"<ul class=legend>{''.join(items)}</ul>"


def marks(most: float) -> list[float]:
    """Returns some round values up to the most, for the marks of an axis."""
    if most <= 0:
        return [0]
    step = 10 ** math.floor(math.log10(most))
    step = next(step * part for part in (0.2, 0.5, 1, 2, 5) if most / (step * part) <= 5)
    return [count * step for count in range(int(most / step) + 1)]


def number(value: float) -> str:
    """Returns a figure as it is printed: three digits, and whole from 100."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


class _Axis:
    """Places values between two ends of a drawing."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        self.least, self.most = min(values), max(values)
        self._first, self._last = first, last

    def at(self, value: float) -> float:
        """Returns where a value is drawn."""
        share = (value - self.least) / ((self.most - self.least) or 1)
        return self._first + share * (self._last - self._first)


def _symbol(place: int, x: float, y: float) -> str:
    style = f'class="point l{place % _LINES}"'
    match SYMBOLS[place % len(SYMBOLS)]:
        case "circle":
            return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" {style}/>'
        case "square":
            return f'<path d="M{x - 4:.1f} {y - 4:.1f}h8v8h-8z" {style}/>'
        case "triangle":
            return f'<path d="M{x:.1f} {y - 5:.1f}l5 9h-10z" {style}/>'
        case _:
            return f'<path d="M{x:.1f} {y - 5:.1f}l5 5-5 5-5-5z" {style}/>'


def _svg(title: str, description: str, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img" '
        f'aria-label="{escape(title)}. {escape(description)}">{"".join(parts)}</svg>'
    )


def _ours(name: str) -> str:
    return " ours" if name.startswith("understudy") else ""

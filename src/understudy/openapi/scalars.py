"""Reads a scalar of a document as the type that OpenAPI has there, where it can be meant so."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from understudy.openapi.positions import Losses, Position, shown

_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise ValueError


def _flag(value: Any) -> bool:
    texts = {"true": True, "false": False}
    if isinstance(value, str) and value.strip().lower() in texts:
        return texts[value.strip().lower()]
    if isinstance(value, bool):
        return value
    raise ValueError


def _number(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value)
    if isinstance(value, str):
        return float(value)
    raise ValueError


def _count(value: Any) -> int:
    number = _number(value)
    if number < 0 or number != int(number):
        raise ValueError
    return int(number)


SCALARS: Final[Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "text": ("a text", _text),
    "flag": ("true or false", _flag),
    "number": ("a number", _number),
    "count": ("a whole number that is not negative", _count),
}
"""Name in the grammar to what a message calls it, and what reads it; ValueError where it is none."""


_PLAIN: Final = {"text": str, "flag": bool}


def is_plain(value: Any, kind: str) -> bool:
    """Tells whether a scalar needs no reading, as most do; it saves half of a walk."""
    return type(value) is _PLAIN.get(kind)


def read_scalar(losses: Losses, place: Position) -> None:
    """Reads the scalar at a place as the type that its kind names, or leaves it out."""
    name, read = SCALARS[place.kind]
    try:
        value = read(place.value)
    except (ValueError, OverflowError):
        losses.drop("wrong-type", place, f"{shown(place.value)} is not {name}")
        return
    if type(value) is not type(place.value):
        message = f"{shown(place.value)} is not {name}; read as {shown(value)}."
        losses.note("converted-value", place, message)
        place.replace(value)


def read_scalars(losses: Losses, place: Position, kind: str) -> None:
    """Reads a list of scalars, and leaves those out that are of another type."""
    name, read = SCALARS[kind]
    items = []
    for item in place.value:
        try:
            items.append(read(item))
            if type(items[-1]) is not type(item):
                message = f"{shown(item)} is not {name}; read as {shown(items[-1])}."
                losses.note("converted-value", place, message)
        except (ValueError, OverflowError):
            losses.note("wrong-type", place, f"{shown(item)} is not {name}; it is left out.")
    if items != place.value:
        place.replace(items)

"""Turns what a fixture file holds into records, and says where and how to mend what does not fit.

msgspec's own complaint names the key and its place; what it lacks is the file and the remedy.
"""

import re
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

from understudy.errors import FixtureError, nearest

Fixture = TypeVar("Fixture")


def converted(where: object, value: Any, kind: type[Fixture]) -> Fixture:
    """Returns a value as a record, or as a list of records.

    Args:
        where: The file.
        value: What YAML or JSON made of it.
        kind: What it should be.

    Raises:
        FixtureError: It is something else.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise misfit(where, error, kind) from error


def misfit(where: object, error: Exception, kind: type) -> FixtureError:
    """Returns msgspec's complaint with the file and a remedy."""
    text = str(error)
    unknown = re.search(r"unknown field `([^`]+)`", text)
    if unknown:
        remedy = nearest(unknown[1], _keys(kind, text)) or "; leave it out"
    elif "missing required field" in text:
        remedy = "; add it"
    else:
        remedy = "; mend it"
    return FixtureError(_ended(f"{where}: {text}{remedy}"))


def fault(where: object, key: str, what: str) -> FixtureError:
    """Returns what to say of a value that has the right type and yet cannot be used."""
    return FixtureError(_ended(f"{where}: {key}: {what}"))


def _ended(text: str) -> str:
    return text if text.endswith("?") else f"{text}."


def _keys(kind: type, text: str) -> tuple[str, ...]:
    """Returns the keys that are known at the end of a text like ``… - at `$.profile.links[...]```."""
    found = _struct(kind)
    for name in re.findall(r"\.(\w+)", text.rpartition("`$")[2]):
        found = _struct(get_type_hints(found)[name])
    return tuple(found.__struct_fields__)


def _struct(hint: Any) -> Any:
    """Returns the record in a type such as ``tuple[Link, ...] | UnsetType``."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return hint
    return next(filter(None, map(_struct, get_args(hint))), None)

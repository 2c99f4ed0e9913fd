"""Mends which members an object has: null, missing and unknown ones."""

from copy import copy
from typing import Any, Final

from understudy.errors import nearest
from understudy.openapi.grammar import MEMBERS, OPTIONAL_SINCE, REQUIRED
from understudy.openapi.positions import Losses, Position

NULLABLE: Final = frozenset({"schema", "response", "operation", "path item", "media type"})
"""Kinds that null stands for where their member has nothing but a name."""

_NO_VERSION = "9"
"""Later than any version."""


def drop_nulls(losses: Losses, place: Position) -> None:
    """Leaves out the members of an object that are null."""
    known = MEMBERS[place.kind]
    for name in [name for name, value in place.value.items() if value is None]:
        kind = known.get(name, "any")
        if kind != "any" and kind not in NULLABLE:
            losses.drop("null-member", place.below(name, kind), f"{name} is null")


def fill(losses: Losses, place: Position) -> None:
    """Adds the members that an object must have, and notes each."""
    for name in add_missing(losses, place.value, place.kind):
        message = f"this {place.kind} lacks {name}; read as {place.value[name]!r}."
        losses.note("missing-member", place, message)


def add_missing(losses: Losses, value: dict[str, Any], kind: str) -> list[str]:
    """Adds the members that an object of a kind must have, and returns their names."""
    missing = [
        name
        for name in REQUIRED.get(kind, {})
        if name not in value and losses.version < OPTIONAL_SINCE.get((kind, name), _NO_VERSION)
    ]
    value.update({name: copy(REQUIRED[kind][name]) for name in missing})
    return missing


def note_unknown(losses: Losses, place: Position, name: str) -> None:
    """Notes a member that OpenAPI does not have; in schemas only what is probably misspelt."""
    if name.startswith(("x-", "$")):
        return
    hint = nearest(name, list(MEMBERS[place.kind]))
    if hint or place.kind != "schema":
        message = f"OpenAPI has no {name!r} in a {place.kind}{hint or '.'}"
        losses.note("unknown-member", place.below(name, "any"), message)

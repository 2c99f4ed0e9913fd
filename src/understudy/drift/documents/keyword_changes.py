"""Compares the keywords of two schemas, one by one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from understudy.drift.documents.flat_schemas import (
    TYPES,
    Direction,
    FlatSchema,
    changed_ranges,
    types_text,
)

LONGEST_SHOWN: Final = 160
"""Characters of a value that a change shows."""

_WIDER_FORMATS: Final = {("int32", "int64"), ("float", "double")}
"""Pairs of formats of which the second has all values of the first."""

_NULL: Final = frozenset({"null"})
"""The type and its only value, as JSON; both are reported as the change ``null``."""

_TYPE_OF_BOUND: Final = {"Length": "string", "Items": "array", "Properties": "object"}


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """A change of one schema.

    Attributes:
        kind: One of the kinds of document changes.
        before: The older value; empty without one.
        after: The newer value; empty without one.
        member: Path of the member in the body; empty for the whole body.
        narrows: True if a value is valid by the older schema alone.
        widens: True if a value is valid by the newer schema alone.
        pointer: JSON pointer of the schema; empty for the newer of the two.
    """

    kind: str
    before: str = ""
    after: str = ""
    member: str = ""
    narrows: bool = False
    widens: bool = False
    pointer: str = ""

    def below(self, path: str) -> "SchemaChange":
        """Returns the change with a path before its member."""
        member = f"{path}.{self.member}" if path and self.member else path or self.member
        return replace(self, member=member)


def keyword_changes(
    old: FlatSchema, new: FlatSchema, direction: Direction
) -> Iterator[SchemaChange]:
    """Yields the changes of a schema's keywords, except those of its members."""
    yield from _types(old, new)
    if not old.types & new.types:
        return  # no value is valid by both, so comparing further keywords says nothing
    yield from _values(old, new)
    yield from _bounds(old, new)
    yield from _sets("pattern", old.patterns, new.patterns)
    yield from _formats(old, new)
    yield from _sets("keyword", old.keywords, new.keywords)
    if old.default != new.default and direction == "request":
        is_harmless = not old.default  # no client could rely on a default before
        yield SchemaChange("default", old.default, new.default, narrows=not is_harmless)
    if old.discriminator != new.discriminator:
        values = old.discriminator, new.discriminator
        yield SchemaChange("discriminator", *values, narrows=True, widens=True)


def member_changes(old: FlatSchema, new: FlatSchema) -> Iterator[SchemaChange]:
    """Yields the members that are added, removed, newly required or no longer required."""
    if "object" not in old.types & new.types:
        return
    for name in (it for it in new.properties if it not in old.properties):
        is_required = name in new.required
        yield SchemaChange(
            "member-added",
            member=name,
            after="required" if is_required else "optional",
            narrows=is_required and name not in old.required,
            widens=old.others is None,
        )
    for name in (it for it in old.properties if it not in new.properties):
        # breaks clients even where additional members are allowed: its type and meaning are gone
        yield SchemaChange(
            "member-removed", member=name, narrows=True, widens=True, pointer=old.pointer
        )
    kept = old.properties.keys() & new.properties.keys()
    named = kept | (old.required ^ new.required) - old.properties.keys() - new.properties.keys()
    for name in sorted(named & (new.required - old.required)):
        yield SchemaChange("member-required", member=name, narrows=True)
    for name in sorted(named & (old.required - new.required)):
        yield SchemaChange("member-optional", member=name, widens=True)
    if (old.others is None) != (new.others is None):
        is_closed = new.others is None
        kind = "members-closed" if is_closed else "members-opened"
        yield SchemaChange(kind, narrows=is_closed, widens=not is_closed)


def _types(old: FlatSchema, new: FlatSchema) -> Iterator[SchemaChange]:
    before, after = old.types, new.types
    if ("null" in before) != ("null" in after) and all(
        _is_type_beside_null(types) for types in (before, after)
    ):
        widens = "null" in after
        values = ("", "null") if widens else ("null", "")
        yield SchemaChange("null", *values, narrows=not widens, widens=widens)
        before, after = before - _NULL, after - _NULL
    is_listed = old.values is not None and new.values is not None
    if before != after and not (is_listed and before & after):  # else the change of values says it
        values = types_text(before), types_text(after)
        narrows, widens = bool(before - after), bool(after - before)
        yield SchemaChange("type", *values, narrows=narrows, widens=widens)


def _is_type_beside_null(types: frozenset[str]) -> bool:
    """Tells whether a schema has a type other than null, and not every type."""
    return bool(types - _NULL) and types < TYPES


def _values(old: FlatSchema, new: FlatSchema) -> Iterator[SchemaChange]:
    if old.values == new.values:
        return
    before = None if old.values is None else old.values - _NULL
    after = None if new.values is None else new.values - _NULL
    if before == after:
        return
    yield SchemaChange(
        "enum",
        before=_shortened(_listed(before, after)),
        after=_shortened(_listed(after, before)),
        narrows=after is not None and (before is None or bool(before - after)),
        widens=before is not None and (after is None or bool(after - before)),
    )


def _listed(values: frozenset[str] | None, others: frozenset[str] | None) -> str:
    """Lists the values that are not among the others."""
    if values is None:
        return "any value"
    return ", ".join(sorted(values if others is None else values - others))


def _bounds(old: FlatSchema, new: FlatSchema) -> Iterator[SchemaChange]:
    shared = old.types & new.types
    for name, is_narrower in changed_ranges(old.ranges, new.ranges):
        kinds = {_TYPE_OF_BOUND.get(name[3:], "integer")}
        if not kinds & shared:
            continue
        before, after = (f"{name} {it.ranges.get(name, 'none')}" for it in (old, new))
        yield SchemaChange("bound", before, after, narrows=is_narrower, widens=not is_narrower)


def _formats(old: FlatSchema, new: FlatSchema) -> Iterator[SchemaChange]:
    for change in _sets("format", old.formats, new.formats):
        pair = change.before, change.after
        if pair in _WIDER_FORMATS:
            yield replace(change, narrows=False)
        elif pair[::-1] in _WIDER_FORMATS:
            yield replace(change, widens=False)
        else:
            yield change


def _sets(kind: str, old: frozenset[str], new: frozenset[str]) -> Iterator[SchemaChange]:
    """Yields the change of a set of constraints: adding one narrows, removing one widens."""
    if old != new:
        yield SchemaChange(
            kind,
            before=_shortened(", ".join(sorted(old - new))),
            after=_shortened(", ".join(sorted(new - old))),
            narrows=bool(new - old),
            widens=bool(old - new),
        )


def _shortened(text: str) -> str:
    """Returns the start of a long text with a hash, so that different texts stay different."""
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[:LONGEST_SHOWN]}… (SHA-256 {sha256(text.encode()).hexdigest()[:8]})"

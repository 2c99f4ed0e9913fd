"""Finds what differs between two schemas, and whether the newer one takes fewer or more values.

A pair of schemas is compared once for a body, at the shortest path that leads to it: schemas may
contain themselves, and one that is used in many members would be reported for each.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from understudy.drift.documents.alternatives import Parts
from understudy.drift.documents.flat_schemas import (
    Direction,
    FlatSchema,
    FlatSchemas,
    types_text,
)
from understudy.drift.documents.keyword_changes import SchemaChange, keyword_changes, member_changes
from understudy.openapi.loader import Document, Node


class _Pair(NamedTuple):
    """The schemas of one place in both documents."""

    old: Parts
    new: Parts

    @property
    def key(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return tuple(it.pointer for it in self.old), tuple(it.pointer for it in self.new)


_Key = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Compared:
    """The changes between two schemas themselves, and the pairs of schemas below them."""

    changes: tuple[SchemaChange, ...]
    below: tuple[tuple[str, _Pair], ...]


class SchemaComparison:
    """Compares schemas of two documents in messages of one direction.

    Args:
        old: The older document, in one dialect.
        new: The newer document, in one dialect.
        direction: The direction of the messages.
    """

    def __init__(self, old: Document, new: Document, direction: Direction) -> None:
        self._direction = direction
        self._old = FlatSchemas(old, direction)
        self._new = FlatSchemas(new, direction)
        self._compared: dict[_Key, _Compared] = {}
        self._equal: set[_Key] = set()
        self._different: set[_Key] = set()

    def changes(self, old: Node | None, new: Node | None) -> Iterator[SchemaChange]:
        """Yields what differs between two schemas, the outermost first; none takes any value."""
        pending = deque([("", _Pair(_parts(old), _parts(new)))])
        visited: set[_Key] = set()
        while pending:
            path, pair = pending.popleft()
            if pair.key in visited or self._is_equal(pair):
                continue
            visited.add(pair.key)
            compared = self._compare(pair)
            yield from (change.below(path) for change in compared.changes)
            pending += ((_joined(path, step), below) for step, below in compared.below)

    def _is_equal(self, pair: _Pair) -> bool:
        """Tells whether two schemas take the same values."""
        if pair.key not in self._equal and pair.key not in self._different:
            self._settle(pair)
        return pair.key in self._equal

    def _settle(self, pair: _Pair) -> None:
        """Decides for all pairs below one: those are different that lead to a change."""
        above: dict[_Key, list[_Key]] = {pair.key: []}
        changed: list[_Key] = []
        pending = [pair]
        while pending:
            current = pending.pop()
            compared = self._compare(current)
            if compared.changes or current.key in self._different:
                changed.append(current.key)
            for _, below in compared.below:
                if below.key not in above:
                    above[below.key] = []
                    pending.append(below)
                above[below.key].append(current.key)
        different: set[_Key] = set()
        while changed:
            key = changed.pop()
            if key not in different:
                different.add(key)
                changed += above[key]
        self._different |= different
        self._equal |= above.keys() - different

    def _compare(self, pair: _Pair) -> _Compared:
        known = self._compared.get(pair.key)
        if known is None:
            known = self._compared[pair.key] = self._compare_alternatives(pair)
        return known

    def _compare_alternatives(self, pair: _Pair) -> _Compared:
        old, new = list(self._old.alternatives(pair.old)), list(self._new.alternatives(pair.new))
        changes: dict[SchemaChange, None] = {}
        below: list[tuple[str, _Pair]] = []
        for one, two in _paired(old, new):
            changes |= dict.fromkeys(self._local(one, two))
            below += _below(one, two)
        for flat in old:
            changes[_alternative("removed", flat)] = None
        for flat in new:
            changes[_alternative("added", flat)] = None
        return _Compared(tuple(changes), tuple(below))

    def _local(self, old: FlatSchema, new: FlatSchema) -> Iterator[SchemaChange]:
        yield from keyword_changes(old, new, self._direction)
        yield from member_changes(old, new)


def _parts(schema: Node | None) -> Parts:
    return (Node("", {}) if schema is None else schema,)


def _joined(path: str, step: str) -> str:
    return f"{path}{step}" if not path or step.startswith("[") else f"{path}.{step}"


def _below(old: FlatSchema, new: FlatSchema) -> Iterator[tuple[str, _Pair]]:
    """Yields the schemas of members and items that both have."""
    for name, schemas in old.properties.items():
        if name in new.properties:
            yield name, _Pair(schemas, new.properties[name])
    if "array" in old.types & new.types:
        yield "[]", _Pair(_any_value(old.items), _any_value(new.items))
    if "object" in old.types & new.types and old.others is not None and new.others is not None:
        yield "*", _Pair(_any_value(old.others), _any_value(new.others))


def _any_value(parts: Parts) -> Parts:
    return parts or _parts(None)


def _alternative(what: str, flat: FlatSchema) -> SchemaChange:
    is_added = what == "added"
    text = flat.name if "/schemas/" in flat.pointer else types_text(flat.types)
    return SchemaChange(
        f"alternative-{what}",
        before="" if is_added else text,
        after=text if is_added else "",
        narrows=not is_added,
        widens=is_added,
        pointer=flat.pointer,
    )


def _paired(
    old: list[FlatSchema], new: list[FlatSchema]
) -> Iterable[tuple[FlatSchema, FlatSchema]]:
    """Takes the alternatives that belong together out of both lists, and returns them."""
    pairs = []
    for alike in (_is_same_in_name, _is_same_in_shape, _is_same_in_type):
        for one in list(old):
            two = next((it for it in new if alike(one, it)), None)
            if two is not None:
                pairs.append((one, two))
                old.remove(one)
                new.remove(two)
    if len(old) == len(new) == 1:
        pairs.append((old.pop(), new.pop()))
    return pairs


def _is_same_in_name(one: FlatSchema, other: FlatSchema) -> bool:
    return one.name == other.name and not one.name.isdecimal()


def _is_same_in_shape(one: FlatSchema, other: FlatSchema) -> bool:
    return _shape(one) == _shape(other)


def _is_same_in_type(one: FlatSchema, other: FlatSchema) -> bool:
    is_alike = bool(one.properties.keys() & other.properties.keys())
    return one.types == other.types and (is_alike or "object" not in one.types)


def _shape(flat: FlatSchema) -> tuple[object, ...]:
    return flat.types, flat.values, flat.patterns, flat.formats, frozenset(flat.properties)

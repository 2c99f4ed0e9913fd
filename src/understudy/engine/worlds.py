"""Worlds: isolated universes, each a small overlay of changed records on one shared baseline.

Records are frozen and a change is a value, so dropping or copying a world costs what was changed in
it and not what it holds. Copying the records themselves would take milliseconds and megabytes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from understudy.engine.clock import Clock
from understudy.engine.identifiers import Identifiers
from understudy.engine.windows import Window

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Collection(Generic[Record]):
    """The name of one kind of record, and its type; the records themselves live in worlds."""

    name: str


class Change(NamedTuple):
    """One record of one collection, replaced by another or (None) removed."""

    collection: str
    key: str
    record: Any


Baseline = Mapping[str, Mapping[str, Any]]
"""Collection name to key to record; shared by all worlds and never changed."""

_EMPTY: Mapping[str, Any] = {}


@dataclass(slots=True)
class World:
    """One isolated universe.

    Attributes:
        name: As it stands in the world's base address.
        baseline: What the fixtures said.
        clock: The world's time.
        identifiers: The world's source of new identifiers.
        choices: Switch name to option, where it differs from the default of ``rules.yaml``.
        windows: Principal to what it has used of its rate limit.
    """

    name: str
    baseline: Baseline
    clock: Clock = field(default_factory=Clock)
    identifiers: Identifiers = field(default_factory=Identifiers)
    choices: Mapping[str, str] = field(default_factory=dict)
    windows: dict[str, Window] = field(default_factory=dict)
    _overlay: dict[str, dict[str, Any]] = field(default_factory=dict)

    def get(self, collection: Collection[Record], key: str) -> Record | None:
        """Returns the record at this key, or None where there is none."""
        changed = self._overlay.get(collection.name)
        if changed is not None and key in changed:
            found: Record | None = changed[key]
            return found
        return self.baseline.get(collection.name, _EMPTY).get(key)

    def items(self, collection: Collection[Record]) -> Iterator[tuple[str, Record]]:
        """Yields every key and record: the baseline's in its order, then what was added."""
        baseline = self.baseline.get(collection.name, _EMPTY)
        changed = self._overlay.get(collection.name, _EMPTY)
        for key, record in baseline.items():
            current = changed.get(key) if key in changed else record
            if current is not None:
                yield key, current
        for key, record in changed.items():
            if key not in baseline and record is not None:
                yield key, record

    def put(self, collection: Collection[Record], key: str, record: Record) -> None:
        """Adds a record or replaces the one at this key."""
        self.apply(Change(collection.name, key, record))

    def remove(self, collection: Collection[Record], key: str) -> None:
        """Removes the record at this key; removing what is not there changes nothing."""
        if self.get(collection, key) is not None:
            self.apply(Change(collection.name, key, None))

    def apply(self, change: Change) -> None:
        """Carries out one change: the only place where the state of a world changes."""
        self._overlay.setdefault(change.collection, {})[change.key] = change.record

"""Keeps isolated states of the service, each an overlay of changed records on one shared baseline.

Records are frozen and a change is a value, so dropping or copying a world costs what was changed in
it and not what it holds. Copying the records themselves would take milliseconds and megabytes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from understudy.errors import Conflict
from understudy.limits import RECORDS
from understudy.mock.server.clock import Clock
from understudy.mock.server.faults import Fault
from understudy.mock.server.history import RECORD_BYTES, WorldHistory
from understudy.mock.server.history_steps import ABSENT, Settings
from understudy.mock.server.identifiers import Identifiers
from understudy.mock.server.journal import Journal
from understudy.mock.server.records import Baseline, Collection, Record, RecordChange
from understudy.mock.server.snapshots import Snapshot
from understudy.mock.server.weights import Weight
from understudy.mock.server.windows import Windows
from understudy.mock.server.world_names import DEFAULT, MARK, PREFIX
from understudy.mock.server.world_store import WorldStore

_EMPTY: Mapping[str, Any] = {}


@dataclass(slots=True)
class World:
    """An isolated state of the service, with a clock of its own.

    Attributes:
        name: Its name, as in its base address.
        baseline: The records of the fixtures.
        clock: The world's time.
        identifiers: The world's source of new identifiers.
        choices: Switch name to option, where it differs from the default of ``rules.yaml``.
        windows: Principal to what it has used of its rate limit.
        limits: Principal to the requests an hour it is allowed instead of the interface's.
        faults: Faults in force, by id.
        journal: The requests of this world.
        store: Persists every change; None: the world is in memory only.
        is_ended: Whether it was deleted; a request that was begun before changes nothing any more.
        history: How to undo the last changes.
        prefix: The prefix of every path of this world; empty for the default one.
    """

    name: str
    baseline: Baseline
    clock: Clock = field(default_factory=Clock)
    identifiers: Identifiers = field(default_factory=Identifiers)
    choices: Mapping[str, str] = field(default_factory=dict)
    windows: Windows = field(default_factory=Windows)
    limits: dict[str, int] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)
    journal: Journal[Any] = field(default_factory=Journal)
    store: "WorldStore[World] | None" = None
    is_ended: bool = False
    history: WorldHistory = field(default_factory=WorldHistory)
    prefix: str = field(init=False)
    _overlay: dict[str, dict[str, Any]] = field(default_factory=dict)
    _weights: dict[str, Weight] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begins the history with the settings as they are, and writes the prefix once."""
        self.prefix = "" if self.name == DEFAULT else f"{PREFIX}{self.name}"
        self.history.begin(self.identifiers.count, self.settings)

    @property
    def settings(self) -> Settings:
        """Clock, choices, limits and faults, as the fields of a snapshot."""
        return {
            "clock": self.clock.setting,
            "choices": self.choices,
            "limits": dict(self.limits),
            "faults": dict(self.faults),
        }

    @property
    def mark(self) -> str:
        """The prefix of every token that this world issues; it selects the world."""
        return "" if self.name == DEFAULT else f"{self.name}{MARK}"

    def get(self, collection: Collection[Record], key: str) -> Record | None:
        """Returns the record at this key, or None."""
        changed = self._overlay.get(collection.name)
        if changed is not None and key in changed:
            record: Record | None = changed[key]
            return record
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

    def keys(self, collection: Collection[Any]) -> Iterator[str]:
        """Yields every key, in the order of ``items``; no record is decoded for it."""
        baseline = self.baseline.get(collection.name, _EMPTY)
        changed = self._overlay.get(collection.name, _EMPTY)
        yield from (key for key in baseline if changed.get(key, self) is not None)
        yield from (key for key in changed if key not in baseline and changed[key] is not None)

    def count(self, collection: Collection[Any]) -> int:
        """Returns how many records there are."""
        baseline = self.baseline.get(collection.name, _EMPTY)
        changed = self._overlay.get(collection.name, _EMPTY).items()
        return len(baseline) + sum((new is not None) - (key in baseline) for key, new in changed)

    def added(self, collection: Collection[Record]) -> Iterator[Record]:
        """Yields the records that were added to the baseline, or changed."""
        changed = self._overlay.get(collection.name, _EMPTY)
        return (record for record in changed.values() if record is not None)

    def changed(self, collection: Collection[Any] | None = None) -> int:
        """Returns how many records differ from the baseline; None: of all collections."""
        if collection is None:
            return sum(map(len, self._overlay.values()))
        return len(self._overlay.get(collection.name, _EMPTY))

    def weight(self, collection: Collection[Record], weigh: Callable[[Record], int]) -> int:
        """Returns the weight of all the records that were added to the baseline, or changed.

        It is summed up once and kept, as there may be thousands of records.

        Args:
            collection: The records' kind.
            weigh: Returns the weight of a record; the same function for every call.
        """
        kept = self._weights.get(collection.name)
        if kept is None:
            kept = Weight(weigh, sum(map(weigh, self.added(collection))))
            self._weights[collection.name] = kept
        return kept.total

    def overlaid(self, collection: str, key: str) -> Any:
        """Returns what lies over the baseline: a record, None for a removed one, or ABSENT."""
        return self._overlay.get(collection, _EMPTY).get(key, ABSENT)

    def take_back(self, before: Mapping[tuple[str, str], Any]) -> bool:
        """Undoes changes of records that were never committed; the history is not told.

        Args:
            before: Collection and key to what ``overlaid`` returned before.

        Returns:
            Whether every record is in its old place of the order, too.
        """
        is_in_order = True
        for (collection, key), record in before.items():
            changed = self._overlay.setdefault(collection, {})
            if record is ABSENT:
                changed.pop(key, None)
            else:
                is_in_order = is_in_order and key in changed
                changed[key] = record
        self._weights.clear()
        return is_in_order

    def put(self, collection: Collection[Record], key: str, record: Record) -> None:
        """Adds a record or replaces the one at this key.

        Raises:
            LimitExceeded: There are too many of its kind, and none makes room for it.
        """
        added = self._overlay.get(collection.name, _EMPTY)
        if len(added) >= RECORDS.most and key not in added:
            if not collection.is_transient:
                raise RECORDS.exceeded()
            self.remove(collection, next(iter(added)))
        self.apply(RecordChange(collection.name, key, record))

    def remove(self, collection: Collection[Record], key: str) -> None:
        """Removes the record at this key; removing what is not there changes nothing."""
        if self.get(collection, key) is not None:
            self.apply(RecordChange(collection.name, key, None))

    def apply(self, change: RecordChange) -> None:
        """Carries out one change: the only place where a record of a world changes.

        Raises:
            Conflict: The world has ended while the request was worked on.
        """
        self._expect_lasting()
        if self.store is not None:
            self.store.record_changed(self, change)  # first: it refuses what it could not read back
        changed = self._overlay.setdefault(change.collection, {})
        weight = self._weights.get(change.collection)
        if weight is not None:
            weight.replace(changed.get(change.key), change.record)
        before = changed.get(change.key, ABSENT)
        self.history.note_record(change, before, weight.weigh if weight else None)
        if change.record is None and change.key not in self.baseline.get(change.collection, _EMPTY):
            changed.pop(change.key, None)  # nothing below to hide: a long run would fill up with it
        else:
            changed[change.key] = change.record

    def note_change(self) -> None:
        """Tells history and store that clock, choices, limits or faults have changed."""
        self.history.note_settings()
        if self.store is not None:
            self.store.settings_changed(self)

    def note_fault_use(self) -> None:
        """Tells history and store that a request has used some of a fault."""
        self.history.note_settings()
        if self.store is not None:
            self.store.fault_used(self)

    def note_windows(self, principals: Iterable[str]) -> None:
        """Tells the store that the windows of these principals have changed."""
        if self.store is not None:
            self.store.windows_changed(self, principals)

    def _expect_lasting(self) -> None:
        if self.is_ended:
            msg = f"The world {self.name!r} was deleted while this request was worked on."
            raise Conflict(msg, code="world_ended")

    def changes(self) -> Iterator[RecordChange]:
        """Yields what differs from the baseline."""
        for collection, records in self._overlay.items():
            for key, record in records.items():
                yield RecordChange(collection, key, record)

    def snapshot(self) -> Snapshot:
        """Returns the state of the world; that costs what was changed, not what the world holds."""
        return Snapshot(
            baseline=self.baseline,
            overlay={name: dict(records) for name, records in self._overlay.items()},
            seed=self.identifiers.seed,
            issued=self.identifiers.count,
            windows=dict(self.windows),
            **self.settings,
        )

    def become(self, snapshot: Snapshot) -> None:
        """Takes the state of a snapshot, at once; the journal stays.

        Raises:
            Conflict: The world has ended while the request was worked on.
        """
        self._expect_lasting()
        weight = sum(it.total for it in self._weights.values())
        self.history.note_state(self.snapshot(), self.changed() * RECORD_BYTES + weight)
        self.baseline = snapshot.baseline
        self._overlay = {name: dict(records) for name, records in snapshot.overlay.items()}
        self._weights.clear()
        self.clock.setting = snapshot.clock
        self.identifiers = Identifiers(snapshot.seed, snapshot.issued)
        self.choices = snapshot.choices
        self.windows = Windows(snapshot.windows)
        self.limits = dict(snapshot.limits)
        self.faults = dict(snapshot.faults)
        if self.store is not None:
            self.store.world_replaced(self)

    def copy(self) -> "World":
        """Returns an independent copy, which is neither persisted nor journalled."""
        world = World(self.name, self.baseline, self.clock.copy())
        world.become(self.snapshot())
        return world

    def sibling(self, name: str, capacity: int) -> "World":
        """Returns a new world that uses a copy of this clock."""
        return World(name, self.baseline, self.clock.copy(), journal=Journal(capacity))

"""Isolated states of the service: each world is an overlay of changed records on a shared baseline.

Records are frozen and a change is a value, so the cost of dropping or copying a world grows with its
changes, and not with its size. Copying the records themselves would take milliseconds and megabytes.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from http.cookies import CookieError, SimpleCookie
from random import Random  # noqa: TID251 - the one place that may
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from understudy.errors import Conflict
from understudy.limits import RECORDS
from understudy.mock.server.clock import Clock, ClockSetting
from understudy.mock.server.faults import Fault
from understudy.mock.server.journal import ABSENT, RECORD_BYTES, Journal, Settings, WorldHistory
from understudy.mock.server.windows import Window, Windows

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Collection(Generic[Record]):
    """The name and the type of one kind of record; the records themselves live in worlds.

    Attributes:
        name: Key of the collection in baselines, overlays and stores.
        type: Type of the records.
        is_transient: Whether the oldest record is dropped for a new one at the limit.
    """

    name: str
    type: Any = Any
    is_transient: bool = False


class RecordChange(NamedTuple):
    """One record that was added or replaced; its ``record`` is None where it was removed."""

    collection: str
    key: str
    record: Any


Baseline = Mapping[str, Mapping[str, Any]]
"""Records by collection name and key, as loaded from the fixtures; shared by all worlds, immutable."""


class Snapshot(NamedTuple):
    """The state of a world at one moment, without its journal; immutable."""

    baseline: Baseline
    overlay: Mapping[str, Mapping[str, Any]]
    clock: ClockSetting | None
    seed: int
    issued: int
    choices: Mapping[str, str]
    windows: Mapping[str, Window]
    limits: Mapping[str, int]
    faults: Mapping[str, Fault]


class WorldStore(Protocol):
    """Persists worlds, so that they outlast the process."""

    @property
    def numbers_requests(self) -> bool:
        """True if the store numbers the requests of a journal, and attributes changes to them."""

    def record_changed(self, world: "World", change: RecordChange) -> None:
        """Stores one change; it is durable once ``commit`` has returned."""

    def settings_changed(self, world: "World") -> None:
        """Stores the world's new clock, choices, limits and faults."""

    def fault_used(self, world: "World") -> None:
        """Stores how often faults were used; a failure to do so refuses no request."""

    def windows_changed(self, world: "World", principals: Iterable[str]) -> None:
        """Stores the rate-limit windows of these principals; a failure to do so refuses no request."""

    def world_created(self, world: "World") -> None:
        """Stores a new world."""

    def world_replaced(self, world: "World") -> None:
        """Replaces the whole state of a world."""

    def world_removed(self, world: "World") -> None:
        """Deletes a world."""

    def snapshot_changed(self, name: str, snapshot: Snapshot | None) -> None:
        """Stores a named snapshot; None deletes it."""

    def baseline_replaced(self, fixtures: Baseline) -> None:
        """Replaces the fixtures."""

    def commit(self, world: "World") -> None:
        """Writes every change so far."""

    def expect_ready(self) -> None:
        """Checks that the store can persist changes.

        Raises:
            Problem: The store cannot be written, with the reason.
        """


@dataclass(slots=True)
class Weight:
    """The total weight of the records of one collection that a world adds or changes.

    Attributes:
        weigh: Returns the weight of one record, such as its bytes.
        total: Sum of the weights.
    """

    weigh: Callable[[Any], int]
    total: int

    def replace(self, before: Any, after: Any) -> None:
        """Updates the total for a replaced record; None means no record."""
        self.total -= 0 if before is None else self.weigh(before)
        self.total += 0 if after is None else self.weigh(after)


class Identifiers(Struct, eq=False):
    """Generates a world's identifiers.

    Each depends only on the seed and its number, so that two integers are enough to save and restore
    the generator.

    Attributes:
        seed: Same seed and same calls, same identifiers.
        count: Number of identifiers generated before.
    """

    seed: int = 0
    count: int = 0

    def _next(self) -> Random:
        self.count += 1
        return Random(f"{self.seed} {self.count}")

    def hexadecimal(self, digits: int) -> str:
        """Returns a string of lower-case hexadecimal digits."""
        return f"{self._next().getrandbits(digits * 4):0{digits}x}"

    def number(self) -> int:
        """Returns an integer, such as a seed for values that differ with each call."""
        return self._next().getrandbits(48)

    def text(self, length: int, alphabet: str) -> str:
        """Returns a random string of this length from an alphabet."""
        return "".join(self._next().choices(alphabet, k=length))


# A client with a configurable base URL selects a world by its path prefix. Others, such as an unmodified
# page, select it by a header, a cookie, or a token that the world issued.

PREFIX = "/__world/"
"""Path prefix of every world but the default; the world's name follows."""

MARK = "~"
"""Separates the name of the issuing world from the rest of a token."""

DEFAULT = "default"
"""Name of the world at the base URL without a prefix."""

WORLD_HEADER = b"x-mock-world"
COOKIE = "mock_world"

WORLD_HEADERS = frozenset({WORLD_HEADER, b"cookie", b"authorization"})
"""The headers that may name a world."""

WORLD_NAME = r"^[a-z0-9][a-z0-9-]{0,39}\Z"
_NAME = re.compile(WORLD_NAME)


def is_world_name(name: str) -> bool:
    """Tells whether a world may have this name, which becomes part of URLs."""
    return _NAME.fullmatch(name) is not None


class WorldSelection(NamedTuple):
    """The world that a request selects.

    Attributes:
        name: Name of the world; None: the request names no world.
        path: Path without the prefix of the world.
        is_certain: False for a name from a token, which may only look like one that a world issued.
    """

    name: str | None
    path: str
    is_certain: bool = True


def selected_by_path(path: str) -> WorldSelection:
    """Returns the world that the prefix of a path names, and the rest of the path."""
    if not path.startswith(PREFIX):
        return WorldSelection(None, path)
    name, slash, rest = path.removeprefix(PREFIX).partition("/")
    return WorldSelection(name, slash + rest or "/")


def selected_by_headers(headers: Mapping[bytes, bytes], path: str) -> WorldSelection:
    """Returns the world that a header, a cookie or a token names."""
    named = headers.get(WORLD_HEADER)
    if named is not None:
        return WorldSelection(named.decode("latin-1").strip(), path)
    cookie = headers.get(b"cookie")
    if cookie is not None and COOKIE.encode() in cookie:
        return WorldSelection(_cookie(cookie.decode("latin-1")), path)
    authorization = headers.get(b"authorization", b"")
    if MARK.encode() in authorization:
        return WorldSelection(_issuer(authorization.decode("latin-1")), path, is_certain=False)
    return WorldSelection(None, path)


def _cookie(text: str) -> str | None:
    try:
        cookie = SimpleCookie(text).get(COOKIE)
    except CookieError:
        return None
    return cookie.value if cookie else None


def _issuer(authorization: str) -> str | None:
    name = authorization.rpartition(" ")[2].partition(MARK)[0]
    return name if is_world_name(name) else None


_EMPTY: Mapping[str, Any] = {}


@dataclass(slots=True)
class World:
    """An isolated state of the service, with a separate clock.

    Attributes:
        name: Name of the world, as in its base URL.
        baseline: Records of the fixtures.
        clock: Clock of this world.
        identifiers: Generator of new identifiers.
        choices: Switch name to option, where it differs from the default of ``rules.yaml``.
        windows: Principal to its rate-limit window.
        limits: Principal to its requests allowed per hour, where they differ from the interface's.
        faults: Faults in force, by id.
        journal: Exchanges of this world.
        store: Persists every change; None: the world is in memory only.
        is_ended: Whether the world was deleted; requests still in progress then change nothing.
        history: Undo log of the last changes.
        number: Number in the order of creation; that of the default world is 0.
        idle: Time without a request after which the world expires; None: never.
        prefix: Prefix of every path of this world; empty for the default one.
        beginning: Initial state, which a reset restores.
    """

    name: str
    baseline: Baseline
    clock: Clock = field(default_factory=Clock)
    identifiers: Identifiers = field(default_factory=Identifiers)
    choices: Mapping[str, str] = field(default_factory=dict)
    windows: Windows = field(default_factory=Windows)
    limits: dict[str, int] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)
    journal: Journal = field(default_factory=Journal)
    store: WorldStore | None = None
    is_ended: bool = False
    history: WorldHistory = field(default_factory=WorldHistory)
    number: int = 0
    idle: timedelta | None = None
    prefix: str = field(init=False)
    beginning: Snapshot = field(init=False)
    _overlay: dict[str, dict[str, Any]] = field(default_factory=dict)
    _weights: dict[str, Weight] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begins the history with the current settings, and computes prefix and initial state."""
        self.prefix = "" if self.name == DEFAULT else f"{PREFIX}{self.name}"
        self.history.begin(self.identifiers.count, self.settings)
        self.beginning = self.snapshot()

    @property
    def settings(self) -> Settings:
        """Clock, choices, limits and faults, as the fields of a snapshot."""
        return {
            "clock": self.clock.setting,
            "choices": self.choices,
            "limits": dict(self.limits),
            "faults": dict(self.faults),
        }

    @settings.setter
    def settings(self, settings: Settings) -> None:
        self.clock.setting = settings["clock"]
        self.choices = settings["choices"]
        self.limits = dict(settings["limits"])
        self.faults = dict(settings["faults"])

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
        """Yields every key and record: those of the baseline in its order, then the added ones."""
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
        """Yields every key, in the order of ``items``, without decoding the baseline's records."""
        baseline = self.baseline.get(collection.name, _EMPTY)
        changed = self._overlay.get(collection.name, _EMPTY)
        yield from (key for key in baseline if changed.get(key, self) is not None)
        yield from (key for key in changed if key not in baseline and changed[key] is not None)

    def count(self, collection: Collection[Any]) -> int:
        """Returns the number of records in a collection."""
        baseline = self.baseline.get(collection.name, _EMPTY)
        changed = self._overlay.get(collection.name, _EMPTY).items()
        return len(baseline) + sum((new is not None) - (key in baseline) for key, new in changed)

    def added(self, collection: Collection[Record]) -> Iterator[Record]:
        """Yields the records that were added to the baseline, or changed."""
        changed = self._overlay.get(collection.name, _EMPTY)
        return (record for record in changed.values() if record is not None)

    def changed(self, collection: Collection[Any] | None = None) -> int:
        """Returns how many records of a collection, or of all, differ from the baseline."""
        if collection is None:
            return sum(map(len, self._overlay.values()))
        return len(self._overlay.get(collection.name, _EMPTY))

    def weight(self, collection: Collection[Record], weigh: Callable[[Record], int]) -> int:
        """Returns the total weight of the records that were added to the baseline, or changed.

        The sum is cached and updated with each change, as a collection may have thousands of records.

        Args:
            collection: Collection of the records.
            weigh: Returns the weight of a record; must be the same function in every call.
        """
        kept = self._weights.get(collection.name)
        if kept is None:
            kept = Weight(weigh, sum(map(weigh, self.added(collection))))
            self._weights[collection.name] = kept
        return kept.total

    def overlaid(self, collection: str, key: str) -> Any:
        """Returns a key's record in the overlay: None where it was removed, ABSENT if unchanged."""
        return self._overlay.get(collection, _EMPTY).get(key, ABSENT)

    def take_back(self, before: Mapping[tuple[str, str], Any]) -> bool:
        """Undoes uncommitted changes of records, without an entry in the history.

        Args:
            before: Collection and key to the result of ``overlaid`` before the change.

        Returns:
            Whether the order of the records is restored, too.
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
            LimitExceeded: The collection is full, and not transient.
        """
        added = self._overlay.get(collection.name, _EMPTY)
        if len(added) >= RECORDS.most and key not in added:
            if not collection.is_transient:
                raise RECORDS.exceeded()
            self.remove(collection, next(iter(added)))
        self.apply(RecordChange(collection.name, key, record))

    def remove(self, collection: Collection[Record], key: str) -> None:
        """Removes the record at this key, if any."""
        if self.get(collection, key) is not None:
            self.apply(RecordChange(collection.name, key, None))

    def apply(self, change: RecordChange) -> None:
        """Makes one change: the only place where a record of a world changes.

        Raises:
            Conflict: The world was deleted while the request was worked on.
        """
        self._expect_lasting()
        if self.store is not None:
            self.store.record_changed(self, change)  # first: it refuses records it cannot encode
        changed = self._overlay.setdefault(change.collection, {})
        weight = self._weights.get(change.collection)
        if weight is not None:
            weight.replace(changed.get(change.key), change.record)
        before = changed.get(change.key, ABSENT)
        self.history.note_record(change, before, weight.weigh if weight else None)
        if change.record is None and change.key not in self.baseline.get(change.collection, _EMPTY):
            # a marker is needed only to hide a record of the baseline; others would pile up in a long run
            changed.pop(change.key, None)
        else:
            changed[change.key] = change.record

    def note_change(self) -> None:
        """Records a change of clock, choices, limits or faults in history and store."""
        self.history.note_settings()
        if self.store is not None:
            self.store.settings_changed(self)

    def note_fault_use(self) -> None:
        """Records in history and store that a request used a fault, which may be limited in number."""
        self.history.note_settings()
        if self.store is not None:
            self.store.fault_used(self)

    def note_windows(self, principals: Iterable[str]) -> None:
        """Stores the changed rate-limit windows of these principals."""
        if self.store is not None:
            self.store.windows_changed(self, principals)

    def _expect_lasting(self) -> None:
        if self.is_ended:
            msg = f"The world {self.name!r} was deleted while this request was worked on."
            raise Conflict(msg, code="world_ended")

    def changes(self) -> Iterator[RecordChange]:
        """Yields every record that differs from the baseline."""
        for collection, records in self._overlay.items():
            for key, record in records.items():
                yield RecordChange(collection, key, record)

    def snapshot(self) -> Snapshot:
        """Returns the state of the world; only the overlay is copied."""
        return Snapshot(
            baseline=self.baseline,
            overlay={name: dict(records) for name, records in self._overlay.items()},
            seed=self.identifiers.seed,
            issued=self.identifiers.count,
            windows=dict(self.windows),
            **self.settings,
        )

    def become(self, snapshot: Snapshot) -> None:
        """Replaces the whole state by that of a snapshot; the journal is kept.

        Raises:
            Conflict: The world was deleted while the request was worked on.
        """
        self._expect_lasting()
        weight = sum(weight.total for weight in self._weights.values())
        self.history.note_state(self.snapshot(), self.changed() * RECORD_BYTES + weight)
        self.baseline = snapshot.baseline
        self._overlay = {name: dict(records) for name, records in snapshot.overlay.items()}
        self._weights.clear()
        self.settings = snapshot._asdict()
        self.identifiers = Identifiers(snapshot.seed, snapshot.issued)
        self.windows = Windows(snapshot.windows)
        if self.store is not None:
            self.store.world_replaced(self)

    def copy(self) -> "World":
        """Returns an independent copy, which is neither persisted nor journalled."""
        world = World(self.name, self.baseline, self.clock.copy())
        world.become(self.snapshot())
        return world

    def sibling(self, name: str, capacity: int) -> "World":
        """Returns a new world on the same baseline, with a copy of this clock."""
        return World(name, self.baseline, self.clock.copy(), journal=Journal(capacity))

"""Keeps a replica's copies of worlds, and updates them from the store."""

from collections import Counter
from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from understudy.errors import StoreUnavailable
from understudy.fleet.journal_rows import (
    FindEndpoint,
    exercised_counts,
    history_entry,
    journalled,
    pairs,
)
from understudy.limits import WORLD_COPIES
from understudy.mock.server.journal import Exercised, HistoryEntry
from understudy.mock.server.journaling import collected
from understudy.mock.server.windows import Window, Windows
from understudy.mock.server.world_selection import Worlds, WorldsPage
from understudy.mock.server.worlds import (
    DEFAULT,
    Identifiers,
    RecordChange,
    Snapshot,
    World,
    WorldStore,
)
from understudy.mock.store.state_rows import WINDOWS, Blobs, Rows, WorldSettings


class ReplicaStore(WorldStore, Protocol):
    """A store of worlds that other replicas change, too."""

    def worlds_used(self, worlds: Iterable[World]) -> None:
        """Notes that the current request uses these worlds."""

    async def commit_now(self) -> None:
        """Commits the transaction of the current request before its response is made."""

    async def refresh(self, world: World) -> None:
        """Updates the copy of a world with its journal.

        Raises:
            StoreUnavailable: The store does not respond.
        """


class ReplicatedWorlds(Worlds):
    """The worlds of a replica: copies that may have to be loaded before use.

    Copies do not expire here, since only the store knows of requests to other replicas.

    Attributes:
        store: The store, which is notified of uses, and updates copies.
    """

    store: ReplicaStore | None

    def get(self, name: str) -> World:
        """Returns a world, and notes its use.

        Raises:
            NotFound: The world does not exist.
        """
        world = super().get(name)
        self._note_use((world,))
        return world

    def page(self, after: int, limit: int) -> WorldsPage:
        """Returns worlds as ``Worlds.page`` does, and notes their use."""
        page = super().page(after, limit)
        self._note_use(page.worlds)
        return page

    async def let_go(self) -> None:
        """Commits the request's transaction early, as it makes no further changes.

        Raises:
            Superseded: A copy was outdated, so the request must be repeated.
        """
        if self.store is not None:
            await self.store.commit_now()

    async def refresh(self, world: World) -> None:
        """Updates the copy of a world; leaves it unchanged if the store does not respond."""
        if self.store is not None:
            with suppress(StoreUnavailable):
                await self.store.refresh(world)

    async def exercised(self) -> Counter[Exercised]:
        """Returns how often each part of the contract was exercised in all worlds."""
        self._note_use(self)
        return await super().exercised()

    def set_ended(self, exercised: Counter[Exercised]) -> None:
        """Sets the counts of the worlds that were deleted."""
        self._ended = exercised

    def adopt(self, name: str, beginning: Snapshot, number: int) -> World:
        """Returns a new copy of a world, and forgets a deleted one with the same name."""
        self.forget(name)
        world = self.default.sibling(name, self.capacity)
        world.store, world.beginning, world.number = self.store, beginning, number
        self._worlds[name] = world
        return world

    def forget(self, name: str) -> None:
        """Forgets the copy of a deleted world."""
        world = self._worlds.get(name)
        if world is not None and name != DEFAULT:
            self._forget(world)

    def forget_all(self) -> None:
        """Forgets all copies, and starts generated names anew."""
        for world in self.copies():
            self.forget(world.name)
        self._count = 0

    def copies(self) -> Iterator[World]:
        """Yields all copies, without noting their use."""
        yield from tuple(self._worlds.values())

    def _end(self, world: World) -> None:
        """Deletes a world; its copy is kept until the commit succeeds."""
        if self.store is not None:
            self.store.world_removed(world)

    def _free_name(self) -> str:
        """Returns an unused name; a repeated attempt gets the same one."""
        while f"w{self._count + 1}" in self._worlds:
            self._count += 1
        return f"w{self._count + 1}"

    def _begin_life(self, name: str, idle: timedelta) -> None:
        """Does nothing: only the store knows of requests to other replicas."""

    def _note_use(self, worlds: Iterable[World]) -> None:
        if self.store is not None:
            self.store.worlds_used(worlds)


TAG_BYTES = 16
"""Length of a tag in bytes: the replica's id, and the number of its commit."""

NO_ENTRY = b"none"
"""Tag for the last entry of an empty journal."""

UNKNOWN_ENTRY = b"unknown"
"""Tag for the last entry of a journal that has to be loaded again."""


class LoggedChange(Struct, array_like=True):
    """The changes of one request in a world, for other replicas to repeat.

    Attributes:
        rows: Collection, key and record; the record is None if it was removed.
        settings: The settings afterwards; empty if unchanged.
        at: The time of the request, by the world's clock.
        method: Method of the request.
        path: Path of the request.
        is_journalled: Whether the request is in the journal.
    """

    rows: list[tuple[str, str, bytes | None]]
    settings: bytes
    at: datetime
    method: str
    path: str
    is_journalled: bool


class WorldState(NamedTuple):
    """The store's reply about a world of which the copy is outdated (``state`` in shared.lua)."""

    name: bytes
    kind: bytes
    id: bytes = b""
    tag: bytes = b""
    content: Sequence[bytes] = ()
    whole: Sequence[Any] | None = None
    windows: Sequence[bytes] | None = None
    counted: int = -1
    journal: Sequence[Any] | None = None


@dataclass(slots=True)
class WorldCopy:
    """Versions of a replica's copy of a world.

    Attributes:
        id: Identifies the world among earlier ones with its name; empty until it is loaded.
        tag: The commit that the copy is up to date with.
        windows: Principal to rate-limit window, as encoded in the store.
        counted: Version of the windows in the store; -1 if some are missing here.
        journal: Tag of the last entry of the journal.
        changed: Number of changes before it was loaded, which its history lacks.
    """

    id: bytes = b""
    tag: bytes = b""
    windows: dict[str, bytes] = field(default_factory=dict)
    counted: int = -1
    journal: bytes = NO_ENTRY
    changed: int = 0

    def keep_window(self, principal: str, window: bytes) -> None:
        """Notes the encoded window of a principal in the store; empty: there is none."""
        if window:
            self.windows[principal] = window
        else:
            self.windows.pop(principal, None)


_ORDER_DIGITS = 12  # decimal prefix of a record row: the order of puts (lua/commit.lua)
_NUMBER_DIGITS = 16  # decimal prefix of a log row: the request's number (lua/commit.lua)

_DROPPED_AT_ONCE = 2
"""Copies dropped after a request: more than one, so that the number shrinks though requests load."""


class Copies:
    """The copies of worlds on a replica, the least recently used first."""

    def __init__(self, worlds: ReplicatedWorlds, rows: Rows, find: FindEndpoint) -> None:
        self._worlds = worlds
        self._rows = rows
        self._find = find
        self._copies: dict[str, WorldCopy] = {}

    def of(self, name: str) -> WorldCopy:
        """Returns the versions of a world's copy, and makes it the most recently used one."""
        copy = self._copies[name] = self._copies.pop(name, WorldCopy())
        return copy

    @property
    def excess(self) -> int:
        """The number of copies beyond WORLD_COPIES."""
        return max(0, len(self._copies) - WORLD_COPIES.most)

    def drop(self, kept: Container[str], *, is_listed: bool) -> None:
        """Drops copies beyond WORLD_COPIES, the least recently used first.

        Only few are dropped at a time, as a request with many worlds may be between two attempts.

        Args:
            kept: Names of worlds that requests use or wait for.
            is_listed: Whether the list of worlds is loaded; then dropped names stay in it.
        """
        idle = (name for name in self._copies if name not in kept and name != DEFAULT)
        for name in tuple(islice(idle, min(self.excess, _DROPPED_AT_ONCE))):
            world = self._worlds.find(name)
            self.forget(name)
            if is_listed and world is not None:
                self._worlds.adopt(name, self._worlds.default.beginning, world.number)

    def forget(self, name: str) -> None:
        """Forgets a world that was deleted, or whose copy is dropped."""
        self._copies.pop(name, None)
        self._worlds.forget(name)

    def forget_all(self) -> None:
        """Forgets all copies, since the store was replaced or emptied."""
        self._copies.clear()
        self._worlds.forget_all()

    def update(self, reply: Sequence[Any]) -> None:
        """Updates the copy of a world from a reply of the store.

        Raises:
            ValueError: The state was written by another version, or is damaged.
        """
        state = WorldState(*reply)
        name = state.name.decode()
        if state.kind == b"absent":
            self.forget(name)
            return
        copy = self.of(name)
        blobs = {} if state.windows is None else dict(pairs(state.windows))
        windows = {principal.decode(): blob for principal, blob in blobs.items()}
        decoded = self._windows(windows)  # may raise, so before anything is changed
        # without a number each commit would look outdated, and be tried again
        if state.windows is not None and state.counted < 0:
            msg = f"the version of the windows of world {name} is no number"
            raise ValueError(msg)
        if state.whole is not None:
            world = self._load(name, copy, state, state.whole)
        else:
            world = self._copied(name)
            for logged in state.content:
                self._repeat(world, logged)
        copy.id, copy.tag = state.id, state.tag
        if state.windows is not None:
            copy.windows, copy.counted = windows, state.counted
            world.windows = decoded
        if state.journal is not None:
            self._update_journal(world, copy, state.journal)

    def update_all(self, states: Sequence[Any], windows: Sequence[Any]) -> None:
        """Updates copies from a reply of the store.

        Args:
            states: States of the worlds that have changed.
            windows: Names of worlds, each with the windows that other replicas have changed.
        """
        for state in states:
            self.update(state)
        for name, others in windows:
            world = self._worlds.find(name.decode())
            if world is not None:
                self._update_windows(world, others)

    def _update_windows(self, world: World, others: Sequence[bytes]) -> None:
        copy = self.of(world.name)
        for principal, window in pairs(others):
            if window:
                self._rows.decoded(WINDOWS.name, window)  # raises before unreadable data is kept
            copy.keep_window(principal.decode(), window)
            self.put_back_window(world, copy, principal.decode())

    def put_back_window(self, world: World, copy: WorldCopy, principal: str) -> None:
        """Sets a window of a world to the one in the store."""
        blob = copy.windows.get(principal)
        if blob is None:
            world.windows.pop(principal, None)
        else:
            world.windows[principal] = self._rows.decoded(WINDOWS.name, blob)

    def _copied(self, name: str) -> World:
        world = self._worlds.find(name)
        assert world is not None  # the store replies only about worlds in the message
        return world

    def _load(self, name: str, copy: WorldCopy, state: WorldState, whole: Sequence[Any]) -> World:
        number, idle, beginning, baseline, settings, total, copy.changed = whole
        world = self._worlds.find(name)
        start = (
            self._rows.decoded_snapshot(beginning) if beginning else self._worlds.default.beginning
        )
        if world is None or (name != DEFAULT and copy.id != state.id):
            world = self._worlds.adopt(name, start, number)
            copy.journal = NO_ENTRY
        elif (
            copy.id and copy.id != state.id
        ):  # the default world was replaced, its object must stay
            world.journal.resume(0)
            copy.journal = NO_ENTRY
        world.idle = timedelta(milliseconds=int(idle)) if int(idle) else None
        snapshot = self._rows.decoded_world(baseline or None, self._overlay(state), settings)
        with _unnoted(world):
            world.become(snapshot)
        begins_at = total if copy.changed else 0  # without earlier changes the history is complete
        world.history.restart(world.identifiers.count, world.settings, begins_at)
        return world

    def add_history(self, name: str, changed: int, forgotten: int, rows: Sequence[bytes]) -> None:
        """Adds the changes before a world was loaded to its history.

        Args:
            name: The world.
            changed: Number of changes so far in the store.
            forgotten: Number of the request up to which changes were discarded.
            rows: The kept changes, oldest first, each after the number of its request.
        """
        copy, history = self.of(name), self._copied(name).history
        earlier = rows[: max(0, len(rows) - (changed - copy.changed))]
        copy.changed = 0
        entries = [
            history_entry(self._rows, int(row[:_NUMBER_DIGITS]), row[_NUMBER_DIGITS:])
            for row in earlier
        ]
        history.extend_back(entries, forgotten)

    def _overlay(self, state: WorldState) -> Blobs:
        """Returns the overlay of a world, with records in the order in which they were put."""
        overlay: Blobs = {}
        for place, value in sorted(pairs(state.content), key=lambda row: row[1][:_ORDER_DIGITS]):
            collection, _, key = place.decode().partition("\0")
            kind, record = value[_ORDER_DIGITS : _ORDER_DIGITS + 4], value[_ORDER_DIGITS + 4 :]
            overlay.setdefault(collection, {})[key] = record if kind == b"put " else None
        return overlay

    def _repeat(self, world: World, logged: bytes) -> None:
        """Repeats the changes of a request that another replica has committed."""
        number = int(logged[:_NUMBER_DIGITS])
        change = msgspec.msgpack.decode(logged[_NUMBER_DIGITS:], type=LoggedChange)
        with _unnoted(world):
            for collection, key, blob in change.rows:
                record = None if blob is None else self._rows.decoded(collection, blob)
                world.apply(RecordChange(collection, key, record))
            if change.settings:
                settings = msgspec.msgpack.decode(change.settings, type=WorldSettings)
                world.settings = asdict(settings)
                world.identifiers = Identifiers(settings.seed, settings.issued)
                world.note_change()
        changes = collected(world)
        if changes is not None:
            numbers = (number - 1, number) if change.is_journalled else (number, None)
            call = change.method, change.path
            world.history.settle(HistoryEntry(change.at, call, numbers[0], changes, numbers[1]))

    def _windows(self, blobs: dict[str, bytes]) -> Windows:
        decoded: list[tuple[str, Window]] = [
            (principal, self._rows.decoded(WINDOWS.name, blob)) for principal, blob in blobs.items()
        ]
        return Windows(sorted(decoded, key=lambda item: item[1].opened))

    def _update_journal(self, world: World, copy: WorldCopy, reply: Sequence[Any]) -> None:
        is_continued, total, forgotten, last, entries, exercised = reply
        if is_continued and copy.journal == UNKNOWN_ENTRY:
            return  # entries before these are missing after an undone emptying: load all next time
        journal = world.journal
        contexts = [journalled(row[TAG_BYTES:], world, self._find) for row in entries]
        listeners = journal.listeners
        if not is_continued:
            journal.resume(total - len(contexts))
            journal.forgotten = forgotten
            journal.listeners = []  # listeners were notified of these entries before
        for context in contexts:
            journal.add(context)
        journal.listeners = listeners
        journal.exercised = exercised_counts(exercised)
        copy.journal = last


@contextmanager
def _unnoted(world: World) -> Iterator[None]:
    """Detaches a world from the store while changes that come from the store are applied."""
    store, world.store = world.store, None
    try:
        yield
    finally:
        world.store = store


class WorldList:
    """The list of worlds and snapshots.

    Args:
        worlds: The copies of the worlds.
        copies: The versions of the copies.
        load: Loads a snapshot by its name; None if it was deleted.

    Attributes:
        tag: The commit that the list is up to date with; empty until it is loaded.
    """

    def __init__(
        self,
        worlds: ReplicatedWorlds,
        copies: Copies,
        load: Callable[[str], Awaitable[Snapshot | None]],
    ) -> None:
        self.tag = b""
        self._worlds = worlds
        self._copies = copies
        self._load = load
        self._numbers: dict[str, int] = {}

    def forget(self) -> None:
        """Forgets the list, since the store was replaced or emptied."""
        self.tag = b""
        self._numbers.clear()
        self._worlds.snapshots = {}

    def accepted(self, snapshots: Iterable[str], tag: bytes) -> None:
        """Updates the list after a commit of this replica has changed it."""
        self.tag = tag
        kept = self._worlds.snapshots
        for name in snapshots:
            self._numbers.pop(name, None)
            if name in kept:  # the newest is the last, as the store lists them
                kept[name] = kept.pop(name)

    async def update(
        self,
        tag: bytes | None,
        worlds: Sequence[bytes],
        snapshots: Sequence[bytes],
        exercised: Sequence[bytes],
    ) -> None:
        """Updates the list from a reply of the store.

        Args:
            tag: The commit that changed the list last.
            worlds: Names of worlds, each followed by its creation number.
            snapshots: Names of snapshots, each followed by its number.
            exercised: Parts of the contract, each followed by its count in deleted worlds.

        Raises:
            StoreUnavailable: The store does not respond.
        """
        listed = _numbered(worlds)
        for world in self._worlds.copies():
            if listed.get(world.name) != world.number:
                self._copies.forget(world.name)
        for name, number in listed.items():
            if self._worlds.find(name) is None:
                self._worlds.adopt(name, self._worlds.default.beginning, number)
        self._worlds.set_ended(exercised_counts(exercised))
        await self._take_snapshots(_numbered(snapshots))
        self.tag = tag or b""

    async def _take_snapshots(self, numbers: dict[str, int]) -> None:
        """Loads the snapshots that are new or were replaced."""
        known, snapshots = self._worlds.snapshots, {}
        for name in sorted(numbers, key=numbers.__getitem__):
            is_known = name in known and self._numbers.get(name) == numbers[name]
            snapshot = known[name] if is_known else await self._load(name)
            if snapshot is not None:
                snapshots[name] = snapshot
        self._worlds.snapshots, self._numbers = snapshots, numbers


def _numbered(flat: Sequence[bytes]) -> dict[str, int]:
    return {name.decode(): int(at) for name, at in zip(flat[::2], flat[1::2], strict=True)}

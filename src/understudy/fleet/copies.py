"""Keeps the copies of worlds that a replica works with, and brings them up to date."""

from bisect import insort
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec import Struct

from understudy.errors import StoreUnavailable
from understudy.fleet.journal_rows import (
    FindEndpoint,
    exercised_counts,
    history_entry,
    journalled,
    pairs,
)
from understudy.limits import WORLD_COPIES
from understudy.mock.server.journal import CAPACITY, Exercised, HistoryEntry
from understudy.mock.server.journaling import collected
from understudy.mock.server.windows import Window, Windows
from understudy.mock.server.world_selection import Worlds, WorldsPage
from understudy.mock.server.worlds import DEFAULT, Identifiers, RecordChange, Snapshot, World
from understudy.mock.store.state_rows import WINDOWS, Blobs, Rows, WorldSettings


class ReplicaStore(Protocol):
    """The store of a replica, as its worlds need it."""

    def worlds_used(self, worlds: Iterable[World]) -> None:
        """Takes that a request has used these worlds."""

    async def commit_now(self) -> None:
        """Commits the transaction of the request that is worked on, before its response is known."""

    async def refresh(self, world: World) -> None:
        """Brings the copy of a world up to date, with its journal.

        Raises:
            StoreUnavailable: The store does not respond.
        """


class ReplicatedWorlds(Worlds):
    """The worlds of a replica: copies, some of which have to be loaded before they are used.

    None of them ends by itself here, as only the store knows of the requests to other replicas.

    Attributes:
        uses: The store, which notes what is used and brings copies up to date.
    """

    def __init__(
        self, default: World, *, requires_name: bool = False, capacity: int = CAPACITY
    ) -> None:
        super().__init__(default, requires_name=requires_name, capacity=capacity)
        self.uses: ReplicaStore | None = None
        self._idle: dict[str, timedelta] = {}

    def get(self, name: str) -> World:
        """Returns a world.

        Raises:
            NotFound: It does not exist.
        """
        world = super().get(name)
        self._note_use((world,))
        return world

    def page(self, after: int, limit: int) -> WorldsPage:
        """Returns worlds in the order they were made, as ``Worlds.page`` does."""
        page = super().page(after, limit)
        self._note_use(page.worlds)
        return page

    async def let_go(self) -> None:
        """Commits what the request has read and changed; it changes nothing any more.

        Raises:
            Superseded: A world was not what it was taken for; the request is worked on again.
        """
        if self.uses is not None:
            await self.uses.commit_now()

    async def refresh(self, world: World) -> None:
        """Brings the copy of a world up to date; it stays as it is while the store does not respond."""
        if self.uses is not None:
            with suppress(StoreUnavailable):
                await self.uses.refresh(world)

    async def exercised(self) -> Counter[Exercised]:
        """Returns what was exercised in all worlds."""
        self._note_use(self)
        return await super().exercised()

    def take_ended(self, exercised: Counter[Exercised]) -> None:
        """Takes what was exercised in worlds that were deleted."""
        self._ended = exercised

    def idle(self, world: World) -> timedelta | None:
        """Returns how long a world lives without a request; None: until it is deleted."""
        return self._idle.get(world.name)

    def keep_idle(self, name: str, idle: timedelta | None) -> None:
        """Notes how long a world lives without a request."""
        self._idle.pop(name, None)
        if idle is not None:
            self._idle[name] = idle

    def adopt(self, name: str, beginning: Snapshot, number: int) -> World:
        """Returns a new copy of a world; an older one of that name has ended."""
        self.forget(name)
        world = self.default.sibling(name, self._capacity)
        world.store = self.store
        self._add(world, beginning, number)
        return world

    def renumber(self, name: str, number: int) -> None:
        """Takes the place in the order that the store has given a world."""
        world = self._worlds[name]
        self._in_order.remove((self._numbers[name], world))
        self._numbers[name] = number
        insort(self._in_order, (number, world), key=itemgetter(0))

    def number(self, name: str) -> int | None:
        """Returns the place of a world in the order they were made; None where it is not known."""
        return self._numbers.get(name)

    def forget(self, name: str) -> None:
        """Forgets the copy of a world that has ended."""
        world = self._worlds.get(name)
        if world is not None and name != DEFAULT:
            self._forget(world)
            self._idle.pop(name, None)

    def forget_all(self) -> None:
        """Forgets every copy, as these worlds have ended; generated names begin anew."""
        for world in self.copies():
            self.forget(world.name)
        self._count = 0

    def copies(self) -> Iterator[World]:
        """Yields every world that is known here, without noting its use."""
        yield from tuple(self._worlds.values())

    def copied(self, name: str) -> World | None:
        """Returns the copy of a world, or None, without noting its use."""
        return self._worlds.get(name)

    def _end(self, world: World) -> None:
        """Deletes a world; its copy is forgotten once the store has deleted it."""
        if self.store is not None:
            self.store.world_removed(world)

    def _free_name(self) -> str:
        """Returns a name that is free; the same one again until a world has it."""
        while f"w{self._count + 1}" in self._worlds:
            self._count += 1
        return f"w{self._count + 1}"

    def _begin_life(self, name: str, idle: timedelta) -> None:
        self.keep_idle(name, idle)

    def _note_use(self, worlds: Iterable[World]) -> None:
        if self.uses is not None:
            self.uses.worlds_used(worlds)


TAG_BYTES = 16
"""Bytes of a tag: who committed, and which of its commits."""

NO_ENTRY = b"none"
"""Stands for the last entry of an empty journal."""

UNKNOWN_ENTRY = b"unknown"
"""Stands for the last entry of a journal that has to be loaded again."""


class LoggedChange(Struct, array_like=True):
    """The changes of one commit in a world, as other replicas repeat them.

    Attributes:
        rows: Collection, key and record; None for one that was removed.
        settings: The settings after it; empty where they are as before.
        at: The world's time of the request.
        method: Of the request.
        path: Of the request.
        is_journalled: Whether the request is in the journal.
    """

    rows: list[tuple[str, str, bytes | None]]
    settings: bytes
    at: datetime
    method: str
    path: str
    is_journalled: bool


class WorldState(NamedTuple):
    """The reply of the store on a world that is not as the replica believes (``lua/shared.lua``)."""

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
    """The knowledge that a replica has of a world beside its state.

    Attributes:
        id: Tells it from others that had its name; empty until it is loaded.
        tag: Names the commit that it is up to date with.
        windows: The rate-limit windows as the store has them.
        counted: How often the store has counted requests; -1 where windows are missing here.
        journal: The tag of the last entry of the journal.
        idle: How long it lives without a request.
        changed: How many changes there were when it was loaded, which its history lacks; 0: none.
    """

    id: bytes = b""
    tag: bytes = b""
    windows: dict[str, bytes] = field(default_factory=dict)
    counted: int = -1
    journal: bytes = NO_ENTRY
    idle: timedelta | None = None
    changed: int = 0


_ORDER_DIGITS = 12
_NUMBER_DIGITS = 16

_DROPPED_AT_ONCE = 2
"""Copies that are dropped after a request: more than the one that it may have loaded."""


class Copies:
    """The copies of a replica.

    Args:
        worlds: The worlds of the replica.
        rows: Encodes and decodes.
        find: Finds operations by name.
    """

    def __init__(self, worlds: ReplicatedWorlds, rows: Rows, find: FindEndpoint) -> None:
        self._worlds = worlds
        self._rows = rows
        self._find = find
        self._copies: dict[str, WorldCopy] = {}

    def of(self, name: str) -> WorldCopy:
        """Returns what is known of a world, which is used now."""
        copy = self._copies[name] = self._copies.pop(name, WorldCopy())
        return copy

    @property
    def excess(self) -> int:
        """The number of copies beyond WORLD_COPIES."""
        return max(0, len(self._copies) - WORLD_COPIES.most)

    def drop(self, kept: Container[str], *, is_listed: bool) -> None:
        """Drops copies beyond WORLD_COPIES, those that were used longest ago first.

        Few are dropped at a time, as a request that uses more worlds may be between two attempts.

        Args:
            kept: The names of worlds that requests use, or wait for.
            is_listed: Whether the list of worlds is known here; then their names stay in it.
        """
        idle = (name for name in self._copies if name not in kept and name != DEFAULT)
        for name in tuple(islice(idle, min(self.excess, _DROPPED_AT_ONCE))):
            number = self._worlds.number(name)
            self.forget(name)
            if is_listed and number is not None:
                self._worlds.adopt(name, self._worlds.beginning(), number)

    def forget(self, name: str) -> None:
        """Forgets a world that has ended, or whose copy is dropped."""
        self._copies.pop(name, None)
        self._worlds.forget(name)

    def forget_all(self) -> None:
        """Forgets everything, as the store is not the one that it was."""
        self._copies.clear()
        self._worlds.forget_all()

    def take(self, reply: Sequence[Any]) -> None:
        """Brings the copy of a world up to date.

        Raises:
            ValueError: It was written by another version.
        """
        state = WorldState(*reply)
        name = state.name.decode()
        if state.kind == b"absent":
            self.forget(name)
            return
        copy = self.of(name)
        blobs = {} if state.windows is None else dict(pairs(state.windows))
        windows = {who.decode(): blob for who, blob in blobs.items()}
        decoded = self._windows(windows)  # before anything is taken: it may be unreadable
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
            self._take_journal(world, copy, state.journal)

    def take_different(self, states: Sequence[Any], windows: Sequence[Any]) -> None:
        """Takes what the store says is different.

        Args:
            states: Those of worlds that have changed.
            windows: Names of worlds, each with the windows there that others have counted in.
        """
        for state in states:
            self.take(state)
        for name, others in windows:
            world = self._worlds.copied(name.decode())
            if world is not None:
                self._take_windows(world, others)

    def _take_windows(self, world: World, others: Sequence[bytes]) -> None:
        copy = self.of(world.name)
        for who, window in pairs(others):
            if window:
                self._rows.decoded(WINDOWS.name, window)  # what cannot be read is not kept
            self.keep_window(copy, who.decode(), window)
            self.put_back_window(world, copy, who.decode())

    def keep_window(self, copy: WorldCopy, who: str, window: bytes) -> None:
        """Notes a window as the store has it; empty for none."""
        if window:
            copy.windows[who] = window
        else:
            copy.windows.pop(who, None)

    def put_back_window(self, world: World, copy: WorldCopy, who: str) -> None:
        """Makes a window what the store says it is."""
        blob = copy.windows.get(who)
        if blob is None:
            world.windows.pop(who, None)
        else:
            world.windows[who] = self._rows.decoded(WINDOWS.name, blob)

    def _copied(self, name: str) -> World:
        world = self._worlds.copied(name)
        assert world is not None  # the store tells only of worlds that it was asked about
        return world

    def _load(self, name: str, copy: WorldCopy, state: WorldState, whole: Sequence[Any]) -> World:
        number, idle, beginning, baseline, settings, total, copy.changed = whole
        world = self._worlds.copied(name)
        start = self._rows.decoded_snapshot(beginning) if beginning else self._worlds.beginning()
        if world is None or (name != DEFAULT and copy.id != state.id):
            world = self._worlds.adopt(name, start, number)
            copy.journal = NO_ENTRY
        elif copy.id and copy.id != state.id:  # the server holds on to the default world
            world.journal.resume(0)
            copy.journal = NO_ENTRY
        copy.idle = timedelta(milliseconds=int(idle)) if int(idle) else None
        self._worlds.keep_idle(name, copy.idle)
        snapshot = self._rows.decoded_world(baseline or None, self._overlay(state), settings)
        with _unnoted(world):
            world.become(snapshot)
        begins_at = total if copy.changed else 0  # where nothing was changed, nothing is missing
        world.history.restart(world.identifiers.count, world.settings, begins_at)
        return world

    def take_history(self, name: str, changed: int, forgotten: int, rows: Sequence[bytes]) -> None:
        """Takes how to undo the changes that were made before a world was loaded.

        Args:
            name: The world.
            changed: How many changes there were.
            forgotten: The number of the request up to which none is kept.
            rows: The newest of the changes, the oldest first, each behind its request's number.
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
        """Returns the records of a world in the order they were put."""
        overlay: Blobs = {}
        for place, value in sorted(pairs(state.content), key=lambda row: row[1][:_ORDER_DIGITS]):
            collection, _, key = place.decode().partition("\0")
            kind, record = value[_ORDER_DIGITS : _ORDER_DIGITS + 4], value[_ORDER_DIGITS + 4 :]
            overlay.setdefault(collection, {})[key] = record if kind == b"put " else None
        return overlay

    def _repeat(self, world: World, logged: bytes) -> None:
        """Repeats what another replica has committed."""
        number = int(logged[:_NUMBER_DIGITS])
        change = msgspec.msgpack.decode(logged[_NUMBER_DIGITS:], type=LoggedChange)
        with _unnoted(world):
            for collection, key, blob in change.rows:
                record = None if blob is None else self._rows.decoded(collection, blob)
                world.apply(RecordChange(collection, key, record))
            if change.settings:
                take_settings(world, msgspec.msgpack.decode(change.settings, type=WorldSettings))
                world.note_change()
        changes = collected(world)
        if changes is not None:
            numbers = (number - 1, number) if change.is_journalled else (number, None)
            call = change.method, change.path
            world.history.settle(HistoryEntry(change.at, call, numbers[0], changes, numbers[1]))

    def _windows(self, blobs: dict[str, bytes]) -> Windows:
        decoded: list[tuple[str, Window]] = [
            (who, self._rows.decoded(WINDOWS.name, blob)) for who, blob in blobs.items()
        ]
        return Windows(sorted(decoded, key=lambda item: item[1].opened))

    def _take_journal(self, world: World, copy: WorldCopy, reply: Sequence[Any]) -> None:
        is_continued, total, forgotten, last, entries, exercised = reply
        if is_continued and copy.journal == UNKNOWN_ENTRY:
            return  # the entries before these were emptied here, and that was taken back
        journal = world.journal
        contexts = [journalled(row[TAG_BYTES:], world, self._find) for row in entries]
        listeners = journal.listeners
        if not is_continued:
            journal.resume(total - len(contexts))
            journal.forgotten = forgotten
            journal.listeners = []  # they have heard of these
        for context in contexts:
            journal.add(context)
        journal.listeners = listeners
        journal.exercised = exercised_counts(exercised)
        copy.journal = last


@contextmanager
def _unnoted(world: World) -> Iterator[None]:
    """Changes a world to what the store has, which need not be told; nor after a row that cannot be read."""
    store, world.store = world.store, None
    try:
        yield
    finally:
        world.store = store


def take_settings(world: World, settings: WorldSettings) -> None:
    """Gives a world other settings; its windows stay."""
    world.clock.setting = settings.clock
    world.identifiers = Identifiers(settings.seed, settings.issued)
    world.choices = settings.choices
    world.limits = dict(settings.limits)
    world.faults = dict(settings.faults)


class WorldList:
    """The list of worlds and snapshots.

    Args:
        worlds: The copies of the worlds.
        copies: What is known of them.
        load: Returns a snapshot of the store by its name.

    Attributes:
        tag: Names the commit that the list is up to date with; empty until it is known.
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
        """Forgets everything, as the store is not the one that it was."""
        self.tag = b""
        self._numbers.clear()
        self._worlds.snapshots = {}

    def accepted(self, snapshots: Iterable[str], tag: bytes) -> None:
        """Takes that a request of this replica has changed the list."""
        self.tag = tag
        kept = self._worlds.snapshots
        for name in snapshots:
            self._numbers.pop(name, None)
            if name in kept:  # the newest is the last, as the store lists them
                kept[name] = kept.pop(name)

    async def take(
        self,
        tag: bytes | None,
        worlds: Sequence[bytes],
        snapshots: Sequence[bytes],
        exercised: Sequence[bytes],
    ) -> None:
        """Takes the list of the store.

        Args:
            tag: Names the commit that changed it last.
            worlds: The names of worlds, each followed by its place in the order they were made.
            snapshots: The names of snapshots, each followed by its number.
            exercised: Parts of the contract, each followed by how often deleted worlds used it.

        Raises:
            StoreUnavailable: The store does not respond.
        """
        listed = _numbered(worlds)
        for world in self._worlds.copies():
            if listed.get(world.name) != self._worlds.number(world.name):
                self._copies.forget(world.name)
        for name, number in listed.items():
            if self._worlds.number(name) is None:
                self._worlds.adopt(name, self._worlds.beginning(), number)
        self._worlds.take_ended(exercised_counts(exercised))
        await self._take_snapshots(_numbered(snapshots))
        self.tag = tag or b""

    async def _take_snapshots(self, numbers: dict[str, int]) -> None:
        """Loads the snapshots that are not the ones that are known here."""
        known, snapshots = self._worlds.snapshots, {}
        for name in sorted(numbers, key=numbers.__getitem__):
            is_known = name in known and self._numbers.get(name) == numbers[name]
            snapshot = known[name] if is_known else await self._load(name)
            if snapshot is not None:
                snapshots[name] = snapshot
        self._worlds.snapshots, self._numbers = snapshots, numbers


def _numbered(flat: Sequence[bytes]) -> dict[str, int]:
    return {name.decode(): int(at) for name, at in zip(flat[::2], flat[1::2], strict=True)}

"""Runs one attempt at a request on the copies of a replica, and commits its changes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Final, Protocol

from starlette.types import Message

from understudy.errors import Problem
from understudy.fleet.changes import WorldChanges
from understudy.fleet.copies import Copies, ReplicatedWorlds, WorldList
from understudy.fleet.link import Turns
from understudy.limits import HISTORY_BYTES
from understudy.mock.server.hosts import BASE_PATH
from understudy.mock.server.journal import MOST_ENTRIES
from understudy.mock.server.request_context import RequestContext
from understudy.mock.server.transactions import Superseded
from understudy.mock.server.worlds import Baseline, RecordChange, Snapshot, World
from understudy.mock.store.state_rows import Rows

LIST: Final = ""
"""Name of the list of worlds and snapshots among the names that a transaction holds."""

_MOST_CHANGES = 256
"""Largest number of logged changes per world, by which replicas update their copies."""


class Store(Protocol):
    """The members of the store that a transaction uses."""

    rows: Rows
    copies: Copies
    listed: WorldList
    turns: Turns

    def next_tag(self) -> bytes:
        """Returns a unique tag for a commit."""

    def ended(self, names: Iterable[str]) -> None:
        """Ends the transaction on these worlds."""

    def drop_copies(self) -> None:
        """Drops some of the copies beyond the limit."""

    async def run(self, message: Mapping[str, Any]) -> Any:
        """Runs the commit script, and returns its reply."""

    def decoding(self) -> AbstractContextManager[None]:
        """Returns a context manager for decoding replies of the store."""


class ReplicaTransaction:
    """One attempt at a request, or at a group of requests.

    Attributes:
        names: The worlds that the transaction holds.
        is_over: Whether it was committed or undone.
        snapshots: Name to encoded snapshot to store; empty bytes: to delete.
    """

    def __init__(
        self,
        store: Store,
        worlds: ReplicatedWorlds,
        names: frozenset[str],
        locks: Sequence[asyncio.Lock],
    ) -> None:
        self._store = store
        self._worlds = worlds
        self.names = names
        self.is_over = False
        self._is_steering = False
        self.snapshots: dict[str, bytes] = {}
        self._locks = locks
        self._held = list(locks)
        self._changes: dict[str, WorldChanges] = {}
        self._snapshots = dict(worlds.snapshots) if LIST in names else {}
        for name in names:
            world = worlds.find(name)
            if world is not None:
                self._note(world)

    def changes(self, world: World) -> WorldChanges:
        """Returns the changes in a world so far.

        Raises:
            Superseded: The transaction does not hold the world yet.
        """
        changes = self._changes.get(world.name)
        if changes is None:
            raise Superseded([world.name])
        return changes

    def use(self, worlds: Iterable[World]) -> None:
        """Notes that the request uses these worlds.

        Raises:
            Superseded: The transaction does not hold them yet.
        """
        missing = [world.name for world in worlds if world.name not in self._changes]
        if missing:
            raise Superseded(missing)

    def create(self, world: World) -> None:
        """Notes that the request creates a world.

        Raises:
            Superseded: The transaction does not hold its name yet.
        """
        self._note(world).is_made = True
        if world.name not in self.names:
            raise Superseded([world.name])

    def remove(self, world: World) -> None:
        """Notes that the request deletes a world."""
        self.changes(world).is_removed = True

    async def pause(self, receive: Callable[[], Awaitable[Message]]) -> Message:
        """Receives a message of the client, and releases the worlds for others meanwhile.

        Raises:
            Superseded: Another request has changed the worlds meanwhile.
        """
        if any(changes.is_changed or changes.windows for changes in self._changes.values()):
            return await receive()
        tags = self._tags()
        unchanged, self._changes = self._changes, {}  # so that nothing is changed without the locks
        self._release()
        try:
            message = await receive()
        finally:
            for lock in self._locks:
                await lock.acquire()
                self._held.append(lock)
        self._changes = unchanged
        if tags != self._tags():
            self._changes = {}  # nothing was changed, so nothing to undo
            raise Superseded
        return message

    def _tags(self) -> list[tuple[object, ...]]:
        return [
            (self._worlds.find(name), it.copy.tag, it.world.journal.total, it.copy.counted)
            for name, it in self._changes.items()
        ]

    def add(self, context: RequestContext) -> None:
        """Adds a handled request, to which all changes since the previous one are attributed."""
        self._is_steering |= context.path.startswith(BASE_PATH)
        for changes in self._changes.values():
            changes.add(self._store.rows, context)

    async def commit(self) -> None:
        """Commits the changes and journal entries of the requests.

        Raises:
            Superseded: A copy was outdated; all changes were undone, and the copy was updated.
        """
        tag = self._store.next_tag()
        shared = self._shared
        rows, capacity = self._store.rows, self._worlds.capacity
        try:
            message = {
                "known": [it.known(is_steering=self._is_steering) for it in self._changes.values()],
                "changes": [
                    it.message(rows, tag, capacity)
                    for it in self._changes.values()
                    if it.is_written
                ],
                "most_changes": _MOST_CHANGES,
                "most_undone": MOST_ENTRIES,
                "most_undone_bytes": HISTORY_BYTES.most,
                "list": self._list_tag,
                "new_list": tag if self._changes_list else b"",
                "snapshots": list(self.snapshots.items()),
                "turn": "" if shared is None else shared.world.name,
            }
            reply = await self._store.run(message)
        except Problem as problem:
            raise Superseded(problem=problem) from None
        if reply[0] == b"waiting":
            assert shared is not None
            self._undo()
            self._store.turns.expect(shared.world.name, shared.copy.tag)
            raise Superseded
        if reply[0] == b"stale":
            self._undo()
            with self._decoding_reply():
                await self._update_copies(reply)
            raise Superseded
        with self._decoding_reply():
            self._accept(reply[1], tag)
        if shared is not None and reply[2]:
            self._store.turns.expect(shared.world.name, shared.copy.tag)
        self._finish()
        if self._store.copies.excess:
            self._store.drop_copies()

    async def refresh(self, names: Iterable[str], *, is_steering: bool = False) -> None:
        """Updates the copies of worlds.

        Raises:
            StoreUnavailable: The store does not respond.
        """
        known = []
        for name in names:
            world = self._worlds.find(name)
            if world is None:
                copy = self._store.copies.of(name)
                about = {"name": name, "id": copy.id, "tag": b"", "counted": -1, "journal": b""}
                known.append({**about, "is_new": False, "total": 0, "forgotten": 0})
            else:
                known.append(self.changes(world).known(is_steering=is_steering))
        message = {"known": known, "changes": [], "snapshots": [], "new_list": b"", "turn": ""}
        message["list"] = self._list_tag
        reply = await self._store.run(message)
        self._changes.clear()  # nothing was changed, so nothing to undo
        if reply[0] == b"stale":
            with self._store.decoding():
                await self._update_copies(reply)

    @contextmanager
    def _decoding_reply(self) -> Iterator[None]:
        """Returns a context manager for decoding the reply to a commit.

        Raises:
            Superseded: The reply cannot be decoded; carries the problem for the response.
        """
        try:
            with self._store.decoding():
                yield
        except Problem as problem:
            raise Superseded(problem=problem) from None

    def end(self) -> None:
        """Undoes the changes unless they were committed, and releases the worlds."""
        if not self.is_over:
            self._undo()
            self._finish()
        self._store.ended(self.names)

    @property
    def _shared(self) -> WorldChanges | None:
        """The changes in the only world of the transaction, if it qualifies for turns; or None."""
        changes, *others = self._changes.values()
        is_alone = not others and self.names == {changes.world.name}
        return changes if is_alone and changes.is_written and not self._is_steering else None

    @property
    def _list_tag(self) -> bytes:
        """The tag of the list of worlds; empty if the request does not use the list."""
        return self._store.listed.tag or b"none" if LIST in self.names else b""

    @property
    def _changes_list(self) -> bool:
        is_other = any(it.is_made or it.is_removed for it in self._changes.values())
        return is_other or bool(self.snapshots)

    def _note(self, world: World) -> WorldChanges:
        changes = WorldChanges(world, self._store.copies.of(world.name))
        self._changes[world.name] = changes
        return changes

    def _accept(self, replies: Sequence[Any], tag: bytes) -> None:
        """Updates copies and list after a successful commit."""
        for reply in replies:
            name = reply[0].decode()
            changes = self._changes[name]
            if changes.is_removed:
                self._store.copies.forget(name)
                continue
            changes.accepted(self._store.rows, reply, tag)
            if changes.is_made:
                changes.world.number = reply[4]
        if any(it.is_removed for it in self._changes.values()):
            tag = b""  # load the list again, as it has the exercised counts of deleted worlds
        if self._changes_list:
            self._store.listed.accepted(self.snapshots, tag)

    def _undo(self) -> None:
        for name, changes in self._changes.items():
            if changes.is_made:
                self._store.copies.forget(name)
                continue
            changes.undo()
            for principal in changes.windows:
                self._store.copies.put_back_window(changes.world, changes.copy, principal)
        if self.snapshots:
            self._worlds.snapshots = self._snapshots
        self._changes.clear()
        self.snapshots.clear()

    async def _update_copies(self, reply: Sequence[Any]) -> None:
        """Updates copies and list from the store's reply."""
        _, states, windows, listed = reply
        self._store.copies.update_all(states, windows)
        if listed:
            await self._store.listed.update(*listed)

    def _finish(self) -> None:
        self.is_over = True
        self._release()

    def _release(self) -> None:
        while self._held:
            self._held.pop().release()


CURRENT: ContextVar[ReplicaTransaction | None] = ContextVar("understudy.transaction", default=None)
"""The transaction of the request that the running task handles."""


class ChangeGatherer:
    """Gathers the changes that worlds report in the transaction of the current request."""

    numbers_requests = True

    def __init__(self, rows: Rows, refresh: Callable[[World], Awaitable[None]]) -> None:
        self._rows = rows
        self._refresh = refresh

    async def refresh(self, world: World) -> None:
        """Updates the copy of a world with its journal.

        Raises:
            StoreUnavailable: The store does not respond.
        """
        await self._refresh(world)

    async def commit_now(self) -> None:
        """Commits the transaction of the current request before its response is made."""
        await _transaction().commit()

    def worlds_used(self, worlds: Iterable[World]) -> None:
        """Notes that the current request uses these worlds."""
        transaction = CURRENT.get()
        if transaction is not None and not transaction.is_over:
            transaction.use(worlds)

    def record_changed(self, world: World, change: RecordChange) -> None:
        """Notes the change of a record; called before it is applied.

        Raises:
            ValueError: The record cannot be encoded so that it can be decoded again.
        """
        row = None
        if change.record is not None:
            row = self._rows.record(change.collection, change.record)
        self._changes(world).put(change, row)

    def settings_changed(self, world: World) -> None:
        """Does nothing: a commit compares the settings with those before."""

    def fault_used(self, world: World) -> None:
        """Does nothing: a commit compares the faults with those before."""

    def windows_changed(self, world: World, principals: Iterable[str]) -> None:
        """Notes that the rate-limit windows of these principals have changed."""
        self._changes(world).windows.update(principals)

    def world_created(self, world: World) -> None:
        """Notes a new world."""
        _transaction().create(world)

    def world_replaced(self, world: World) -> None:
        """Notes that the whole state of a world is replaced."""
        self._changes(world).is_replaced = True

    def world_removed(self, world: World) -> None:
        """Notes that a world is deleted."""
        _transaction().remove(world)

    def snapshot_changed(self, name: str, snapshot: Snapshot | None) -> None:
        """Notes a named snapshot to store; None: to delete."""
        row = b"" if snapshot is None else self._rows.snapshot(snapshot)
        _transaction().snapshots[name] = row

    def baseline_replaced(self, fixtures: Baseline) -> None:
        """Replaces the fixtures; not called in a fleet, as ``serve`` refuses --reload with a store."""
        self._rows.fixtures = fixtures

    def commit(self, world: World) -> None:
        """Does nothing: a transaction is committed as a whole, before its response is sent."""

    def expect_ready(self) -> None:
        """Does nothing: if the store did not respond, the request has failed already."""

    def _changes(self, world: World) -> WorldChanges:
        return _transaction().changes(world)


def _transaction() -> ReplicaTransaction:
    transaction = CURRENT.get()
    if transaction is None or transaction.is_over:
        msg = "a world of a fleet was changed outside of a request"
        raise RuntimeError(msg)
    return transaction

"""Tells the transaction of a request what worlds say of their changes."""

from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from datetime import timedelta

from understudy.fleet.changes import WorldChanges
from understudy.fleet.transaction import ReplicaTransaction
from understudy.mock.server.worlds import Baseline, RecordChange, Snapshot, World
from understudy.mock.store.state_rows import Rows

CURRENT: ContextVar[ReplicaTransaction | None] = ContextVar("understudy.transaction", default=None)
"""The transaction of the request that the running task works on."""


class ChangeGatherer:
    """The store of worlds that replicas share, as a world sees it.

    Args:
        rows: Encodes records.
        refresh: Brings the copy of a world up to date.
    """

    numbers_requests = True

    def __init__(self, rows: Rows, refresh: Callable[[World], Awaitable[None]]) -> None:
        self._rows = rows
        self._refresh = refresh

    async def refresh(self, world: World) -> None:
        """Brings the copy of a world up to date, with its journal.

        Raises:
            StoreUnavailable: The store does not respond.
        """
        await self._refresh(world)

    async def commit_now(self) -> None:
        """Commits the transaction of the request that is worked on, before its response is known."""
        await _transaction().commit()

    def worlds_used(self, worlds: Iterable[World]) -> None:
        """Takes that a request has used these worlds."""
        transaction = CURRENT.get()
        if transaction is not None and not transaction.is_over:
            transaction.use(worlds)

    def record_changed(self, world: World, change: RecordChange) -> None:
        """Takes one change, before it is made.

        Raises:
            ValueError: The record could not be read back.
        """
        row = None
        if change.record is not None:
            row = self._rows.record(change.collection, change.record)
        self._changes(world).put(change, row)

    def settings_changed(self, world: World) -> None:
        """Takes that clock, choices, limits or faults have changed; they are compared anyway."""

    def fault_used(self, world: World) -> None:
        """Takes that a fault was used; they are compared anyway."""

    def windows_changed(self, world: World, principals: Iterable[str]) -> None:
        """Takes the windows of these principals."""
        self._changes(world).windows.update(principals)

    def world_created(self, world: World, beginning: Snapshot, idle: timedelta | None) -> None:
        """Takes a new world."""
        _transaction().create(world, beginning, idle)

    def world_replaced(self, world: World) -> None:
        """Takes that all of a world is replaced."""
        self._changes(world).is_replaced = True

    def world_removed(self, world: World) -> None:
        """Takes that a world is deleted."""
        _transaction().remove(world)

    def snapshot_changed(self, name: str, snapshot: Snapshot | None) -> None:
        """Takes a named snapshot; None deletes it."""
        row = b"" if snapshot is None else self._rows.snapshot(snapshot)
        _transaction().snapshots[name] = row

    def baseline_replaced(self, fixtures: Baseline) -> None:
        """Takes other fixtures, which replicas never have: ``serve`` refuses --reload with a store."""
        self._rows.fixtures = fixtures

    def commit(self, world: World) -> None:
        """Does nothing: a transaction is committed as a whole, before its response is sent."""

    def _changes(self, world: World) -> WorldChanges:
        return _transaction().changes(world)


def _transaction() -> ReplicaTransaction:
    transaction = CURRENT.get()
    if transaction is None or transaction.is_over:
        msg = "a world of a fleet was changed outside of a request"
        raise RuntimeError(msg)
    return transaction

"""Makes what happens in worlds outlast the process, in an SQLite database (``serve --state``).

Changes are gathered while a request is worked on and written in one transaction before its answer
begins, so what was answered is on its way to the disk and no request is ever kept by half. With
write-ahead logging and ``synchronous=NORMAL`` a killed process loses nothing; a machine that loses
power may lose its last moments, and the file stays whole.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from understudy.errors import StartupError
from understudy.mock.engine.clock import ClockSetting
from understudy.mock.engine.faults import Fault
from understudy.mock.engine.windows import Window
from understudy.mock.engine.world_selection import Worlds
from understudy.mock.engine.worlds import (
    DEFAULT,
    Baseline,
    Collection,
    RecordChange,
    Snapshot,
    World,
)

FILE = "worlds.sqlite"
VERSION = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS worlds (
  name TEXT PRIMARY KEY, idle REAL, beginning BLOB, baseline BLOB, steering BLOB
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (
  world TEXT, collection TEXT, key TEXT, record BLOB, PRIMARY KEY (world, collection, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS snapshots (name TEXT PRIMARY KEY, kept BLOB) WITHOUT ROWID;
"""

Blobs = dict[str, dict[str, bytes | None]]
"""Collection name to key to record as MessagePack; None for one that was removed."""


class _Steering(Struct):
    """What a world is beside its records."""

    hands: ClockSetting | None
    seed: int
    issued: int
    choices: dict[str, str]
    windows: dict[str, Window]
    limits: dict[str, int]
    faults: dict[str, Fault]


class _Kept(Struct):
    """A snapshot; without a baseline of its own it stands on the fixtures."""

    baseline: Blobs | None
    overlay: Blobs
    steering: _Steering


class SqliteStore:
    """Keeps every world of a mock.

    Args:
        directory: Where the database lies; made if it is not there.
        collections: Every kind of record.
        fixtures: The baseline of worlds that have none of their own.

    Raises:
        StartupError: The directory cannot be used, or another process uses it.
    """

    def __init__(
        self, directory: Path, collections: Iterable[Collection[Any]], fixtures: Baseline
    ) -> None:
        self._decoders = {c.name: msgspec.msgpack.Decoder(c.type) for c in collections}
        self._encode = msgspec.msgpack.Encoder().encode
        self._fixtures = fixtures
        self._waiting: list[tuple[str, tuple[Any, ...]]] = []
        self._steered: dict[str, World] = {}
        self._issued: dict[str, int] = {}
        self._database = _opened(directory)

    def restore(self, worlds: Worlds) -> None:
        """Gives the worlds back what they were, and keeps them from now on."""
        rows = self._database.execute(
            "SELECT name, idle, beginning, baseline, steering FROM worlds"
        )
        for name, idle, beginning, baseline, steering in rows.fetchall():
            if name == DEFAULT:
                world = worlds.default
            else:
                start = self._thawed(msgspec.msgpack.decode(beginning, type=_Kept))
                span = None if idle is None else timedelta(seconds=idle)
                world = worlds.create(name, start, idle=span)
            own = None if baseline is None else msgspec.msgpack.decode(baseline, type=Blobs)
            overlay = self._records(name)
            state = msgspec.msgpack.decode(steering, type=_Steering)
            world.become(self._thawed(_Kept(own, overlay, state)))
        for name, kept in self._database.execute("SELECT name, kept FROM snapshots"):
            worlds.snapshots[name] = self._thawed(msgspec.msgpack.decode(kept, type=_Kept))
        for world in worlds:
            world.store = self
        worlds.store = self
        if not self._database.execute("SELECT 1 FROM worlds WHERE name = ?", (DEFAULT,)).fetchone():
            self.world_created(worlds.default, worlds.beginning(), None)
            self.commit(worlds.default)

    def record_changed(self, world: World, change: RecordChange) -> None:
        """Takes one change."""
        record = None if change.record is None else self._encode(change.record)
        values = (world.name, change.collection, change.key, record)
        self._waiting.append(("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)", values))

    def settings_changed(self, world: World) -> None:
        """Takes the world's clock, choices, windows, limits and faults."""
        self._steered[world.name] = world

    def world_created(self, world: World, beginning: Snapshot, idle: timedelta | None) -> None:
        """Takes a new world."""
        start = self._encode(self._frozen(beginning))
        seconds = None if idle is None else idle.total_seconds()
        values = (world.name, seconds, start)
        insert = "INSERT OR REPLACE INTO worlds (name, idle, beginning) VALUES (?, ?, ?)"
        self._waiting.append((insert, values))
        self.world_replaced(world)

    def world_replaced(self, world: World) -> None:
        """Takes all that a world is now, instead of what it was."""
        self._waiting.append(("DELETE FROM records WHERE world = ?", (world.name,)))
        for change in world.changes():
            self.record_changed(world, change)
        own = self._own(world.baseline)
        baseline = None if own is None else self._encode(own)
        values = (baseline, world.name)
        self._waiting.append(("UPDATE worlds SET baseline = ? WHERE name = ?", values))
        self.settings_changed(world)

    def world_removed(self, world: World) -> None:
        """Forgets a world."""
        self._waiting.append(("DELETE FROM records WHERE world = ?", (world.name,)))
        self._waiting.append(("DELETE FROM worlds WHERE name = ?", (world.name,)))
        self._steered.pop(world.name, None)

    def snapshot_changed(self, name: str, snapshot: Snapshot | None) -> None:
        """Takes a named snapshot; None forgets it."""
        if snapshot is None:
            self._waiting.append(("DELETE FROM snapshots WHERE name = ?", (name,)))
            return
        values = (name, self._encode(self._frozen(snapshot)))
        self._waiting.append(("INSERT OR REPLACE INTO snapshots VALUES (?, ?)", values))

    def baseline_replaced(self, fixtures: Baseline) -> None:
        """Takes other fixtures instead of those that worlds without a baseline stand on."""
        self._fixtures = fixtures

    def commit(self, world: World) -> None:
        """Makes every change so far last.

        Args:
            world: The one that a request was made in; it may have handed out identifiers.

        Raises:
            sqlite3.Error: It could not be written; nothing of it was.
        """
        if world.identifiers.count != self._issued.get(world.name):
            self._steered[world.name] = world
        if not (self._waiting or self._steered):
            return
        for steered in self._steered.values():
            values = (self._encode(_steering(steered.snapshot())), steered.name)
            self._waiting.append(("UPDATE worlds SET steering = ? WHERE name = ?", values))
        with self._database:
            self._database.execute("BEGIN")
            for statement, values in self._waiting:
                self._database.execute(statement, values)
        self._issued[world.name] = world.identifiers.count
        self._waiting.clear()
        self._steered.clear()

    def close(self) -> None:
        """Lets go of the database, for another process to take."""
        self._database.close()

    def _records(self, world: str) -> Blobs:
        found: Blobs = {}
        query = "SELECT collection, key, record FROM records WHERE world = ?"
        for collection, key, record in self._database.execute(query, (world,)):
            found.setdefault(collection, {})[key] = record
        return found

    def _own(self, baseline: Baseline) -> Blobs | None:
        return None if baseline is self._fixtures else self._blobs(baseline)

    def _blobs(self, records: Mapping[str, Mapping[str, Any]]) -> Blobs:
        return {
            collection: {
                key: None if record is None else self._encode(record)
                for key, record in members.items()
            }
            for collection, members in records.items()
        }

    def _frozen(self, snapshot: Snapshot) -> _Kept:
        overlay = self._blobs(snapshot.overlay)
        return _Kept(self._own(snapshot.baseline), overlay, _steering(snapshot))

    def _thawed(self, kept: _Kept) -> Snapshot:
        state = kept.steering
        return Snapshot(
            baseline=self._fixtures if kept.baseline is None else self._read(kept.baseline),
            overlay=self._read(kept.overlay),
            hands=state.hands,
            seed=state.seed,
            issued=state.issued,
            choices=state.choices,
            windows=state.windows,
            limits=state.limits,
            faults=state.faults,
        )

    def _read(self, blobs: Blobs) -> dict[str, dict[str, Any]]:
        return {
            collection: {
                key: None if record is None else self._decoders[collection].decode(record)
                for key, record in members.items()
            }
            for collection, members in blobs.items()
        }


def _steering(state: Snapshot) -> _Steering:
    return _Steering(
        state.hands,
        state.seed,
        state.issued,
        dict(state.choices),
        dict(state.windows),
        dict(state.limits),
        dict(state.faults),
    )


def _opened(directory: Path) -> sqlite3.Connection:
    path = directory / FILE
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            database = sqlite3.connect(
                path, isolation_level=None, timeout=0, check_same_thread=False
            )
            stack.callback(database.close)
            _prepare(database, path)
            stack.pop_all()
    except OSError as error:
        msg = f"--state {directory} cannot be used: {error.strerror}."
        raise StartupError(msg) from error
    except sqlite3.OperationalError as error:
        msg = f"--state {directory}: {path} cannot be used: {error}. Does another mock use it?"
        raise StartupError(msg) from error
    except sqlite3.DatabaseError as error:
        msg = f"--state {directory}: {path} is no database of understudy: {error}."
        raise StartupError(msg) from error
    return database


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version not in {0, VERSION}:
        msg = (
            f"{path} was written by another version of understudy ({version}); "
            "move it away, or give --state another directory."
        )
        raise StartupError(msg)
    database.executescript(_SCHEMA)
    database.execute(f"PRAGMA user_version = {VERSION}")

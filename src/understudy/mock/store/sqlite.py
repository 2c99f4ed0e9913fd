"""Persists worlds in an SQLite database (``serve --state``).

The changes of a request are collected, and written in one transaction before its response begins, so
a request is stored completely or not at all. With write-ahead logging and ``synchronous=NORMAL`` a
killed process loses nothing; after a power failure the last requests may be lost, but the file is
not damaged.
"""

import base64
import json
import logging
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from understudy.errors import InsufficientStorage, Problem, StartupError, StoreUnavailable
from understudy.mock.server.journal import WorldHistory
from understudy.mock.server.world_selection import Worlds
from understudy.mock.server.worlds import (
    DEFAULT,
    Baseline,
    RecordChange,
    Snapshot,
    World,
)
from understudy.mock.store.state_rows import WINDOWS, Blobs, Rows
from understudy.terminal import counted

Statement = tuple[str, tuple[Any, ...]]
"""An SQL statement, and the values of its parameters."""


@dataclass(slots=True)
class PendingChanges:
    """The changes since the last commit.

    Attributes:
        statements: The statements to execute first, in this order.
        settings: The worlds whose settings have changed, by name.
        windows: The worlds whose rate-limit windows have changed, by name and principal.
        is_only_counted: True if all changes are counts of uses, whose loss fails no request.
    """

    statements: list[Statement] = field(default_factory=list)
    settings: dict[str, World] = field(default_factory=dict)
    windows: dict[tuple[str, str], World] = field(default_factory=dict)
    is_only_counted: bool = True
    _touched: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        """Tells whether there are changes to write."""
        return bool(self.statements or self.settings or self.windows)

    @property
    def worlds(self) -> Iterator[str]:
        """The names of the worlds with changes."""
        yield from {*self._touched, *self.settings, *(name for name, _ in self.windows)}

    def add(self, world: World, statement: str, *values: Any) -> None:
        """Adds a statement for one world."""
        self._touched.add(world.name)
        self.add_for_all(statement, *values)

    def add_for_all(self, statement: str, *values: Any) -> None:
        """Adds a statement that belongs to no world."""
        self.is_only_counted = False
        self.statements.append((statement, values))

    def note_settings(self, world: World, *, is_only_counted: bool) -> None:
        """Notes that a world's settings have changed.

        A deleted world is ignored, as another world may have its name by now.
        """
        if not world.is_ended:
            self.settings[world.name] = world
            self.is_only_counted = self.is_only_counted and is_only_counted

    def note_windows(self, world: World, principals: Iterable[str]) -> None:
        """Notes that rate-limit windows of a world have changed; a deleted world is ignored."""
        if not world.is_ended:
            self.windows.update({(world.name, principal): world for principal in principals})

    def drop(self, name: str) -> None:
        """Drops the noted settings and windows of a deleted world."""
        self.settings.pop(name, None)
        self.windows = {key: world for key, world in self.windows.items() if key[0] != name}

    def clear(self) -> None:
        """Drops all changes, after they were written or undone."""
        self.statements.clear()
        self.settings.clear()
        self.windows.clear()
        self._touched.clear()
        self.is_only_counted = True


FILE = "worlds.sqlite"
VERSION = 3

_LOGGED_PAGES = 4000
"""Pages of the write-ahead log (16 MB) after which SQLite writes them into the database.

Counted requests change the same few pages again and again, which are then written only once.
"""

_TABLES = {
    "worlds": "name TEXT PRIMARY KEY, idle REAL, beginning BLOB, baseline BLOB, settings BLOB",
    "records": (
        "world TEXT, collection TEXT, key TEXT, record BLOB, PRIMARY KEY (world, collection, key)"
    ),
    "snapshots": "name TEXT PRIMARY KEY, kept BLOB",
}


class BrokenRow(NamedTuple):
    """A row that cannot be read.

    Attributes:
        table: The table that contains it.
        key: The values of its primary key.
        reason: The error of reading it.
    """

    table: str
    key: tuple[Any, ...]
    reason: str

    def __str__(self) -> str:
        """Returns the row as messages name it."""
        return f"{self.table} {' / '.join(map(str, self.key))}: {self.reason}"


def open_database(directory: Path, *, is_repair: bool) -> sqlite3.Connection:
    """Opens the database of a directory; both are created if they do not exist.

    Args:
        directory: The directory of ``--state``.
        is_repair: True to rename a file that is not a state database, and create a new one.

    Raises:
        StartupError: The database cannot be used, or another process uses it.
    """
    path = directory / FILE
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _expect_whole(path, is_repair=is_repair)
        return _connected(path)
    except OSError as error:
        msg = (
            f"--state {directory} cannot be made or written ({error.strerror}); "
            "name a directory that can be."
        )
        raise StartupError(msg) from error
    except sqlite3.OperationalError as error:
        is_full = error.sqlite_errorcode == sqlite3.SQLITE_FULL
        advice = "Make room there." if is_full else "Does another mock use it?"
        msg = f"--state {directory}: {path} cannot be used: {error}. {advice}"
        raise StartupError(msg) from error
    except sqlite3.DatabaseError as error:
        if not is_repair:
            msg = (
                f"--state {directory}: {path} is not a database of understudy: {error}. "
                "serve --state-repair sets it aside."
            )
            raise StartupError(msg) from error
        path.rename(_free_path(directory, ".sqlite"))
        return _connected(path)


def _expect_whole(path: Path, *, is_repair: bool) -> None:
    """Checks that neither the database nor its write-ahead log is lost.

    SQLite would silently begin a new database.

    Raises:
        StartupError: One of the files is missing or empty, and worlds were in it.
    """
    log = path.with_name(f"{path.name}-wal")
    lost, kept = (path, log) if _size(log) else (log, path)
    if _size(lost) or not (_size(log) or _was_all_in_log(path)):
        return
    if not is_repair:
        msg = (
            f"--state {path.parent}: {lost} is empty or missing, and {kept.name} beside it is not: the "
            f"worlds were in both. Restore both files from a copy, or serve --state-repair sets "
            f"{kept.name} aside and starts anew."
        )
        raise StartupError(msg)
    kept.rename(_free_path(path.parent, ".sqlite-wal" if kept is log else ".sqlite"))


def _was_all_in_log(path: Path) -> bool:
    """Tells whether a database has only its header page, which names a log (SQLite's format, 1.3)."""
    if not _size(path):
        return False
    with path.open("rb") as file:
        head = file.read(100)
    return _size(path) == int.from_bytes(head[16:18]) and head[18:20] == b"\x02\x02"


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def identity(directory: Path) -> tuple[int, int] | None:
    """Returns the device and inode of the database's file; None without a file."""
    try:
        found = (directory / FILE).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def set_aside(database: sqlite3.Connection, directory: Path, broken: list[BrokenRow]) -> Path:
    """Moves rows that cannot be read into a file beside the database.

    Returns:
        Path of the file, which has one JSON object per line, with binary values in Base64.
    """
    path = _free_path(directory, ".jsonl")
    with path.open("w", encoding="utf-8") as lines, database:
        database.execute("BEGIN")
        for row in broken:
            columns = [c[1] for c in database.execute(f"PRAGMA table_info({row.table})") if c[5]]
            where = " AND ".join(f"{column} IS ?" for column in columns)
            values = database.execute(f"SELECT * FROM {row.table} WHERE {where}", row.key)
            for value in values.fetchall():
                content = [_as_json(member) for member in value]
                line = {"table": row.table, "reason": row.reason, "row": content}
                lines.write(json.dumps(line) + "\n")
            database.execute(f"DELETE FROM {row.table} WHERE {where}", row.key)
    return path


def _as_json(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _free_path(directory: Path, suffix: str) -> Path:
    number = 1
    while (path := directory / f"worlds.broken-{number}{suffix}").exists():
        number += 1
    return path


def _connected(path: Path) -> sqlite3.Connection:
    with ExitStack() as stack:
        database = sqlite3.connect(path, isolation_level=None, timeout=0, check_same_thread=False)
        stack.callback(database.close)
        _prepare(database, path)
        stack.pop_all()
    return database


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    """Configures a connection, and creates the tables of a new database.

    Raises:
        StartupError: The database was written by another version.
        sqlite3.Error: The database is damaged, or of another program.
    """
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute(f"PRAGMA wal_autocheckpoint = {_LOGGED_PAGES}")
    version = database.execute("PRAGMA user_version").fetchone()[0]
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    if version == 0 and tables:
        msg = f"it has the tables {', '.join(sorted(tables))}"
        raise sqlite3.DatabaseError(msg)
    if version not in {0, VERSION}:
        msg = (
            f"{path} was written by another version of understudy ({version}); "
            "move it away, or give --state another directory."
        )
        raise StartupError(msg)
    for name, columns in _TABLES.items():
        database.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns}) WITHOUT ROWID")
        database.execute(f"SELECT * FROM {name} LIMIT 1").fetchone()
    if version == 0:
        database.execute(f"PRAGMA user_version = {VERSION}")


_log = logging.getLogger(__name__)

_WORLDS = "SELECT name, idle, beginning, baseline, settings FROM worlds"
_PUT = "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)"
_REMOVE = "DELETE FROM records WHERE world = ? AND collection = ? AND key = ?"


class SqliteStore:
    """Persists every world of a mock.

    Args:
        directory: The directory of the database; created if it does not exist.
        fixtures: The baseline of worlds without their own.
        is_repair: True to move unreadable rows into a file; False to refuse to start.

    Raises:
        StartupError: The directory cannot be used, or another process uses it.
    """

    numbers_requests = False

    def __init__(self, directory: Path, fixtures: Baseline, *, is_repair: bool = False) -> None:
        self._directory = directory
        self._is_repair = is_repair
        self._rows = Rows(fixtures)
        self._worlds: Worlds | None = None
        self._pending = PendingChanges()
        self._issued: dict[str, int] = {}
        self._database = open_database(directory, is_repair=is_repair)
        self._file = identity(directory)

    def restore(self, worlds: Worlds) -> None:
        """Restores the worlds from the database, and persists them from now on.

        Raises:
            StartupError: A row cannot be read; the message names it.
        """
        try:
            broken = self._read(worlds)
            self._handle(broken)
        except sqlite3.Error as error:
            self.close()
            msg = f"--state {self._directory}: the database is damaged: {error}."
            raise StartupError(msg) from error
        except StartupError:
            self.close()
            raise
        for world in worlds:
            world.history = WorldHistory()  # the restored records must not count as new changes
            world.history.begin(world.identifiers.count, world.settings)
            world.store = self
        worlds.store = self
        self._worlds = worlds
        if not self._database.execute("SELECT 1 FROM worlds WHERE name = ?", (DEFAULT,)).fetchone():
            self.world_created(worlds.default)
            self.commit(worlds.default)

    def _read(self, worlds: Worlds) -> list[BrokenRow]:
        """Restores every world and snapshot that can be read; returns the rows that cannot."""
        broken = []
        for row in self._database.execute(_WORLDS).fetchall():
            records, unreadable = self._records(row[0])
            broken += unreadable
            try:
                self._restore_world(worlds, row, records)
            except (ValueError, TypeError, Problem) as error:
                broken.append(BrokenRow("worlds", (row[0],), str(error)))
                keys = "SELECT world, collection, key FROM records WHERE world = ?"
                broken += [
                    BrokenRow("records", key, "its world cannot be read")
                    for key in self._database.execute(keys, (row[0],)).fetchall()
                ]
        for name, kept in self._database.execute("SELECT name, kept FROM snapshots").fetchall():
            try:
                worlds.snapshots[name] = self._rows.decoded_snapshot(kept)
            except (ValueError, TypeError) as error:
                broken.append(BrokenRow("snapshots", (name,), str(error)))
        return broken

    def _restore_world(self, worlds: Worlds, row: tuple[Any, ...], records: Blobs) -> None:
        name, idle, beginning, baseline, settings = row
        snapshot = self._rows.decoded_world(baseline, records, settings)
        world = worlds.default
        if name != DEFAULT:
            span = None if idle is None else timedelta(seconds=idle)
            world = worlds.create(name, self._rows.decoded_snapshot(beginning), idle=span)
        world.become(snapshot)
        world.history.restart(world.identifiers.count, world.settings, 0)

    def _records(self, world: str) -> tuple[Blobs, list[BrokenRow]]:
        records: Blobs = {}
        broken = []
        query = "SELECT collection, key, record FROM records WHERE world = ?"
        for collection, key, record in self._database.execute(query, (world,)):
            try:
                if record is not None:
                    self._rows.decoded(collection, record)
                records.setdefault(collection, {})[key] = record
            except (ValueError, TypeError) as error:
                broken.append(BrokenRow("records", (world, collection, key), str(error)))
        return records, broken

    def _handle(self, broken: list[BrokenRow]) -> None:
        if not broken:
            return
        rows = counted(len(broken), "row")
        if not self._is_repair:
            msg = (
                f"--state {self._directory}: {rows} cannot be read, first {broken[0]}. "
                "serve --state-repair sets what is broken aside in a file, and starts the rest."
            )
            raise StartupError(msg)
        path = set_aside(self._database, self._directory, broken)
        _log.warning("%s of the state could not be read and were set aside in %s", rows, path)

    def record_changed(self, world: World, change: RecordChange) -> None:
        """Stores one change; it is durable once ``commit`` has returned.

        Raises:
            ValueError: The encoded record could not be decoded again.
        """
        record = None
        if change.record is not None:
            record = self._rows.record(change.collection, change.record)
        self._pending.add(world, _PUT, world.name, change.collection, change.key, record)

    def settings_changed(self, world: World) -> None:
        """Stores the world's clock, choices, limits and faults."""
        self._pending.note_settings(world, is_only_counted=False)

    def fault_used(self, world: World) -> None:
        """Stores the uses of faults by requests, which do not fail if the disk is full."""
        self._pending.note_settings(world, is_only_counted=True)

    def windows_changed(self, world: World, principals: Iterable[str]) -> None:
        """Stores rate-limit windows; counted requests do not fail if the disk is full."""
        self._pending.note_windows(world, principals)

    def world_created(self, world: World) -> None:
        """Stores a new world."""
        seconds = None if world.idle is None else world.idle.total_seconds()
        insert = "INSERT OR REPLACE INTO worlds (name, idle, beginning) VALUES (?, ?, ?)"
        self._pending.add(world, insert, world.name, seconds, self._rows.snapshot(world.beginning))
        self.world_replaced(world)

    def world_replaced(self, world: World) -> None:
        """Replaces the whole state of a world."""
        self._pending.add(world, "DELETE FROM records WHERE world = ?", world.name)
        for change in world.changes():
            self.record_changed(world, change)
        update = "UPDATE worlds SET baseline = ? WHERE name = ?"
        self._pending.add(world, update, self._rows.baseline(world.baseline), world.name)
        self.windows_changed(world, world.windows)
        self.settings_changed(world)

    def world_removed(self, world: World) -> None:
        """Deletes a world."""
        self._pending.add(world, "DELETE FROM records WHERE world = ?", world.name)
        self._pending.add(world, "DELETE FROM worlds WHERE name = ?", world.name)
        self._pending.drop(world.name)

    def snapshot_changed(self, name: str, snapshot: Snapshot | None) -> None:
        """Stores a named snapshot; None deletes it."""
        if snapshot is None:
            self._pending.add_for_all("DELETE FROM snapshots WHERE name = ?", name)
            return
        insert = "INSERT OR REPLACE INTO snapshots VALUES (?, ?)"
        self._pending.add_for_all(insert, name, self._rows.snapshot(snapshot))

    def baseline_replaced(self, fixtures: Baseline) -> None:
        """Replaces the fixtures, the baseline of worlds without their own."""
        self._rows.fixtures = fixtures

    def commit(self, world: World) -> None:
        """Writes all changes since the last commit.

        Args:
            world: The world of the request, which may have generated identifiers.

        Raises:
            InsufficientStorage: The changes could not be written, and were undone.
        """
        if world.identifiers.count != self._issued.get(world.name):
            self._pending.note_settings(world, is_only_counted=True)
        if not self._pending:
            return
        try:
            self._expect_file()
            self._write()
        except (sqlite3.Error, OSError) as error:
            if self._pending.is_only_counted:
                return  # the counts are written with the next change
            self._undo()
            msg = f"The change could not be kept in --state {self._directory}: {error}."
            raise InsufficientStorage(msg, code="insufficient_storage") from error
        self._issued[world.name] = world.identifiers.count
        self._pending.clear()

    def expect_ready(self) -> None:
        """Checks that changes can be written.

        Raises:
            StoreUnavailable: The database was deleted or replaced.
        """
        try:
            self._expect_file()
        except FileNotFoundError as error:
            msg = f"Nothing can be kept in --state {self._directory}: {error}."
            raise StoreUnavailable(msg) from error

    def _expect_file(self) -> None:
        """Checks that the open file still has its path: SQLite would write into a deleted file.

        Raises:
            FileNotFoundError: The database was deleted or replaced.
        """
        if identity(self._directory) != self._file:
            msg = "its file was deleted or replaced; restore the directory and start the mock again"
            raise FileNotFoundError(msg)

    def _write(self) -> None:
        update = "UPDATE worlds SET settings = ? WHERE name = ?"
        settings = [
            (update, (self._rows.settings(changed), changed.name))
            for changed in self._pending.settings.values()
        ]
        windows = [
            self._window_statement(world, principal)
            for (_, principal), world in self._pending.windows.items()
        ]
        self._carry_out((*self._pending.statements, *windows, *settings))

    def _carry_out(self, statements: Sequence[Statement]) -> None:
        """Executes statements in one transaction."""
        if len(statements) == 1:  # needs no BEGIN, which saves a quarter of the time
            self._database.execute(*statements[0])
            return
        with self._database:
            self._database.execute("BEGIN")
            for statement in statements:
                self._database.execute(*statement)

    def _window_statement(self, world: World, principal: str) -> Statement:
        key = (world.name, WINDOWS.name, principal)
        window = world.windows.get(principal)
        if window is None:
            return _REMOVE, key
        return _PUT, (*key, self._rows.window(window))

    def _undo(self) -> None:
        """Restores every world with changes to its state in the database."""
        touched = tuple(self._pending.worlds)
        self._pending.clear()
        if self._worlds is None:
            return
        for name in touched:
            row = self._database.execute(f"{_WORLDS} WHERE name = ?", (name,)).fetchone()
            if row is None:
                self._worlds.remove(name)
                continue
            records, _ = self._records(name)
            world = self._worlds.find(name)
            if world is None:
                self._restore_world(self._worlds, row, records)
            else:
                _, _, _, baseline, settings = row
                world.become(self._rows.decoded_world(baseline, records, settings))
        kept = self._database.execute("SELECT name, kept FROM snapshots").fetchall()
        self._worlds.snapshots = {name: self._rows.decoded_snapshot(blob) for name, blob in kept}
        self._pending.clear()

    def close(self) -> None:
        """Closes the database, so that another process can open it."""
        self._database.close()

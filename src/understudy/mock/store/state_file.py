"""Opens the state database, and sets aside what of it cannot be read."""

import base64
import json
import sqlite3
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from understudy.errors import StartupError

FILE = "worlds.sqlite"
VERSION = 3
_UPGRADED = 2
"""The version that kept the rate-limit windows of a world in its settings."""

MARK_VERSION = f"PRAGMA user_version = {VERSION}"

_LOGGED_PAGES = 4000
"""Pages of the write-ahead log, 16 MB, after which it is written into the database.

Requests that are counted write the same few pages again and again, which are then written once.
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
        reason: Why it cannot be read.
    """

    table: str
    key: tuple[Any, ...]
    reason: str

    def __str__(self) -> str:
        """Names the row in a message."""
        return f"{self.table} {' / '.join(map(str, self.key))}: {self.reason}"


def open_database(directory: Path, *, is_repair: bool) -> sqlite3.Connection:
    """Opens the database of a directory, which is made if it does not exist.

    Args:
        directory: Where it lies.
        is_repair: Whether a file that is not a state database is set aside, and a new one begun.

    Raises:
        StartupError: It cannot be used, or another process uses it.
    """
    path = directory / FILE
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _expect_whole(path, is_repair=is_repair)
        return _connected(path)
    except OSError as error:
        msg = f"--state {directory} cannot be used: {error.strerror}."
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
    """Refuses a write-ahead log without its database, which SQLite would drop without a word.

    Raises:
        StartupError: The database is missing or empty, and its log is not.
    """
    log = path.with_name(f"{path.name}-wal")
    if not _size(log) or _size(path):
        return
    if not is_repair:
        msg = (
            f"--state {path.parent}: {path} is empty or missing, and {log.name} beside it is not: the "
            "worlds were in both. Restore both files from a copy, or serve --state-repair sets the "
            "log aside and starts anew."
        )
        raise StartupError(msg)
    log.rename(_free_path(path.parent, ".sqlite-wal"))


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def identity(directory: Path) -> tuple[int, int] | None:
    """Returns what tells the database's file from another one at its path; None where there is none."""
    try:
        found = (directory / FILE).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_of_older_version(database: sqlite3.Connection) -> bool:
    """Tells whether the rate-limit windows are still to be moved into rows."""
    return bool(database.execute("PRAGMA user_version").fetchone()[0] == _UPGRADED)


def set_aside(database: sqlite3.Connection, directory: Path, broken: list[BrokenRow]) -> Path:
    """Moves rows that cannot be read into a file beside the database.

    Returns:
        The file: a JSON object a line, with binary values in Base64.
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
    """Makes the tables of a new database, and refuses one that has others.

    Raises:
        StartupError: It was written by another version.
        sqlite3.Error: It is damaged, or another program's.
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
    if version not in {0, _UPGRADED, VERSION}:
        msg = (
            f"{path} was written by another version of understudy ({version}); "
            "move it away, or give --state another directory."
        )
        raise StartupError(msg)
    for name, columns in _TABLES.items():
        database.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns}) WITHOUT ROWID")
        database.execute(f"SELECT * FROM {name} LIMIT 1").fetchone()
    if version == 0:
        database.execute(MARK_VERSION)

"""Counts the requests of the last hour for each credential, across runs."""

import hashlib
import os
from collections import deque
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

import orjson

from understudy.errors import StartupError

HOUR = timedelta(hours=1)  # interface, Limits: "per hour"
ANONYMOUS = "anonymous"


def bucket_of(token: str | None) -> str:
    """Returns the key under which a credential is counted; never the credential itself."""
    if token is None:
        return ANONYMOUS
    return "token " + hashlib.sha256(token.encode()).hexdigest()[:16]


class RequestLedger(Protocol):
    """Counts the requests of the last hour for each credential."""

    def used(self, bucket: str, now: datetime) -> int:
        """Returns the number of requests of the last hour, those of other runs included."""

    def take(self, bucket: str, now: datetime, limit: int, reserve: int) -> bool:
        """Counts a request if the hour has more left than what is kept for undoing."""

    def add(self, bucket: str, now: datetime, *, is_restoring: bool = False) -> None:
        """Counts a request even if the hour has none left."""

    def frees(self, bucket: str) -> datetime | None:
        """Returns when the oldest request of the hour is dropped from the count."""

    def forget_from(self, now: datetime) -> None:
        """Drops the entries later than the restored time."""

    def close(self) -> None:
        """Releases the requests that were reserved for undoing."""


class Ledger:
    """Counts the requests of the last hour; runs that share a file share the count.

    Args:
        path: The file that keeps the count; None keeps it in memory.
        now: The current time; entries older than an hour are dropped.

    Raises:
        StartupError: The file cannot be read or written.
    """

    def __init__(self, path: Path | None, now: datetime) -> None:
        self._path = path
        self._sent: dict[str, deque[datetime]] = {}
        self._read = 0
        self._inode = 0
        if path is None:
            return
        try:
            if path.exists():
                self._read_on()
            for bucket in self._sent:
                self._drop(bucket, now)
            self._rewrite(path)
        except (OSError, ValueError, KeyError, TypeError) as error:
            msg = f"the ledger {path} cannot be used: {error}. Delete it, or name another."
            raise StartupError(msg) from error

    def used(self, bucket: str, now: datetime) -> int:
        """Returns the number of requests of the last hour, those of other runs included."""
        self._read_on()
        self._drop(bucket, now)
        return len(self._sent.get(bucket, ()))

    def forget_from(self, now: datetime) -> None:
        """Drops the entries later than the restored time."""
        for times in self._sent.values():
            while times and times[-1] > now:
                times.pop()

    def frees(self, bucket: str) -> datetime | None:
        """Returns when the oldest request of the hour is dropped from the count."""
        times = self._sent.get(bucket)
        return times[0] + HOUR if times else None

    def take(self, bucket: str, now: datetime, limit: int, reserve: int) -> bool:
        """Counts a request if the hour has more left than what is kept for undoing.

        Args:
            bucket: The key under which it is counted.
            now: The current time.
            limit: Requests per hour.
            reserve: Requests that are kept for undoing changes.
        """
        if limit - self.used(bucket, now) <= reserve:
            return False
        self.add(bucket, now)
        return True

    def add(self, bucket: str, now: datetime, *, is_restoring: bool = False) -> None:  # noqa: ARG002 - a shared ledger needs it
        """Counts a request before it is sent, since a lost request counts too."""
        if self._path is None:
            self._sent.setdefault(bucket, deque()).append(now)
            return
        line = _line(bucket, now)
        with self._path.open("ab", buffering=0) as file:
            file.write(line)
            status = os.fstat(file.fileno())
        if (status.st_ino, status.st_size) == (self._inode, self._read + len(line)):
            self._read += len(line)  # no other run has written: there is nothing to read
            self._sent.setdefault(bucket, deque()).append(now)
        else:
            self._read_on()

    def close(self) -> None:
        """Does nothing: the file is not kept open, and reserves nothing."""

    def _drop(self, bucket: str, now: datetime) -> None:
        times = self._sent.get(bucket, deque())
        while times and now - times[0] >= HOUR:
            times.popleft()

    def _read_on(self) -> None:
        """Reads the lines that this run or another one has appended."""
        if self._path is None or self._is_read(self._path):
            return
        with self._path.open("rb") as file:
            inode = os.fstat(file.fileno()).st_ino
            if inode != self._inode:  # another run has rewritten the file
                self._inode, self._read = inode, 0
                self._sent.clear()
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):
                    break  # another run is just writing it
                self._read += len(line)
                entry = orjson.loads(line)
                at = datetime.fromisoformat(entry["at"])
                self._sent.setdefault(entry["bucket"], deque()).append(at)

    def _is_read(self, path: Path) -> bool:
        """Tells whether the whole file is read already, for a tenth of the cost of opening it."""
        status = path.stat()
        return (status.st_ino, status.st_size) == (self._inode, self._read)

    def _rewrite(self, path: Path) -> None:
        """Replaces the file by one without the entries that were dropped."""
        draft = path.with_name(f"{path.name}.draft")
        lines = [_line(bucket, at) for bucket, times in self._sent.items() for at in times]
        draft.write_bytes(b"".join(lines))
        draft.replace(path)
        self._inode, self._read = path.stat().st_ino, path.stat().st_size


def _line(bucket: str, at: datetime) -> bytes:
    return orjson.dumps({"bucket": bucket, "at": at.isoformat()}) + b"\n"

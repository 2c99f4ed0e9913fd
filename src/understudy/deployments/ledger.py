"""Counts the requests of the last hour for each credential, across runs."""

import hashlib
from collections import deque
from datetime import datetime, timedelta
from pathlib import Path

import orjson

from understudy.errors import StartupError

HOUR = timedelta(hours=1)  # interface, Limits: "per hour"
ANONYMOUS = "anonymous"


def bucket_of(token: str | None) -> str:
    """Returns the key that a credential is counted under; never the credential itself."""
    if token is None:
        return ANONYMOUS
    return "token " + hashlib.sha256(token.encode()).hexdigest()[:16]


class Ledger:
    """Counts the requests of the last hour.

    Args:
        path: The file that keeps the count; None keeps it in memory.
        now: The current time; entries older than an hour are dropped.

    Raises:
        StartupError: The file cannot be read or written.
    """

    def __init__(self, path: Path | None, now: datetime) -> None:
        self._path = path
        self._sent: dict[str, deque[datetime]] = {}
        if path is None:
            return
        try:
            lines = path.read_bytes().splitlines() if path.exists() else []
            for entry in map(orjson.loads, lines):
                at = datetime.fromisoformat(entry["at"])
                if now - at < HOUR:
                    self._sent.setdefault(entry["bucket"], deque()).append(at)
            kept = [_line(bucket, at) for bucket, times in self._sent.items() for at in times]
            path.write_bytes(b"".join(kept))
        except (OSError, ValueError, KeyError, TypeError) as error:
            msg = f"the ledger {path} cannot be used: {error}. Delete it, or name another."
            raise StartupError(msg) from error

    def used(self, bucket: str, now: datetime) -> int:
        """Returns the number of requests of the last hour."""
        times = self._sent.get(bucket, deque())
        while times and now - times[0] >= HOUR:
            times.popleft()
        return len(times)

    def forget_from(self, now: datetime) -> None:
        """Drops the entries later than the restored time."""
        for times in self._sent.values():
            while times and times[-1] > now:
                times.pop()

    def frees(self, bucket: str) -> datetime | None:
        """Returns when the oldest request of the hour is dropped from the count."""
        times = self._sent.get(bucket)
        return times[0] + HOUR if times else None

    def add(self, bucket: str, now: datetime) -> None:
        """Counts a request before it is sent, since a lost request counts too."""
        self._sent.setdefault(bucket, deque()).append(now)
        if self._path is not None:
            with self._path.open("ab") as file:
                file.write(_line(bucket, now))


def _line(bucket: str, at: datetime) -> bytes:
    return orjson.dumps({"bucket": bucket, "at": at.isoformat()}) + b"\n"

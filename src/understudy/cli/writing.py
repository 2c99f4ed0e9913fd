"""Checks before a run that its files can be written, and writes the ready file."""

from collections.abc import Mapping
from pathlib import Path

import orjson

from understudy.errors import StartupError


def expect_writable(path: Path, what: str) -> None:
    """Makes sure that a file can be written; creates its directory, and changes nothing else.

    Args:
        path: The file.
        what: The option or key that names it, for the message.

    Raises:
        StartupError: It cannot be written.
    """
    is_there = path.exists()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):
            pass
        if not is_there:
            path.unlink()
    except OSError as error:
        msg = f"{what}: {path} cannot be written ({error.strerror}); name a file that can be."
        raise StartupError(msg) from error


class ReadyFile:
    """The file that gets one line of JSON with the addresses of a server.

    It is created whole: who waits for it never reads an empty file, nor that of an earlier run.

    Args:
        path: The file.

    Raises:
        StartupError: It cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = path.with_name(f"{path.name}.draft")
        try:
            path.unlink(missing_ok=True)
            self._draft.touch()
        except OSError as error:
            msg = f"--ready-file {path} cannot be written: {error.strerror}. Check the directory."
            raise StartupError(msg) from error

    def write(self, addresses: Mapping[str, str]) -> None:
        """Writes the addresses."""
        self._draft.write_bytes(orjson.dumps(addresses) + b"\n")
        self._draft.replace(self._path)


def ready_file(path: Path | None) -> ReadyFile | None:
    """Returns the file at a path, as no file is written where none was named.

    Raises:
        StartupError: It cannot be written.
    """
    return None if path is None else ReadyFile(path)

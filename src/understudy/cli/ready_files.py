"""Tells programs that wait for a server where it is, once it is ready (``--ready-file``)."""

from collections.abc import Mapping
from pathlib import Path

import orjson

from understudy.errors import StartupError


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

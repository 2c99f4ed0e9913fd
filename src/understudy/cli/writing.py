"""Checks before a run that its files can be written, and writes the ready file."""

from collections.abc import Callable, Mapping
from pathlib import Path

import orjson

from understudy.errors import StartupError


def expect_writable(path: Path, what: str) -> None:
    """Checks that a file can be written; creates its directory, and changes nothing else.

    Args:
        path: The file.
        what: The option or key that names it, for the message.

    Raises:
        StartupError: The file cannot be written.
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


def ready_file(path: Path | None) -> Callable[[Mapping[str, str]], None]:
    """Returns a function that writes the ready file: one line of JSON with a server's addresses.

    The file appears complete, and an earlier one is deleted first, so that a program can wait for it.
    Without a path the function does nothing.

    Raises:
        StartupError: The file cannot be written.
    """
    if path is None:
        return lambda _addresses: None
    draft = path.with_name(f"{path.name}.draft")
    try:
        path.unlink(missing_ok=True)
        draft.touch()
    except OSError as error:
        msg = f"--ready-file {path} cannot be written: {error.strerror}. Check the directory."
        raise StartupError(msg) from error

    def write(addresses: Mapping[str, str]) -> None:
        draft.write_bytes(orjson.dumps(addresses) + b"\n")
        draft.replace(path)

    return write

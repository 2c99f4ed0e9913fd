"""Checks before a run that the files which it writes at its end can be written."""

from pathlib import Path

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
        raise unwritable(path, what, error) from error


def unwritable(path: Path, what: str, error: OSError) -> StartupError:
    """Returns the error for a file that cannot be written."""
    return StartupError(
        f"{what}: {path} cannot be written ({error.strerror}); name a file that can be."
    )

"""Files that a command writes at its end: whether it may is found out before it begins."""

from pathlib import Path

from understudy.errors import StartupError


def expect_writable(path: Path, what: str) -> None:
    """Makes sure that a file can be written, and leaves everything as it was but for directories.

    Args:
        path: The file.
        what: What names it on the command line or in a file.

    Raises:
        StartupError: It cannot.
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
    """Returns what is said of a file that cannot be written."""
    return StartupError(
        f"{what}: {path} cannot be written ({error.strerror}); name a file that can be."
    )

"""Writes the reports of a run, and checks before it that they can be written."""

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


def write_report(path: Path, name: str, text: str) -> None:
    """Writes a report.

    Raises:
        StartupError: It cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(path, f"--report {name}={path}", error) from error


def append_summary(path: Path, text: str) -> None:
    """Appends a report to the summary of a job of GitHub's.

    Raises:
        StartupError: It cannot be written.
    """
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise unwritable(path, "GITHUB_STEP_SUMMARY", error) from error

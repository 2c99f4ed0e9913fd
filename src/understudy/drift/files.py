"""Writes the files that a comparison keeps beside the target file."""

from pathlib import Path

from understudy.errors import StartupError


def replace_file(path: Path, content: bytes) -> None:
    """Replaces a file atomically, so that a kill leaves the old or the new content.

    Raises:
        StartupError: The file cannot be written.
    """
    draft = path.with_name(f"{path.name}.draft")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    except OSError as error:
        msg = f"{path} cannot be written ({error.strerror}); name a file that can be."
        raise StartupError(msg) from error

"""Keeps the project's key, under which people become the same pseudonyms in every recording."""

import os
import re
import stat
from pathlib import Path
from typing import Final

from understudy.errors import StartupError

KEY_BYTES: Final = 32
_KEY: Final = re.compile(r"[0-9a-f]{64}\n?")


def key_file(named: Path | None, target_file: Path | None) -> Path:
    """Returns the file of the key: the named one, or one beside the target file."""
    if named is not None:
        return named
    return Path("understudy.key") if target_file is None else target_file.with_suffix(".key")


def load_key(path: Path) -> tuple[bytes, bool]:
    """Reads the key, or makes one that only this user can read.

    Returns:
        The key, and whether it is new.

    Raises:
        StartupError: The file cannot be read or written, is not a key, or others can read it.
    """
    try:
        return _made(path), True
    except FileExistsError:
        pass
    except OSError as error:
        msg = f"--key: {path} cannot be written ({error.strerror}); name a file that can be."
        raise StartupError(msg) from error
    try:
        text, mode = path.read_text("ascii"), path.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        msg = f"--key: {path} cannot be read ({error}); name the key of the project."
        raise StartupError(msg) from error
    if not _KEY.fullmatch(text):
        msg = f"--key: {path} is not a key of `understudy record`, which has 64 hexadecimal digits."
        raise StartupError(msg)
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        msg = f"--key: others can read {path}, and with it undo pseudonyms; run: chmod 600 {path}"
        raise StartupError(msg)
    return bytes.fromhex(text.strip()), False


def _made(path: Path) -> bytes:
    """Makes a key.

    Raises:
        OSError: There is one already, or the file cannot be written.
    """
    key = os.urandom(KEY_BYTES)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(key.hex() + "\n")
    return key

"""Writes the pieces of a format into one file, files beside it, or a directory."""

import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from understudy.errors import StartupError
from understudy.generate.formats.export import TITLE, ExportFormat, OmittedCase, OutputPiece


@dataclass
class Omissions:
    """The cases that could not be written.

    Attributes:
        reasons: Reason to number of cases.
        ids: Ids of the cases, in order.
    """

    reasons: Counter[str] = field(default_factory=Counter)
    ids: list[str] = field(default_factory=list)


def beside(out: Path | None) -> str:
    """Returns the name of the directory for bodies beside an output."""
    return "bodies" if out is None or not out.suffix else f"{out.stem}.bodies"


def prepare(form: ExportFormat, out: Path | None, *, is_forced: bool = False) -> None:
    """Checks that an output can be written, and leaves everything as it was.

    Args:
        form: The format, which is a file or a directory.
        out: The output; None for standard output.
        is_forced: Whether an output of an earlier run is replaced.

    Raises:
        StartupError: Something is there already, or the output cannot be written.
    """
    if out is None and not form.suffix:
        msg = "This format is a directory; name it with --out."
        raise StartupError(msg)
    if out is None:
        return
    try:
        if _is_occupied(out):
            _expect_replaceable(form, out, is_forced=is_forced)
        elif form.suffix and not out.exists():
            with out.open("wb"):
                pass
            out.unlink()
        elif not out.exists():
            out.mkdir(parents=True)
            out.rmdir()
    except OSError as error:
        raise _unwritable(out, error) from error


def _is_occupied(out: Path) -> bool:
    return out.exists() and (not out.is_dir() or any(out.iterdir()))


def _expect_replaceable(form: ExportFormat, out: Path, *, is_forced: bool) -> None:
    if not is_forced:
        msg = f"{out} is there already; give --out a new name, or replace it with --force."
        raise StartupError(msg)
    if out.is_dir() and (form.suffix or not _is_collection(out)):
        msg = f"{out} is a directory that generate did not write; give --out a new name."
        raise StartupError(msg)
    if not out.is_dir() and not form.suffix:
        msg = f"{out} is a file, and this format is a directory; give --out a new name."
        raise StartupError(msg)


def _is_collection(directory: Path) -> bool:
    """Tells whether a directory is a collection of an earlier run, and so may be replaced."""
    try:
        manifest = json.loads((directory / "bruno.json").read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("name") == TITLE


def _unwritable(out: Path | None, error: OSError) -> StartupError:
    name = out or "standard output"
    return StartupError(f"{name} cannot be written: {error.strerror or error}.")


def save(
    pieces: Iterable[OutputPiece | OmittedCase],
    form: ExportFormat,
    out: Path | None,
    *,
    is_forced: bool = False,
) -> Omissions:
    """Writes pieces as they come.

    Args:
        pieces: The pieces of the format.
        form: The format, which is a file or a directory.
        out: The output; None for standard output.
        is_forced: Whether an output of an earlier run is replaced.

    Raises:
        StartupError: Something is there already, the output cannot be written, or it needs more
            than one file.
    """
    prepare(form, out, is_forced=is_forced)
    omissions = Omissions()
    with ExitStack() as stack:
        try:
            main = _main(form, out, stack)
            root = None if out is None else out if not form.suffix else out.parent
            for piece in pieces:
                if isinstance(piece, OmittedCase):
                    omissions.reasons[piece.reason] += 1
                    omissions.ids.append(piece.case.id)
                elif piece.name:
                    _write_beside(root, piece)
                elif main is not None:
                    main.write(piece.content)
        except OSError as error:
            raise _unwritable(out, error) from error
    return omissions


def _main(form: ExportFormat, out: Path | None, stack: ExitStack) -> BinaryIO | None:
    if out is None:
        return sys.stdout.buffer
    if not form.suffix:
        if out.exists():
            shutil.rmtree(out)
        out.mkdir(parents=True)
        return None
    bodies = out.parent / beside(out)
    if out.exists() and bodies.is_dir() and out.suffix:
        shutil.rmtree(bodies)
    return stack.enter_context(out.open("wb"))


def _write_beside(root: Path | None, piece: OutputPiece) -> None:
    if root is None:
        msg = "This output needs files of its own beside it; name a file with --out."
        raise StartupError(msg)
    path = root / piece.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(piece.content)

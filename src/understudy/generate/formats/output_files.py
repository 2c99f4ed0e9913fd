"""Puts the pieces of a format where they belong: one file, files beside it, or a directory."""

import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from understudy.errors import StartupError
from understudy.generate.formats.export import ExportFormat, OmittedCase, OutputPiece


@dataclass
class Omissions:
    """What could not be written, for the summary.

    Attributes:
        reasons: Why, and how often.
        ids: Which cases, in order.
    """

    reasons: Counter[str] = field(default_factory=Counter)
    ids: list[str] = field(default_factory=list)


def beside(out: Path | None) -> str:
    """Returns the name of the directory that takes bodies beside an output."""
    return "bodies" if out is None or not out.suffix else f"{out.stem}.bodies"


def prepare(form: ExportFormat, out: Path | None) -> None:
    """Tries an output out before any work is done for it, and leaves nothing behind.

    Raises:
        StartupError: There is something already, or it cannot be written.
    """
    is_there = out is not None and out.exists()
    try:
        with ExitStack() as stack:
            _main(form, out, stack)
    except OSError as error:
        raise _unwritable(out, error) from error
    if out is not None and not is_there:
        _remove(out)


def _remove(path: Path) -> None:
    if path.is_dir():
        path.rmdir()
    else:
        path.unlink()


def _unwritable(out: Path | None, error: OSError) -> StartupError:
    what = out or "standard output"
    return StartupError(f"{what} cannot be written: {error.strerror or error}.")


def save(
    pieces: Iterable[OutputPiece | OmittedCase], form: ExportFormat, out: Path | None
) -> Omissions:
    """Writes pieces as they come.

    Args:
        pieces: Of the format.
        form: Says whether it is a file or a directory.
        out: Where to; None for standard output.

    Raises:
        StartupError: There is something already, it cannot be written, or needs more than one file.
    """
    left = Omissions()
    with ExitStack() as stack:
        try:
            main = _main(form, out, stack)
            root = None if out is None else out if not form.suffix else out.parent
            for piece in pieces:
                if isinstance(piece, OmittedCase):
                    left.reasons[piece.reason] += 1
                    left.ids.append(piece.case.id)
                elif piece.name:
                    _file(root, piece)
                elif main is not None:
                    main.write(piece.content)
        except OSError as error:
            raise _unwritable(out, error) from error
    return left


def _main(form: ExportFormat, out: Path | None, stack: ExitStack) -> BinaryIO | None:
    if out is None:
        if not form.suffix:
            msg = "This format is a directory; name it with --out."
            raise StartupError(msg)
        return sys.stdout.buffer
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        msg = f"{out} is there already; give --out a new name."
        raise StartupError(msg)
    if form.suffix:
        return stack.enter_context(out.open("wb"))
    out.mkdir(parents=True, exist_ok=True)
    return None


def _file(root: Path | None, piece: OutputPiece) -> None:
    if root is None:
        msg = "Some bodies lie in files of their own; name a file with --out."
        raise StartupError(msg)
    path = root / piece.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(piece.content)

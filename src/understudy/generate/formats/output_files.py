"""Writes the pieces of a format into one file, files beside it, or a directory."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from understudy.errors import StartupError
from understudy.generate.formats.export import ExportFormat, OmittedCase, OutputPiece

LISTING: Final = ".understudy.json"
"""The file in a directory of ours that names the files which were written there."""


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
    """Returns the name of the directory for bodies beside an output, each of which has its own."""
    return "bodies" if out is None else f"{out.stem}.bodies"


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
    return (directory / LISTING).is_file()


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
    try:
        with _opened(form, out) as (main, root, written):
            for piece in pieces:
                if isinstance(piece, OmittedCase):
                    omissions.reasons[piece.reason] += 1
                    omissions.ids.append(piece.case.id)
                elif piece.name:
                    _write_beside(root, piece)
                    written.append(piece.name)
                elif main is not None:
                    main.write(piece.content)
    except OSError as error:
        raise _unwritable(out, error) from error
    return omissions


@contextmanager
def _opened(
    form: ExportFormat, out: Path | None
) -> Iterator[tuple[BinaryIO | None, Path | None, list[str]]]:
    """Gives the main file, the directory that names are relative to, and the list of those written.

    The files of an earlier run are removed from a collection, and from the directory for bodies.
    """
    written: list[str] = []
    if out is None:
        yield sys.stdout.buffer, None, written
        sys.stdout.buffer.flush()  # so that the verdict on stderr comes last where both are one pipe
        return
    root = out.parent if form.suffix else out
    own = out.parent / beside(out) if form.suffix else out
    _clear(own)
    root.mkdir(parents=True, exist_ok=True)
    try:
        with out.open("wb") if form.suffix else nullcontext() as main:
            yield main, root, written
    finally:
        paths = [root / name for name in written]
        names = [path.relative_to(own).as_posix() for path in paths if path.is_relative_to(own)]
        if names:
            (own / LISTING).write_text(json.dumps(names, indent=1))


def _clear(directory: Path) -> None:
    """Removes the files that an earlier run wrote into a directory; files of others stay."""
    for name in _listed(directory):
        path = directory / name
        if path.resolve().is_relative_to(directory.resolve()):
            path.unlink(missing_ok=True)
            with suppress(OSError):  # it holds other files
                path.parent.rmdir()
    (directory / LISTING).unlink(missing_ok=True)


def _listed(directory: Path) -> list[str]:
    """Returns the names of the files that an earlier run wrote into a directory."""
    try:
        names: list[str] = json.loads((directory / LISTING).read_bytes())
    except (OSError, ValueError):
        return []
    return names


def _write_beside(root: Path | None, piece: OutputPiece) -> None:
    if root is None:
        msg = "This output needs files of its own beside it; name a file with --out."
        raise StartupError(msg)
    path = root / piece.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(piece.content)

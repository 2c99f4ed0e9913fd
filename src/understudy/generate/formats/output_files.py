"""Writes the pieces of a format into one file, files beside it, or a directory."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
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
        with _opened(form, out) as (main, root):
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


@contextmanager
def _opened(form: ExportFormat, out: Path | None) -> Iterator[tuple[BinaryIO | None, Path | None]]:
    """Gives the main file, if there is one, and the directory that names are relative to.

    What is written takes the place of an earlier output at the end of the block, if it ends well.
    """
    if out is None:
        yield sys.stdout.buffer, None
        return
    if out.exists() and not (out.is_file() or out.is_dir()):  # a pipe, or a device
        with out.open("wb") as main:
            yield main, out.parent
        return
    out = out.resolve()
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".understudy-", dir=out.parent) as name:
        made = Path(name)
        if not form.suffix:
            yield None, made
            _replace_files(made, out)
            return
        with (made / out.name).open("wb") as main:
            yield main, made
        for directory in {beside(out), *(it.name for it in made.iterdir() if it.is_dir())}:
            _replace_files(made / directory, out.parent / directory)
        (made / out.name).replace(out)


def _replace_files(made: Path, directory: Path) -> None:
    """Moves the files that were made to where an earlier run has written; files of others stay."""
    for name in _listed(directory):
        (directory / name).unlink(missing_ok=True)
        with suppress(OSError):  # it holds other files
            (directory / name).parent.rmdir()
    names = [it.relative_to(made).as_posix() for it in sorted(made.rglob("*")) if it.is_file()]
    for name in names:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).replace(directory / name)
    if names:
        (directory / LISTING).write_text(json.dumps(names, indent=1))


def _listed(directory: Path) -> list[str]:
    """Returns the names of the files that an earlier run wrote, and of its list of them."""
    try:
        names = json.loads((directory / LISTING).read_bytes())
    except (OSError, ValueError):
        return []
    inside = [
        name for name in names if ".." not in Path(name).parts and not Path(name).is_absolute()
    ]
    return [*inside, LISTING]


def _write_beside(root: Path | None, piece: OutputPiece) -> None:
    if root is None:
        msg = "This output needs files of its own beside it; name a file with --out."
        raise StartupError(msg)
    path = root / piece.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(piece.content)

"""Damaged state directories: a mock begins with what is whole, or says what to do, and never mixes them up."""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random  # noqa: TID251 - drawn from the seed
from tempfile import TemporaryDirectory

from tests.mock.admin.conftest import Driver, Time
from tests.proofs.attack.files.attempts import Attempt, FileList
from tests.proofs.attack.files.capsules import left_behind, lived_in

from understudy.errors import StartupError
from understudy.mock.settings import Settings
from understudy.mock.store.sqlite import SqliteStore

JUNK = (b"", b"\0" * 100, b"\xff" * 100, b"SQLite format 3\0", b"\x1b[2J", b"{}")


def attempts(count: int, seed: int) -> Iterator[Attempt]:
    """Yields directories of a mock that has lived, each damaged in another way."""
    chance = Random(seed)
    with TemporaryDirectory() as place:
        whole = Path(place, "whole")
        driver = Driver(Settings(state=whole), Time())
        lived_in(driver)
        for number in range(count):  # beside an open database, whose log is not yet in it
            yield Attempt(f"{seed}/{number}", partial(begun, whole, Path(place, "damaged"), chance))
        _close(driver)


def _damage(directory: Path, chance: Random) -> str:
    """Damages one of the files; returns what was done."""
    file = chance.choice([it for it in sorted(directory.rglob("*")) if it.is_file()])
    content, at = file.read_bytes(), chance.randrange(max(file.stat().st_size, 1))
    match chance.randrange(6):
        case 0:
            file.unlink()
        case 1:
            file.write_bytes(content[:at])
        case 2:
            file.write_bytes(chance.choice(JUNK))
        case 3:
            file.unlink()
            file.mkdir()
        case 4:
            file.unlink()
            file.symlink_to(chance.choice(("/dev/zero", "/dev/null", "gone", file.name)))
        case _:
            file.write_bytes(
                content[:at] + chance.choice(JUNK) + content[at + chance.randrange(99) :]
            )
    return file.name


def begun(whole: Path, directory: Path, chance: Random) -> Iterator[str]:
    """Begins a mock with a damaged directory, and yields what fails."""
    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(whole, directory)
    name = _damage(directory, chance)
    try:
        driver = Driver(Settings(state=directory), Time())
    except StartupError as error:
        if str(directory) not in str(error):
            yield f"{name}: the refusal does not name the directory: {error}"
        return
    yield from (f"{name}: {problem}" for problem in left_behind(driver))
    _close(driver)


def _close(driver: Driver) -> None:
    assert isinstance(driver.mock.worlds.store, SqliteStore)
    driver.mock.worlds.store.close()
    driver.close()


FILES = FileList(attempts, count=200, seconds=5.0, megabytes=150)

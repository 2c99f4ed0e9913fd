"""Shows fixtures, and writes a directory with more people."""

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import orjson

from understudy.errors import StartupError
from understudy.mock.fixtures import loading
from understudy.mock.fixtures.listing import listing
from understudy.mock.server.clock import Clock
from understudy.mock.server.worlds import World
from understudy.mock.store.people import Person
from understudy.mock.store.tokens import TOKENS
from understudy.openapi.bundled import fixtures_directory


def show(directory: Path, *, is_json: bool) -> None:
    """Prints the people, tokens and applications of a fixtures directory.

    Raises:
        StartupError: A fixture is not as it must be.
    """
    world = World("fixtures", loading.load(directory))
    listed = listing(world, Clock().now())
    if is_json:
        click.echo(orjson.dumps(listed, option=orjson.OPT_INDENT_2))
        return
    # The table's library takes 60 ms to import, which JSON need not wait for.
    from understudy.cli.fixture_tables import print_tables

    print_tables(listed, {name: token.about for name, token in world.items(TOKENS)})


def made(count: int | None, seed: int, *, is_nasty: bool) -> dict[str, Iterator[Person]]:
    """Returns new people by the name of the file that they go to.

    Args:
        count: Number of invented people; None for none.
        seed: Seed for invented people.
        is_nasty: Whether to make people whose every field is an edge case too.
    """
    people: dict[str, Iterator[Person]] = {}
    if count is not None:
        # Faker takes 0.2 s to import, which a listing need not wait for.
        from understudy.mock.fixtures import invented_people

        people[f"invented-{seed}"] = invented_people.people(count, seed)
    if is_nasty:
        from understudy.generate.texts import all_texts
        from understudy.mock.fixtures import nasty

        people["nasty"] = nasty.people(all_texts())
    return people


def write(base: Path, out: Path, made: dict[str, Iterator[Person]]) -> None:
    """Writes a fixtures directory: a copy of another one, and new people.

    Raises:
        StartupError: The directory cannot be written, or the base cannot be used.
    """
    _expect_new(base, out)
    loading.load(base)
    count = 0
    try:
        # Invented people have the bundled pictures; the base's own win where names are the same.
        shutil.copytree(fixtures_directory() / "images", out / "images")
        shutil.copytree(base, out, dirs_exist_ok=True)
        for name, people in made.items():
            with (out / "people" / f"{name}.jsonl").open("wb") as file:
                for person in people:
                    file.write(msgspec.json.encode(person) + b"\n")
                    count += 1
    except OSError as error:
        msg = f"{out} cannot be written: {error.strerror or error}."
        raise StartupError(msg) from error
    click.echo(f"{count:,} people were invented into {out}, beside those of {base}.")
    click.echo(f"Next: understudy serve --fixtures {shlex.quote(str(out))}")


def _expect_new(base: Path, out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        msg = f"{out} already exists; give --out a new directory, or an empty one."
        raise StartupError(msg)
    if base.resolve() in out.resolve().parents:
        msg = f"{out} is inside {base}, which is copied; give --out a directory elsewhere."
        raise StartupError(msg)

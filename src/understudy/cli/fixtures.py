"""``understudy fixtures``: shows who there is, and makes more."""

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
import orjson

from understudy.errors import StartupError
from understudy.mock.engine.clock import Clock
from understudy.mock.engine.worlds import World
from understudy.mock.fixtures import loading as seeding
from understudy.mock.fixtures.listing import listing
from understudy.mock.store.people import Person
from understudy.mock.store.tokens import TOKENS
from understudy.openapi.bundled import fixtures_directory


@click.command(context_settings={"show_default": True})
@click.option(
    "--list", "is_list", is_flag=True, help="Show people, tokens and applications, as is usual."
)
@click.option("--json", "is_json", is_flag=True, help="The same as JSON.")
@click.option(
    "--fixtures",
    "directory",
    type=click.Path(path_type=Path),
    envvar="UNDERSTUDY_FIXTURES",
    show_envvar=True,
    help="Directory to show, or to build on, instead of the bundled one.",
)
@click.option(
    "--people", "count", type=click.IntRange(1), help="Invent so many more people; needs --out."
)
@click.option(
    "--nasty", is_flag=True, help="Make people whose every field is an edge case; needs --out."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, help="The same seed invents the same people."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Directory to write: all that --fixtures has, and the invented people.",
)
def fixtures(**options: Any) -> None:
    """Show the people, tokens and applications of the mock, or make more people."""
    directory = options["directory"] or fixtures_directory()
    count, out = options["count"], options["out"]
    if (count is None and not options["nasty"]) != (out is None):
        msg = "--people and --out go together: so many people, into that directory; or --nasty."
        raise click.UsageError(msg)
    if out is None:
        _show(directory, is_json=options["is_json"])
    elif options["is_list"] or options["is_json"]:
        msg = "--list and --json show what there is, --out makes more; ask for one of them."
        raise click.UsageError(msg)
    else:
        _write(directory, out, _made(count, options["seed"], is_nasty=options["nasty"]))


def _show(directory: Path, *, is_json: bool) -> None:
    world = World("fixtures", seeding.load(directory))
    said = listing(world, Clock().now())
    if is_json:
        click.echo(orjson.dumps(said, option=orjson.OPT_INDENT_2))
        return
    # The table's library takes 60 ms to import, which JSON need not wait for.
    from understudy.cli.fixture_tables import print_tables

    print_tables(said, {name: token.about for name, token in world.items(TOKENS)})


def _made(count: int | None, seed: int, *, is_nasty: bool) -> dict[str, Iterator[Person]]:
    """Returns the people to make, by the name of the file that they go to."""
    made: dict[str, Iterator[Person]] = {}
    if count is not None:
        # Faker takes 0.2 s to import, which a listing need not wait for.
        from understudy.mock.fixtures.invented_people import people

        made[f"invented-{seed}"] = people(count, seed)
    if is_nasty:
        from understudy.generate.texts import all_texts
        from understudy.mock.fixtures import nasty

        made["nasty"] = nasty.people(all_texts())
    return made


def _write(base: Path, out: Path, made: dict[str, Iterator[Person]]) -> None:
    _check_target(base, out)
    seeding.load(base)
    count = 0
    try:
        # Invented people wear the bundled pictures; the base's own win where names are the same.
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


def _check_target(base: Path, out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        msg = f"{out} is there already; give --out a new directory, or an empty one."
        raise StartupError(msg)
    if base.resolve() in out.resolve().parents:
        msg = f"{out} lies inside {base}, which is copied; give --out a directory elsewhere."
        raise StartupError(msg)

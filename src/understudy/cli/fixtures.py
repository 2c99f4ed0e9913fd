"""Runs ``understudy fixtures``: shows fixtures in tables, or writes a directory with more people.

Texts of fixtures are passed as ``Text``, so that rich does not parse a name such as ``[bold]``.
"""

import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec
import orjson
from rich import box
from rich.table import Table
from rich.text import Text

from understudy.cli.mock_commands import FixturesOptions
from understudy.errors import StartupError
from understudy.mock.fixtures import loading
from understudy.mock.fixtures.listing import listing
from understudy.mock.server.clock import Clock
from understudy.mock.server.worlds import World
from understudy.mock.store.people import Person
from understudy.mock.store.tokens import TOKENS
from understudy.openapi.bundled import fixtures_directory
from understudy.reports.console import Terminal
from understudy.terminal import echo


def fixtures(options: FixturesOptions, _environment: Mapping[str, str]) -> None:
    """Shows fixtures, or makes more.

    Raises:
        UsageError: Two options contradict one another.
        StartupError: A fixture is invalid, or the directory cannot be written.
    """
    directory, out = options.directory or fixtures_directory(), options.out
    is_making = options.count is not None or options.is_nasty
    if is_making and out is None:
        msg = (
            f"{'--nasty' if options.is_nasty else '--people'} needs a new directory; add --out DIR."
        )
        raise click.UsageError(msg)
    if out is None:
        show(directory, is_json=options.is_json)
        return
    if not is_making:
        msg = "--out needs --people N or --nasty, which say what to make."
        raise click.UsageError(msg)
    if options.is_list or options.is_json:
        msg = "--list and --json show fixtures, --out makes more; use one of them."
        raise click.UsageError(msg)
    write(directory, out, made(options.count, options.seed, is_nasty=options.is_nasty))


def show(directory: Path, *, is_json: bool) -> None:
    """Prints the people, tokens and applications of a fixtures directory.

    Raises:
        StartupError: A fixture is invalid.
    """
    world = World("fixtures", loading.load(directory))
    listed = listing(world, Clock().now())
    if is_json:
        echo(orjson.dumps(listed, option=orjson.OPT_INDENT_2))
        return
    print_tables(listed, {name: token.about for name, token in world.items(TOKENS)})


def made(count: int | None, seed: int, *, is_nasty: bool) -> dict[str, Iterator[Person]]:
    """Returns new people, by the name of the file to write them to.

    Args:
        count: Number of invented people; None for none.
        seed: Seed for invented people.
        is_nasty: True to add people whose every field is an edge case.
    """
    people: dict[str, Iterator[Person]] = {}
    if count is not None:
        # Faker takes 0.2 s to import, which a listing need not wait for.
        from understudy.mock.fixtures import invented_people

        people[f"invented-{seed}"] = invented_people.people(count, seed)
    if is_nasty:
        from understudy.cases.texts import all_texts
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
        # invented people need the bundled pictures; the base's pictures replace those of equal names
        shutil.copytree(fixtures_directory() / "images", out / "images")
        shutil.copytree(base, out, dirs_exist_ok=True)
        for name, people in made.items():
            with (out / "people" / f"{name}.jsonl").open("wb") as file:
                for person in people:
                    file.write(msgspec.json.encode(person) + b"\n")
                    count += 1
    except OSError as error:
        msg = f"--out {out} cannot be written ({error.strerror or error}); name a directory that can be."
        raise StartupError(msg) from error
    invented = "1 person was" if count == 1 else f"{count:,} people were"
    click.echo(f"{invented} invented into {out}, beside those of {base}.")
    click.echo(f"Next: understudy serve --fixtures {shlex.quote(str(out))}")


def _expect_new(base: Path, out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        msg = f"{out} already exists; give --out a new directory, or an empty one."
        raise StartupError(msg)
    if base.resolve() in out.resolve().parents:
        msg = f"{out} is inside {base}, which is copied; give --out a directory elsewhere."
        raise StartupError(msg)


SHOWN = 200
"""Most people in the table; ``--json`` lists all of them."""


def print_tables(listed: Mapping[str, list[dict[str, Any]]], reasons: Mapping[str, str]) -> None:
    """Prints people, tokens and applications to standard output.

    Args:
        listed: The listing that ``--json`` prints.
        reasons: Purposes of tokens, by token, which the listing lacks.
    """
    console = Terminal()
    people = listed["people"]
    console.print(_people(people[:SHOWN]))
    if len(people) > SHOWN:
        console.print(f"  and {len(people) - SHOWN:,} more; --json shows them all\n")
    console.print(_tokens(listed["tokens"], reasons))
    console.print(_applications(listed["applications"]))


def _people(people: Iterable[dict[str, Any]]) -> Table:
    table = _table("People", "password: <slug>-password; --json tells all")
    table.add_column("slug, display name", no_wrap=True, overflow="ellipsis", max_width=22)
    table.add_column("e-mails", no_wrap=True, overflow="ellipsis", max_width=27)
    table.add_column("about", ratio=1)
    for person in people:
        name = Text(f"{person['slug']}\n", "bold").append(person["display_name"], "not bold dim")
        emails = "\n".join(email["email"] for email in person["emails"])
        table.add_row(name, Text(emails), Text(person["about"]))
    return table


def _tokens(tokens: Iterable[dict[str, Any]], reasons: Mapping[str, str]) -> Table:
    table = _table("Tokens", "send one as Authorization: Bearer …")
    for heading in ("token", "person", "kind", "state"):
        table.add_column(heading, overflow="fold")
    table.add_column("scopes, about", ratio=1)
    for token in tokens:
        scopes = [" ".join(token["scopes"])] if token["scopes"] else []
        table.add_row(
            Text(token["token"], "bold"),
            token["person"],
            token["kind"],
            Text(token["state"], "red" if token["state"] == "expired" else ""),
            Text("\n".join([*scopes, reasons[token["token"]]])),
        )
    return table


def _applications(applications: Iterable[dict[str, Any]]) -> Table:
    table = _table("Applications", "for signing in at the authorization server")
    table.add_column("client_id, client_secret")
    table.add_column("owner")
    table.add_column("redirect_uris", overflow="fold", ratio=1)
    for application in applications:
        client = Text(f"{application['client_id']}\n", "bold")
        table.add_row(
            client.append(application["client_secret"], "not bold dim"),
            application["owner"],
            Text("\n".join(application["redirect_uris"])),
        )
    return table


def _table(title: str, hint: str) -> Table:
    return Table(
        title=Text(f"{title}  ", "bold").append(hint, "not bold dim"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        expand=True,
    )

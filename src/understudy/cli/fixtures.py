"""``understudy fixtures``: shows who there is, and makes more."""

import shutil
from pathlib import Path
from typing import Any

import click
import msgspec
import orjson

from understudy.document.bundled import fixtures_directory
from understudy.engine.clock import Clock
from understudy.engine.worlds import World
from understudy.errors import StartupError
from understudy.records import seeding
from understudy.records.listing import listing

SHOWN = 200
"""People in the table; ``--json`` has them all."""


@click.command(context_settings={"show_default": True})
@click.option("--list", "is_list", is_flag=True, help="Show people, tokens and applications.")
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
@click.option("--seed", default=0, help="The same seed invents the same people.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Directory to write: all that --fixtures has, and the invented people.",
)
def fixtures(**options: Any) -> None:
    """Show the people, tokens and applications of the mock, or make more people."""
    directory = options["directory"] or fixtures_directory()
    count, out = options["count"], options["out"]
    if (count is None) != (out is None):
        msg = "--people and --out go together: so many people, into that directory."
        raise click.UsageError(msg)
    if out is not None:
        _write(directory, out, count, options["seed"])
        return
    clock = Clock()
    said = listing(World("fixtures", seeding.load(directory)), clock.now())
    if options["is_json"]:
        click.echo(orjson.dumps(said, option=orjson.OPT_INDENT_2))
    else:
        _show(said)


def _write(base: Path, out: Path, count: int, seed: int) -> None:
    from understudy.records.inventing import people

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        msg = f"{out} is there already; give --out a new directory, or an empty one."
        raise StartupError(msg)
    seeding.load(base)
    try:
        shutil.copytree(base, out, dirs_exist_ok=True)
        with (out / "people" / f"invented-{seed}.jsonl").open("wb") as file:
            for person in people(count, seed):
                file.write(msgspec.json.encode(person) + b"\n")
    except OSError as error:
        msg = f"{out} cannot be written: {error.strerror}."
        raise StartupError(msg) from error
    click.echo(f"{count:,} people were invented into {out}, beside those of {base}.")
    click.echo(f"Next: understudy serve --fixtures {out}")


def _show(said: dict[str, Any]) -> None:
    from rich.console import Console

    console = Console()
    people = said["people"]
    console.print(_people_table(people[:SHOWN]))
    if len(people) > SHOWN:
        console.print(f"and {len(people) - SHOWN:,} more; --json shows them all\n")
    console.print(_tokens_table(said["tokens"]))
    console.print(_applications_table(said["applications"]))


def _people_table(people: list[dict[str, Any]]) -> Any:
    table = _table("People", "passwords: <slug>-password; --json tells all")
    table.add_column("slug", style="bold", no_wrap=True)
    table.add_column("e-mail", overflow="ellipsis", no_wrap=True, max_width=26)
    table.add_column("about", ratio=1)
    for person in people:
        first, *others = (email["email"] for email in person["emails"])
        emails = f"{first} +{len(others)}" if others else first
        table.add_row(person["slug"], emails, person["about"])
    return table


def _tokens_table(tokens: list[dict[str, Any]]) -> Any:
    table = _table("Tokens", "send one as Authorization: Bearer …")
    for name in ("token", "person", "kind", "scopes", "state"):
        table.add_column(name, style="bold" if name == "token" else "")
    for token in tokens:
        scopes = " ".join(token["scopes"]) or "-"
        row = (token["token"], token["person"], token["kind"], scopes)
        state = token["state"] if token["state"] == "valid" else f"[red]{token['state']}[/]"
        table.add_row(*row, state)
    return table


def _applications_table(applications: list[dict[str, Any]]) -> Any:
    table = _table("Applications", "for signing in at the authorization server")
    for name in ("client_id", "client_secret", "owner", "redirect_uris"):
        table.add_column(name, style="bold" if name == "client_id" else "", overflow="fold")
    for application in applications:
        redirects = "\n".join(application["redirect_uris"])
        row = (application["client_id"], application["client_secret"], application["owner"])
        table.add_row(*row, redirects)
    return table


def _table(title: str, told: str) -> Any:
    from rich import box
    from rich.table import Table

    return Table(
        title=f"[bold]{title}[/]  [dim]{told}[/]",
        title_justify="left",
        title_style="",
        box=box.SIMPLE_HEAD,
        expand=True,
    )

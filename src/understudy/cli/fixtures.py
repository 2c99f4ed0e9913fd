"""``understudy fixtures``: shows the fixtures, and makes more people."""

from pathlib import Path
from typing import Any

import click


@click.command(context_settings={"show_default": True})
@click.option(
    "--list", "is_list", is_flag=True, help="Show people, tokens and applications (the default)."
)
@click.option("--json", "is_json", is_flag=True, help="Show them as JSON.")
@click.option(
    "--fixtures",
    "directory",
    type=click.Path(path_type=Path),
    envvar="UNDERSTUDY_FIXTURES",
    show_envvar=True,
    help="Fixtures directory to show or to extend, instead of the bundled one.",
)
@click.option(
    "--people", "count", type=click.IntRange(1), help="Invent this many people; needs --out."
)
@click.option(
    "--nasty", is_flag=True, help="Make people whose every field is an edge case; needs --out."
)
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed for invented people.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Directory to write: the fixtures, and the new people.",
)
def fixtures(**options: Any) -> None:
    """Show the people and tokens of the mock, or make more people."""
    # The mock's records take 0.1 s to import, which other commands need not wait for.
    from understudy.cli import fixture_making
    from understudy.openapi.bundled import fixtures_directory

    directory, out = options["directory"] or fixtures_directory(), options["out"]
    count, is_nasty = options["count"], options["nasty"]
    is_making = count is not None or is_nasty
    if is_making and out is None:
        msg = f"{'--nasty' if is_nasty else '--people'} needs a new directory; add --out DIR."
        raise click.UsageError(msg)
    if out is not None and not is_making:
        msg = "--out needs --people N or --nasty, which say what to make."
        raise click.UsageError(msg)
    if out is None:
        fixture_making.show(directory, is_json=options["is_json"])
    elif options["is_list"] or options["is_json"]:
        msg = "--list and --json show fixtures, --out makes more; use one of them."
        raise click.UsageError(msg)
    else:
        made = fixture_making.made(count, options["seed"], is_nasty=is_nasty)
        fixture_making.write(directory, out, made)

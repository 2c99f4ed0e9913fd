"""``understudy cleanup``: undoes what a killed run of verify left changed."""

import os
from pathlib import Path

import click


@click.command()
@click.argument("journal", type=click.Path(path_type=Path))
@click.option(
    "--target",
    type=click.Path(path_type=Path),
    help="Target file of the run.  [default: the file beside JOURNAL that ends in .toml]",
)
def cleanup(journal: Path, target: Path | None) -> None:
    """Undo what a killed run of verify left changed.

    JOURNAL is the file that the run kept; everything is read back afterwards, to prove it.
    """
    # httpx and the judge take a second to import, which other commands need not wait for.
    from understudy.api.restoring import restore
    from understudy.cli.interrupts import ended_by_sigterm

    with ended_by_sigterm():
        left = restore(journal, target or journal.with_suffix(".toml"), os.environ)
    for line in left:
        click.echo(f"not undone: {line}", err=True)
    if left:
        raise SystemExit(1)
    click.echo("All changes of the run were undone.")

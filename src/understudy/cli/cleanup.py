"""``understudy cleanup``: puts back what a killed run of verify left changed."""

import os
from pathlib import Path

import click


@click.command()
@click.argument("journal", type=click.Path(path_type=Path))
@click.option(
    "--target",
    type=click.Path(path_type=Path),
    help="The run's target file, for its credentials; left out, the one beside the journal.",
)
def cleanup(journal: Path, target: Path | None) -> None:
    """Put back what a killed run of verify left changed, by its JOURNAL, and prove it."""
    # httpx and the contract take a second to import, which other commands need not wait for.
    from understudy.api.restoring import restore
    from understudy.cli.interrupts import ended_by_sigterm

    with ended_by_sigterm():
        left = restore(journal, target or journal.with_suffix(".toml"), os.environ)
    for line in left:
        click.echo(f"not put back: {line}", err=True)
    if left:
        raise SystemExit(1)
    click.echo("everything stands as it stood before the run")

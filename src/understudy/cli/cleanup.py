"""``understudy cleanup``: puts back what a killed run of verify left changed."""

import os
from pathlib import Path

import click

from understudy.errors import StartupError


@click.command()
@click.argument("journal", type=click.Path(path_type=Path))
@click.option(
    "--target",
    type=click.Path(path_type=Path),
    help="The run's target file, for its credentials; left out, the one beside the journal.",
)
def cleanup(journal: Path, target: Path | None) -> None:
    """Put back what a killed run of verify left changed, by its JOURNAL, and prove it."""
    import httpx

    from understudy.cli.mock_clock import MockClock
    from understudy.cli.verifying import machine
    from understudy.contract.gateway import Gateway
    from understudy.contract.ledger import Ledger
    from understudy.contract.runs import routes_of
    from understudy.contract.shapes import bundled
    from understudy.contract.target import load_target
    from understudy.contract.undo import Undo, read_journal
    from understudy.engine.clock import machine_time

    state = read_journal(journal)
    where = target or journal.with_suffix(".toml")
    found = load_target(where, os.environ)
    if found.base_url != state.base_url:
        msg = f"{journal} is of {state.base_url}, and {where} of {found.base_url}; give the right one."
        raise StartupError(msg)
    time = machine()
    if state.clock is not None:
        time = MockClock(found, machine_time, state.clock).time
    ledger = Ledger(where.with_suffix(".ledger"), time.now())
    routes = routes_of(found, bundled("service.yaml"))
    with httpx.HTTPTransport() as wire:
        gateway = Gateway(found, routes, wire, time, ledger)
        gateway.made.update(image for made in state.uploads.values() for image in made)
        left = Undo(gateway, journal, state).restore()
    for line in left:
        click.echo(f"not put back: {line}", err=True)
    if left:
        raise SystemExit(1)
    click.echo("everything stands as it stood before the run")

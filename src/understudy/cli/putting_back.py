"""Puts back what a killed run of verify left changed, by the journal that it kept."""

from collections.abc import Mapping
from pathlib import Path

from understudy.cli.interrupts import ended_by_sigterm
from understudy.cli.verifying import machine
from understudy.deployments.ledger import Ledger
from understudy.deployments.mock_clock import MockClock
from understudy.deployments.target_files import load_target
from understudy.deployments.transport import DeploymentTransport
from understudy.errors import StartupError
from understudy.mock.engine.clock import machine_time
from understudy.verify.gateway import Gateway
from understudy.verify.run import routes_of
from understudy.verify.shapes import bundled
from understudy.verify.undo import Undo, read_journal


def put_back(journal: Path, where: Path, environment: Mapping[str, str]) -> list[str]:
    """Puts everything back.

    Args:
        journal: What the run left.
        where: Its target file.
        environment: Where ``env:NAME`` is looked up.

    Returns:
        What could not be put back, one line each.

    Raises:
        StartupError: A file cannot be read, or the two are not of one deployment.
    """
    state = read_journal(journal)
    target = load_target(where, environment)
    if target.base_url != state.base_url:
        msg = f"{journal} is of {state.base_url}, and {where} of {target.base_url}; give the right one."
        raise StartupError(msg)
    time = machine()
    if state.clock is not None:
        time = MockClock(target, machine_time, state.clock).time
    routes = routes_of(target, bundled("service.yaml"))
    ledger = Ledger(where.with_suffix(".ledger"), time.now())
    with ended_by_sigterm(), DeploymentTransport() as wire:
        gateway = Gateway(target, routes, wire, time, ledger)
        gateway.made.update(image for made in state.uploads.values() for image in made)
        return Undo(gateway, journal, state).restore()

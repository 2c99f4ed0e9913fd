"""The wire of ``understudy generate --send``: that of verify, with its permissions and its undoing."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import click
import httpx
from msgspec.structs import replace

from understudy.cli import in_process
from understudy.cli.verifying import POLITE, machine
from understudy.deployments.clock import Time
from understudy.deployments.target import Target, is_loopback
from understudy.deployments.target_files import load_target
from understudy.deployments.transport import DeploymentTransport
from understudy.generate.sending import Firing, subjects_of
from understudy.mock.engine.clock import machine_time
from understudy.openapi.loader import load
from understudy.verify.gateway import Allowance
from understudy.verify.run import Plan, start


@contextmanager
def fired(options: Mapping[str, Any]) -> Iterator[tuple[Firing, Target]]:
    """Opens the wire, and puts everything back at its end.

    Raises:
        StartupError: The target or the document is not as it must be.
    """
    path: Path | None = options["target"]
    transport: httpx.BaseTransport
    if path is None:
        mock = in_process.mock(options["seed"])
        target, transport = in_process.TARGET, in_process.InProcess(mock)
        time, allowance = in_process.time_of(mock), Allowance(pause=timedelta(hours=2))
    else:
        target, transport = load_target(path, os.environ), DeploymentTransport()
        time, interval = machine(), timedelta(0)
        given = {name: options[name] for name in ("base_url", "auth_url") if options[name]}
        target = replace(target, **given)
        interval = timedelta(0) if is_loopback(target.base_url) else POLITE
        allowance = Allowance(interval=interval)
    yield from _run(options, target, (transport, time, allowance), path)


def _run(
    options: Mapping[str, Any],
    target: Target,
    wire: tuple[httpx.BaseTransport, Time, Allowance],
    path: Path | None,
) -> Iterator[tuple[Firing, Target]]:
    transport, time, allowance = wire
    plan = Plan(
        target=target,
        transport=transport,
        time=time,
        machine_time=machine_time,
        document=load(options["document"]) if options["document"] else None,
        allowance=allowance,
        journal=path and path.with_suffix(".journal"),
        ledger=path and path.with_suffix(".ledger"),
    )
    run = start(plan)
    try:
        yield Firing(run, subjects_of(target)), target
    finally:
        for line in run.undo.restore():
            click.echo(f"not put back: {line}", err=True)
        transport.close()

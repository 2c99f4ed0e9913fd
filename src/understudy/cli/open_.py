"""``understudy open``: opens a capsule in a running mock, or starts one for it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from understudy.cli.command_options import MOCK_URL, RunningMock
from understudy.cli.options import PORT, takes


@click.command("open")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@takes(RunningMock)
@click.option(
    "--port",
    type=PORT,
    default=8080,
    show_default=True,
    help="Port of a mock that is started; 0 for a free one, and a mock of its own.",
)
@click.option(
    "--auth-port",
    type=PORT,
    default=8081,
    show_default=True,
    help="Port of its authorization server; 0 for a free one.",
)
@click.option(
    "--fixtures",
    type=click.Path(path_type=Path),
    help="Directory of the people that the capsule was made with, for a mock that is started.",
)
@click.option(
    "--document",
    type=click.Path(path_type=Path),
    help="OpenAPI document that the capsule was made with, for a mock that is started.",
)
@click.option(
    "--ready-file",
    type=click.Path(path_type=Path),
    help="File to write one line of JSON with the addresses to, once a started mock is ready.",
)
@click.pass_context
def open_(context: click.Context, running: RunningMock, /, file: Path, **started: Any) -> None:
    """Open a capsule in a running mock, or in a new one.

    Without --mock, a mock that responds at --port is used; where none does, one is started, and runs
    until Ctrl-C. It must have the fixtures and the document that the capsule was made with. The
    clock is frozen at the moment of the capsule, so that the same requests get the same responses.
    """
    from understudy.cli.opening import is_running, open_in_new, open_in_running, read_capsule

    capsule = read_capsule(file)
    default = click.core.ParameterSource.DEFAULT
    if context.get_parameter_source("url") is default:
        url = f"{MOCK_URL.rpartition(':')[0]}:{started['port']}"
        if not started["port"] or not is_running(url):
            open_in_new(capsule, running.world, started)
            return
        running = replace(running, url=url)
    for line in open_in_running(capsule, running):
        click.echo(line)

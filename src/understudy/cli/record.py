"""``understudy record``: stands between an app and a deployment, and judges what passes."""

import os
from pathlib import Path
from typing import Any

import click

from understudy.cli.deployment_options import url_options
from understudy.cli.option_types import PORT, rule_ids


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY_RECORD", "show_default": True})
@click.option(
    "--target",
    type=click.Path(path_type=Path),
    help="Target file of the deployment, as verify takes it.",
)
@url_options
@click.option(
    "--port", type=PORT, default=8080, help="Port for the resource API; 0 for a free one."
)
@click.option(
    "--auth-port",
    type=PORT,
    default=8081,
    help="Port for the authorization server; 0 for a free one.",
)
@click.option(
    "--single-port", is_flag=True, help="Serve both addresses at --port, and open no second port."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="New directory to write fixtures, traffic and facts to, without anything personal.",
)
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="File of the project's key for pseudonyms.  [default: beside the target file]",
)
@click.option(
    "--mock",
    "mocked",
    callback=rule_ids,
    metavar="OPERATION,…",
    help="Let the mock respond to these operations, by their ids, with the deployment's people.",
)
@click.option(
    "--fallback",
    "is_fallback",
    is_flag=True,
    help="Let the mock respond where the deployment does not.",
)
@click.option(
    "--block", "is_blocking", is_flag=True, help="Respond 502 with the finding, where there is one."
)
@click.option(
    "--ready-file",
    type=click.Path(path_type=Path),
    help="File to write one line of JSON with the addresses to, once the proxy is ready.",
)
@click.option("--quiet", is_flag=True, help="Print findings at the end only.")
def record(**options: Any) -> None:
    """Judge and record the traffic between an app and a deployment.

    Point the app at the proxy instead of the deployment. Every exchange is judged by the document
    and every rule, as by `verify --har`; a finding is one line. Ctrl-C ends it.
    """
    # The judge takes a second to import, which other commands need not wait for.
    from understudy.cli.recording import recorded, typed

    click.get_current_context().exit(recorded(typed(options), os.environ))

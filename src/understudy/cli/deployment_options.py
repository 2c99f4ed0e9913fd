"""The options of commands that send requests to a deployment."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from understudy.cli.option_types import URL

Command = TypeVar("Command", bound=Callable[..., Any])

_URLS = (
    click.option(
        "--base-url", type=URL, help="Base URL of the resource API, instead of the file's."
    ),
    click.option(
        "--auth-url", type=URL, help="Base URL of the authorization server, instead of the file's."
    ),
)

_MODE = (
    click.option(
        "--mode",
        type=click.Choice(["observe", "own", "full"]),
        help="What may be changed: nothing, the named account, or anything.",
    ),
)

_LIMITS = (
    click.option(
        "--max-requests",
        type=click.IntRange(1),
        help="Send at most this many requests in a run.",
    ),
    click.option(
        "--max-time",
        type=click.FloatRange(0, min_open=True),
        help="Stop a run after this many seconds.",
    ),
)


def url_options(command: Command) -> Command:
    """Adds the options that replace the addresses of the target file to a command."""
    for option in reversed(_URLS):
        command = option(command)
    return command


def address_options(command: Command) -> Command:
    """Adds the options that replace keys of the target file to a command."""
    for option in reversed((*_URLS, *_MODE)):
        command = option(command)
    return command


def limit_options(command: Command) -> Command:
    """Adds the options that limit a run to a command."""
    for option in reversed(_LIMITS):
        command = option(command)
    return command


def deployment_options(options: Mapping[str, Any]) -> Any:
    """Returns the ``DeploymentOptions`` of what click parsed; a command need not have them all."""
    # The deployment takes 0.1 s to import, which `--help` need not wait for.
    from datetime import timedelta

    from understudy.api.options import DeploymentOptions

    seconds = options["max_time"]
    names = ("base_url", "auth_url", "document", "overlays", "facts", "state_model", "mode", "seed")
    return DeploymentOptions(
        target_file=options["target"],
        max_requests=options["max_requests"],
        max_time=None if seconds is None else timedelta(seconds=seconds),
        **{name: options[name] for name in names if name in options},
    )

"""The options of commands that use a running mock."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

URL = "http://127.0.0.1:8080"
"""The default address of ``understudy serve``."""

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--mock",
        "url",
        default=URL,
        show_default=True,
        envvar="UNDERSTUDY_URL",
        show_envvar=True,
        metavar="URL",
        help="Address of the running mock.",
    ),
    click.option(
        "--world",
        envvar="UNDERSTUDY_WORLD",
        show_envvar=True,
        help="World to use.  [default: the default world]",
    ),
    click.option(
        "--admin-token",
        envvar="UNDERSTUDY_ADMIN_TOKEN",
        show_envvar=True,
        metavar="TOKEN",
        help="Admin token that `understudy serve` printed; needed from another machine.",
    ),
)


def mock_options(command: Command) -> Command:
    """Adds the options that ``client`` takes to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def client(url: str, world: str | None = None, admin_token: str | None = None) -> Any:
    """Returns the ``AdminClient`` for the mock that the options name; the command's end closes it."""
    # httpx takes 0.1 s to import, which `serve` need not wait for.
    from understudy.verify.admin_client import AdminClient

    admin = AdminClient(url, world, admin_token)
    click.get_current_context().call_on_close(admin.close)
    return admin

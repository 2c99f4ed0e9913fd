"""``understudy mcp``: lets an agent use the mock and the contract."""

import os
import secrets  # noqa: TID251 - no fixture, and it must not be guessed
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from understudy.cli.options import FILE, PORT, URL
from understudy.errors import StartupError


@click.command()
@click.option(
    "--mock",
    "url",
    type=URL,
    envvar="UNDERSTUDY_URL",
    show_envvar=True,
    help="Address of a running mock.  [default: start one for this server]",
)
@click.option(
    "--admin-token",
    envvar="UNDERSTUDY_ADMIN_TOKEN",
    show_envvar=True,
    metavar="TOKEN",
    help="Admin token of the mock; with --http, callers from other machines send it too.",
)
@click.option(
    "--document",
    type=FILE,
    help="OpenAPI document that the mock serves instead of the bundled one.",
)
@click.option(
    "--fixtures",
    type=FILE,
    help="Fixtures of the mock that is started, instead of the bundled ones.",
)
@click.option(
    "--target",
    type=FILE,
    help="Target file of a deployment that the agent may compare with the mock, as `understudy drift` does.",
)
@click.option(
    "--facts",
    type=FILE,
    multiple=True,
    help="Facts learnt of that deployment; the agent is told which no longer hold.",
)
@click.option(
    "--http", "is_http", is_flag=True, help="Serve streamable HTTP at /mcp instead of stdio."
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on, with --http."
)
@click.option(
    "--port",
    type=PORT,
    default=8090,
    show_default=True,
    help="Port to listen on, with --http; 0 for a free one.",
)
def mcp(**options: Any) -> None:
    """Let an agent use the mock and the contract (MCP).

    Serves the Model Context Protocol. An agent makes a world, people's tokens and faults, sends requests, asks why they were refused, checks a
    response against the contract and gets edge cases. Each session has a world of its own.
    """
    if options["facts"] and options["target"] is None:
        msg = "--facts says what was learnt of the deployment that --target names; give both."
        raise click.UsageError(msg)
    from understudy.mcp_server.server import assemble, document_of_another
    from understudy.verify.admin_client import AdminClient
    from understudy.verify.target import load_target

    if options["target"] is not None:
        load_target(options["target"], os.environ)  # says a mistake now, and not to the agent later
    with (
        _mock(options) as url,
        closing(AdminClient(url, token=options["admin_token"])) as mock,
        TemporaryDirectory(prefix="understudy-") as place,
    ):
        mock.expect_mock()
        if options["url"] is not None and options["document"] is None:
            options["document"] = document_of_another(mock, Path(place))
        assembled = assemble(mock, *(options[name] for name in ("document", "target", "facts")))
        if options["is_http"]:
            _serve_http(assembled, options)
        else:
            assembled.server.run("stdio")


@contextmanager
def _mock(options: dict[str, Any]) -> Iterator[str]:
    """Yields the URL of the mock: the running one, or a new one in this process."""
    if options["url"] is not None:
        yield options["url"]
        return
    from understudy.mock.settings import Settings
    from understudy.testing.background import Background

    settings = Settings(log="off", document=options["document"], fixtures=options["fixtures"])
    background = Background(settings)
    try:
        yield background.url
    except StartupError as error:
        raise background.failure or error from error
    finally:
        background.stop()


def _serve_http(assembled: Any, options: dict[str, Any]) -> None:
    from understudy.mcp_server import server
    from understudy.mock.server import serving
    from understudy.mock.server.hosts import is_local

    token = options["admin_token"]
    if token is None and not is_local(options["host"]):
        token = secrets.token_urlsafe(24)
        click.echo(f"Callers on other machines send: Authorization: Bearer {token}", err=True)
    listener = serving.bind(options["host"], options["port"], "--port")
    click.echo(f"MCP at {serving.url_of(listener)}{server.PATH}", err=True)
    server.serve(server.application(assembled, token), listener)

"""``understudy serve``: runs the mock."""

import asyncio
import gc
import secrets  # noqa: TID251 - no fixture, and nobody may guess it
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import orjson

from understudy.cli.log_lines import log_lines
from understudy.errors import StartupError
from understudy.interface.rules import choose, load_rules, switches
from understudy.mock.settings import Settings
from understudy.openapi.bundled import openapi_directory

PORT = click.IntRange(0, 65535)


def _choices(_ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> Any:
    """Reads ``--choose``; the rules are only read when something is chosen."""
    if not texts:
        return {}
    return choose(switches(load_rules(openapi_directory() / "rules.yaml")), texts)


@click.command(context_settings={"auto_envvar_prefix": "UNDERSTUDY", "show_default": True})
@click.option("--host", default="127.0.0.1", show_envvar=True, help="Address to listen on.")
@click.option(
    "--port", type=PORT, default=8080, show_envvar=True, help="Of the resource API; 0 picks one."
)
@click.option(
    "--auth-port",
    type=PORT,
    default=8081,
    show_envvar=True,
    help="Of the authorization server; 0 picks one.",
)
@click.option(
    "--single-port",
    is_flag=True,
    show_envvar=True,
    help="Serve the authorization server at --port, for those who can open only one.",
)
@click.option(
    "--document",
    type=click.Path(path_type=Path),
    show_envvar=True,
    help="OpenAPI 3.0 or 3.1 document to put in force instead of the bundled one.",
)
@click.option(
    "--fixtures",
    type=click.Path(path_type=Path),
    show_envvar=True,
    help="Directory of people, tokens and pictures instead of the bundled one.",
)
@click.option(
    "--reload",
    is_flag=True,
    show_envvar=True,
    help="Read documents and fixtures again when they change; the state is kept.",
)
@click.option(
    "--log",
    type=click.Choice(["auto", "text", "json", "off"]),
    default="auto",
    show_envvar=True,
    help="A line a request; auto colours it on a terminal.",
)
@click.option(
    "--choose",
    "choices",
    multiple=True,
    callback=_choices,
    envvar="UNDERSTUDY_CHOOSE",
    show_envvar=True,
    metavar="SWITCH=OPTION",
    help="The other reading of an assumption, such as rate-limits=off; may be given again.",
)
@click.option(
    "--auto-approve",
    metavar="SLUG",
    show_envvar=True,
    help="Who approves every authorization at once, so that tests need no browser.",
)
@click.option("--seed", default=0, show_envvar=True, help="Of identifiers and made-up answers.")
@click.option(
    "--validate-responses",
    "response_validation",
    type=click.Choice(["refuse", "warn", "off"]),
    envvar="UNDERSTUDY_VALIDATE_RESPONSES",
    show_envvar=True,
    help="What becomes of the mock's own answer when it breaks the document."
    "  [default: refuse, or warn with --document]",
)
@click.option(
    "--require-world",
    is_flag=True,
    show_envvar=True,
    help="Refuse requests that name no world, so that no test uses another's by mistake.",
)
@click.option(
    "--journal",
    type=click.IntRange(0),
    default=1000,
    show_envvar=True,
    help="Exchanges that each world remembers.",
)
@click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    show_envvar=True,
    help="Keep the worlds there, so that they outlast the process; in memory if left out.",
)
@click.option(
    "--admin-token",
    metavar="TOKEN",
    show_envvar=True,
    help="Lets callers who are not on this machine into the admin API; made up where --host opens"
    " the mock to them.",
)
@click.option(
    "--ready-file",
    type=click.Path(path_type=Path),
    show_envvar=True,
    help="Gets one line of JSON with the addresses once the mock answers.",
)
def serve(**options: Any) -> None:
    """Run the mock until Ctrl-C."""
    run(Settings(**options))


def run(settings: Settings) -> None:
    """Runs the mock until it is stopped.

    Raises:
        StartupError: There is something to mend first.
    """
    # Connexion alone takes 0.3 s to import, which other commands need not wait for.
    from understudy.cli.banner import banner
    from understudy.mock.app import Mock
    from understudy.mock.engine import server
    from understudy.mock.engine.hosts import is_local
    from understudy.mock.engine.request_context import Addresses

    draft = None if settings.ready_file is None else _draft(settings.ready_file)
    resource = server.bind(settings.host, settings.port, "--port")
    authorization = resource
    if not settings.single_port:
        authorization = server.bind(settings.host, settings.auth_port, "--auth-port")
    site_url, auth_url = server.url_of(resource), server.url_of(authorization)
    record = log_lines(settings.log, click.echo, is_terminal=sys.stdout.isatty())
    if settings.admin_token is None and not is_local(settings.host):
        settings = replace(settings, admin_token=secrets.token_urlsafe(24))
    mock = Mock(settings, record, Addresses(site_url, auth_url))

    addresses = {"base_url": site_url + mock.base_path, "auth_url": auth_url}

    def ready(_stop: Callable[[], None]) -> None:
        _settle_memory()
        click.echo(banner(mock, site_url, auth_url, settings.admin_token))
        if draft is not None and settings.ready_file is not None:
            draft.write_bytes(orjson.dumps(addresses) + b"\n")
            draft.replace(settings.ready_file)  # whole: whoever waits never reads half a line

    serving = server.serve(
        {authorization: mock.authorization, resource: mock.resource},
        ready=ready,
        beside=[_reloading(mock)] if settings.reload else [],
    )
    _run(serving)


def _run(serving: Any) -> None:
    """Runs a coroutine on the fastest event loop there is."""
    if sys.platform == "win32":
        asyncio.run(serving)
    else:
        import uvloop

        uvloop.run(serving)


def _settle_memory() -> None:
    """Spares the garbage collector what will live as long as the process: documents and fixtures.

    Each full collection would walk all of it; with 100,000 people that stops the mock for 0.1 s.
    """
    gc.collect()
    gc.freeze()


def _draft(path: Path) -> Path:
    """Makes the file that becomes the ready file, so that a wrong path is found before the start.

    Raises:
        StartupError: Nothing can be written there.
    """
    draft = path.with_name(f"{path.name}.draft")
    try:
        path.unlink(missing_ok=True)  # one that an earlier run left would be believed
        draft.touch()
    except OSError as error:
        msg = f"--ready-file {path} cannot be written: {error.strerror}. Check the directory."
        raise StartupError(msg) from error
    return draft


def _reloading(mock: Any) -> Callable[[], Awaitable[None]]:
    """Returns a task that reads documents and fixtures again whenever they change."""

    async def watch() -> None:
        from watchfiles import awatch

        document = mock.document.resolve()
        fixtures = mock.fixtures.resolve()

        def concerns(_change: object, path: str) -> bool:
            changed = Path(path)
            return changed == document or fixtures in changed.parents

        async for _ in awatch(document.parent, fixtures, watch_filter=concerns):
            try:
                mock.reload()
            except StartupError as error:
                click.secho(f"not reloaded: {error}", fg="red")
            else:
                click.secho("reloaded documents and fixtures; the state is kept", fg="green")

    return watch

"""Runs the mock: sockets, event loop, request log, reloading, ready file."""

import asyncio
import gc
import os
import secrets  # noqa: TID251 - no fixture, and it must not be guessed
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
from starlette.types import ASGIApp

from understudy.cli.banner import banner
from understudy.cli.certificates import Certificate, certificate
from understudy.cli.log_lines import log_lines
from understudy.cli.losses import print_losses, print_wrong_examples
from understudy.cli.mock_edge_cases import MockEdgeCases
from understudy.cli.ready_files import ready_file
from understudy.cli.workers import WorkerLink, supervise
from understudy.errors import StartupError
from understudy.mock.app import Mock
from understudy.mock.fixtures import loading
from understudy.mock.server import serving
from understudy.mock.server.hosts import is_local
from understudy.mock.server.journaling import RequestListener
from understudy.mock.server.request_context import Addresses
from understudy.mock.settings import Settings
from understudy.openapi.loader import load
from understudy.terminal import echo

WILDCARDS = frozenset({"0.0.0.0", "::"})
"""The addresses that mean every network interface."""


Preparation = Callable[[ASGIApp, str], Sequence[str]]
"""Puts a mock into a state before its resource API serves at an address; returns lines for the user."""


def run(settings: Settings, prepare: Preparation | None = None) -> None:
    """Runs the mock until it is stopped.

    Args:
        settings: Its settings.
        prepare: Called before the mock serves; None: it begins with its fixtures.

    Raises:
        StartupError: A setting, a document or a fixture is not as it must be.
    """
    _expect_files(settings)
    _expect_two_ports(settings)
    waited_for = ready_file(settings.ready_file)
    if settings.admin_token is None and not is_local(settings.host):
        settings = replace(settings, admin_token=secrets.token_urlsafe(24))

    def announce(addresses: Mapping[str, str]) -> None:
        if waited_for is not None:
            waited_for.write(addresses)

    if settings.workers > 1:
        supervise(
            settings, lambda shared, link: _serve(shared, prepare, link.announce, link), announce
        )
    else:
        _serve(settings, prepare, lambda addresses, _stop: announce(addresses), None)


def _serve(
    settings: Settings,
    prepare: Preparation | None,
    announce: Callable[[Mapping[str, str], Callable[[], None]], None],
    link: WorkerLink | None,
) -> None:
    """Runs the mock in this process until it is stopped.

    Args:
        settings: Its settings.
        prepare: Called before the mock serves; None: it begins with its fixtures.
        announce: Called with the addresses, and with what stops the mock, once it serves.
        link: The connection with the supervisor of several workers; None: this is the only process.
    """
    is_shared = link is not None
    resource = serving.bind(settings.host, settings.port, "--port", is_shared=is_shared)
    authorization = resource
    if not settings.single_port:
        authorization = serving.bind(
            settings.host, settings.auth_port, "--auth-port", is_shared=is_shared
        )
    tls = _certificate(settings)
    scheme = "https" if tls else "http"
    site_url, auth_url = serving.url_of(resource, scheme), serving.url_of(authorization, scheme)
    is_coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    record = log_lines(settings.log, click.echo, is_terminal=is_coloured)
    mock = _mock(settings, record, _addresses(settings.host, site_url, auth_url))
    prepared = prepare(mock.resource, site_url) if prepare else ()

    addresses = {"base_url": site_url + mock.base_path, "auth_url": auth_url}
    if tls and tls.authority:
        addresses["certificate_authority"] = str(tls.authority)

    def ready(stop: Callable[[], None]) -> None:
        _settle_memory()
        if link is None or link.is_first:
            # JSON lines are read by a program, which finds nothing else on standard output.
            is_json = settings.log == "json"
            screen = banner(mock, site_url, auth_url, settings.admin_token)
            click.echo("\n".join((screen, *prepared)), err=is_json)
        announce(addresses, stop)

    running = serving.serve(
        {authorization: mock.authorization, resource: mock.resource},
        ready=ready,
        beside=[_reloading(mock)] if settings.reload else [],
        certificate=tls and (tls.chain, tls.key),
    )
    _run(running)


def _expect_two_ports(settings: Settings) -> None:
    """Refuses one port for two servers.

    Raises:
        StartupError: Both ports are the same.
    """
    if settings.port == settings.auth_port != 0 and not settings.single_port:
        msg = (
            f"--port and --auth-port are both {settings.port}; give them two ports, "
            "or add --single-port."
        )
        raise StartupError(msg)


def _mock(settings: Settings, record: RequestListener | None, addresses: Addresses) -> Mock:
    """Builds the mock, and says what it could not take from the document."""
    mock = Mock(settings, record, addresses)
    print_losses(mock.document, mock.losses)
    if mock.listing is not None and mock.listing.endpoints:
        print_wrong_examples(mock.listing.endpoints[0].api.document)
    mock.edge_cases = MockEdgeCases(mock, settings.document)
    return mock


def _certificate(settings: Settings) -> Certificate | None:
    """Returns the certificate for https, for every name that the settings give the mock.

    Raises:
        StartupError: There is none, and none can be made.
    """
    if settings.tls is None:
        return None
    public = (settings.public_url, settings.public_auth_url)
    names = [urlsplit(url).hostname or "" for url in public if url]
    if settings.host not in WILDCARDS:
        names.append(settings.host)
    return certificate(settings.tls, [*names, *settings.admin_hosts])


def _expect_files(settings: Settings) -> None:
    """Refuses a document or fixtures that are not there, before a port in use could be blamed.

    Raises:
        StartupError: One of them is not there.
    """
    if settings.document is not None and not settings.document.is_file():
        load(settings.document)
    if settings.fixtures is not None and not settings.fixtures.is_dir():
        loading.load(settings.fixtures)


def _addresses(host: str, site_url: str, auth_url: str) -> Addresses:
    """Returns the servers' addresses for their links to one another.

    Clients reach a mock that listens on every interface by any of its names, so that links follow
    the name that each of them uses.
    """
    if host not in WILDCARDS:
        return Addresses(site_url, auth_url)
    return Addresses(*(f":{urlsplit(url).port}" for url in (site_url, auth_url)))


def _run(running: Any) -> None:
    """Runs a coroutine on the fastest event loop that the platform has."""
    if sys.platform == "win32":
        asyncio.run(running)
    else:
        import uvloop  # not there on Windows

        uvloop.run(running)


def _settle_memory() -> None:
    """Begins garbage collection, without the documents and fixtures, which live as long as the process.

    Each full collection would walk all of it; with 100,000 people that stops the mock for 0.1 s. The
    garbage of the start stays: a search for this megabyte takes a tenth of the time until the first
    response.
    """
    gc.freeze()
    gc.enable()


def _reloading(mock: Any) -> Callable[[], Awaitable[None]]:
    """Returns a task that reloads documents and fixtures whenever they change."""

    async def watch() -> None:
        from watchfiles import awatch

        fixtures = mock.fixtures.resolve()
        directories = {fixtures, *(path.resolve().parent for path in mock.files)}

        def concerns(_change: object, path: str) -> bool:
            changed = Path(path)
            files = (file.resolve() for file in mock.files)  # a document may refer to more by now
            return changed in files or fixtures in changed.parents

        async for _ in awatch(*directories, watch_filter=concerns):
            try:
                mock.reload()
            except StartupError as error:
                echo(f"Not reloaded: {error}", fg="red", err=True)
            else:
                print_losses(mock.document, mock.losses)
                click.secho(
                    "Reloaded documents and fixtures; the state is kept.", fg="green", err=True
                )

    return watch

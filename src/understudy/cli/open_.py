"""Runs ``understudy open``: opens a capsule in a running mock or in a new one."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click
import httpx
from starlette.types import ASGIApp

from understudy.api.asgi_exchange import exchanged
from understudy.cli.command_options import MOCK_URL, RunningMock
from understudy.cli.mock_commands import OpenOptions
from understudy.cli.options import values_of
from understudy.cli.serve import Preparation, run
from understudy.errors import Problem, StartupError, unreadable
from understudy.mock.admin.capsules import unpack
from understudy.mock.settings import Settings

_ZIP = {"Content-Type": "application/zip"}
_DEFAULT = "default"


class CapsuleFile(NamedTuple):
    """The file of a capsule."""

    content: bytes
    world: str


def open_(options: OpenOptions, _environment: Mapping[str, str]) -> None:
    """Opens a capsule.

    Raises:
        StartupError: The file is not a capsule, a mock cannot be started, or it refuses the capsule.
    """
    capsule, running, started = read_capsule(options.file), options.running, options.started
    default = click.core.ParameterSource.DEFAULT
    if click.get_current_context().get_parameter_source("url") is default:
        url = f"{MOCK_URL.rpartition(':')[0]}:{started.port}"
        if not started.port or not is_running(url):
            world = running.world or capsule.world
            run(Settings(**values_of(started)), prepare=_opening(capsule, world))
            return
        running = replace(running, url=url)
    for line in open_in_running(capsule, running):
        click.echo(line)


def read_capsule(path: Path) -> CapsuleFile:
    """Reads the file of a capsule.

    Raises:
        StartupError: The file cannot be read, or is not a capsule.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StartupError(
            unreadable(path, error, "Save one with GET /__admin/capsule.")
        ) from error
    try:
        return CapsuleFile(content, unpack(content).world)
    except Problem as problem:
        msg = f"{path} is not a capsule. Save one in the console, or with GET /__admin/capsule."
        raise StartupError(msg) from problem


def is_running(url: str) -> bool:
    """Tells whether a server responds at a URL."""
    try:
        with httpx.stream("GET", f"{url}/__admin/health", trust_env=False):
            return True
    except httpx.TransportError:
        return False


def open_in_running(capsule: CapsuleFile, running: RunningMock) -> list[str]:
    """Opens a capsule in a running mock, and returns the lines to print.

    Args:
        capsule: The capsule.
        running: The mock; without a world, the one with the capsule's name is used, and created if
            it does not exist.

    Raises:
        StartupError: No mock responds, or it refuses the capsule.
    """
    world = running.world
    if world is None and capsule.world != _DEFAULT and "/__world/" not in running.url:
        world = capsule.world
        everything = replace(running, world=None).client()
        try:
            everything.call("GET", f"/worlds/{world}")
        except StartupError:
            everything.call("POST", "/worlds", json={"name": world})
    mock = replace(running, world=world).client()
    opened = mock.call("POST", "/capsule", content=capsule.content, headers=_ZIP)
    return lines(opened, mock.url)


def _opening(capsule: CapsuleFile, world: str) -> Preparation:
    """Returns a function that opens a capsule in a world of a mock that has not begun to serve."""

    def prepare(site: ASGIApp, site_url: str) -> list[str]:
        async def call(path: str, **options: Any) -> Any:
            request = httpx.Request("POST", f"{site_url}{path}", **options)
            response = await exchanged(site, request)
            if response.is_error:
                raise StartupError(response.json()["detail"])
            return response.json()

        async def opened() -> list[str]:
            prefix = "" if world == _DEFAULT else f"/__world/{world}"
            if prefix:
                await call("/__admin/worlds", json={"name": world})
            path = f"{prefix}/__admin/capsule"
            about = await call(path, content=capsule.content, headers=_ZIP)
            return lines(about, site_url + prefix)

        return asyncio.run(opened())

    return prepare


def lines(opened: Any, url: str) -> list[str]:
    """Returns the lines to print: the opened world, and commands to look at it."""
    number = opened["request"]
    place = f"before request {number}" if number else f"after request {opened['requests']}"
    where = "" if opened["world"] == _DEFAULT else f" --world {opened['world']}"
    return [
        f"The world {opened['world']} stands {place}; its clock is frozen at {opened['now']}.",
        f"understudy journal{where} lists the requests of the capsule ({opened['requests']})"
        + (f", and understudy explain {number}{where} explains that one." if number else "."),
        f"Console: {url}/__console#/traffic" + (f"/{number}" if number else ""),
    ]

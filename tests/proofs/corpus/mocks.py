"""The mocks that the corpus is sent to: ours in this process, and peers from npm in theirs."""

import asyncio
import contextlib
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import httpx
from starlette.types import ASGIApp, Receive, Scope
from starlette.types import Send as SendMessage
from tests.proofs.corpus.cases import CorpusRequest
from tests.tools.benchmarks.peers import Peer

from understudy.errors import NotFound, StartupError
from understudy.mock.apis import adapted, resource_api
from understudy.mock.app import Mock
from understudy.mock.server.stack import Site, SiteConfig
from understudy.mock.server.world_selection import Worlds
from understudy.mock.server.worlds import World
from understudy.mock.settings import Settings
from understudy.openapi.loader import load

Send = Callable[[Sequence[CorpusRequest]], list[httpx.Response | str]]
"""Sends requests: returns each response, or what happened instead of one."""

_START_SECONDS = 20.0


class NotStartedError(Exception):
    """A mock does not serve a document."""


@contextlib.contextmanager
def ours(path: Path) -> Iterator[Send]:
    """Serves a document by the whole mock, in this process.

    Raises:
        NotStartedError: The mock refuses it.
    """
    with _refusals():
        application = Mock(Settings(document=path)).resource
    yield lambda requests: asyncio.run(_sent(application, requests))


@contextlib.contextmanager
def engine_alone(path: Path) -> Iterator[Send]:
    """Serves a document by the engine, without the mock's own APIs and pages, which take a while.

    Raises:
        NotStartedError: The mock refuses it.
    """
    settings = Settings(document=path)
    with _refusals():
        document = load(path)
        site = SiteConfig(
            apis=(adapted(resource_api(document), document, settings),),
            worlds=Worlds(World("default", {})),
            elsewhere=_nowhere,
            choose=lambda _: {},
            response_validation="warn",
        )
        application = Site(site)
    yield lambda requests: asyncio.run(_sent(application, requests))


async def _nowhere(_scope: Scope, _receive: Receive, _send: SendMessage) -> None:
    msg = "There is no page here."
    raise NotFound(msg)


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except StartupError as error:
        raise NotStartedError(str(error)) from error


async def _sent(
    application: ASGIApp, requests: Sequence[CorpusRequest]
) -> list[httpx.Response | str]:
    transport = httpx.ASGITransport(application, client=("127.0.0.1", 50_000))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        return [await client.send(_built(client, request)) for request in requests]


@contextlib.contextmanager
def theirs(peer: Peer, cache: Path) -> Iterator[Send]:
    """Serves a document by a peer, in a process that ends with the context.

    Raises:
        NotStartedError: It ends by itself, or does not listen in time.
    """
    port = _free_port()
    process = subprocess.Popen(
        peer.command(port, cache), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_until_listening(process, port)

        def send(requests: Sequence[CorpusRequest]) -> list[httpx.Response | str]:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=10) as client:
                return [_response(client, request) for request in requests]

        yield send
    finally:
        process.kill()
        process.wait()


def _response(client: httpx.Client, request: CorpusRequest) -> httpx.Response | str:
    try:
        return client.send(_built(client, request))
    except httpx.HTTPError as error:
        return f"{type(error).__name__}: {error}"


def _built(client: httpx.Client | httpx.AsyncClient, request: CorpusRequest) -> httpx.Request:
    client.cookies.clear()  # a request has those that the corpus gives it
    files = [
        (name, (file or None, content.encode()))  # a part without a file name is a field
        for name, file, content in request.parts
    ]
    return client.build_request(
        request.method,
        request.target,
        headers=dict(request.headers),
        content=request.body,
        files=files or None,
    )


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _wait_until_listening(process: "subprocess.Popen[bytes]", port: int) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            msg = f"ended with {process.returncode}"
            raise NotStartedError(msg)
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)  # noqa: TID251 - waits for another process
    msg = f"did not listen within {_START_SECONDS:g} seconds"
    raise NotStartedError(msg)

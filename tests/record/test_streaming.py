"""Bodies pass as they come: a slow or vanished client stops the deployment's, and memory stays bounded."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
from tests.record.proxied import PROXY, MockedDeployment, Session, proxied

SCOPE: dict[str, Any] = {
    "type": "http",
    "method": "GET",
    "raw_path": b"/avatar/x",
    "query_string": b"",
    "headers": [(b"host", b"127.0.0.1:8080")],
}


class EndlessBody(httpx.AsyncByteStream):
    """A body without an end, which counts what was read of it."""

    def __init__(self) -> None:
        self.parts = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            self.parts += 1
            await asyncio.sleep(0)
            yield b"x" * 65_536


class PausingDeployment(MockedDeployment):
    """A deployment that sends a body in parts, with a pause before each."""

    async def respond(self, _request: httpx.Request) -> httpx.Response:
        async def body() -> AsyncIterator[bytes]:
            for _ in range(3):
                for _ in range(9):
                    await asyncio.sleep(0)
                yield b"part"

        stream = body()
        fields = {"content-type": "image/png", "content-length": "12"}
        return httpx.Response(200, headers=fields, content=stream)


class EndlessDeployment(MockedDeployment):
    """A deployment whose responses do not end."""

    def __init__(self) -> None:
        super().__init__()
        self.body = EndlessBody()

    async def respond(self, _request: httpx.Request) -> httpx.Response:
        fields = {"content-type": "application/octet-stream"}
        return httpx.Response(200, headers=fields, stream=self.body)


async def read_some(session: Session, *, is_gone: bool, read: int) -> None:
    """Requests an endless body, of which some messages are read.

    Args:
        session: The proxy.
        is_gone: Whether the client ends the connection; else it reads no more.
        read: Messages that are read before.
    """
    count, is_enough = 0, asyncio.Event()

    async def receive() -> dict[str, Any]:
        if is_gone:
            await is_enough.wait()
        else:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(_message: object) -> None:
        nonlocal count
        count += 1
        if count == read:
            is_enough.set()
            if not is_gone:
                await asyncio.Event().wait()

    response = asyncio.ensure_future(session.recording.applications[8080](SCOPE, receive, send))
    await is_enough.wait()
    if not is_gone:
        response.cancel()
    await asyncio.wait([response])


def test_a_body_passes_whole_however_late_its_parts_are():
    with proxied(PausingDeployment()) as session:
        response = session.request("GET", f"{PROXY}/avatar/x")
    assert response.content == b"part" * 3
    assert session.recording.judge.counts.judged == 1


def test_a_client_that_reads_no_more_stops_the_reading_of_the_deployment():
    deployment = EndlessDeployment()
    with proxied(deployment) as session:
        session.run(read_some(session, is_gone=False, read=4))
    assert deployment.body.parts <= 4


def test_a_client_that_is_gone_ends_the_reading_of_the_deployment():
    deployment = EndlessDeployment()
    with proxied(deployment) as session:
        session.run(read_some(session, is_gone=True, read=4))
    assert deployment.body.parts < 20
    assert session.recording.judge.counts.judged == 0
    assert session.recording.judge.proxy_failures == {}

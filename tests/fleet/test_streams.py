"""A stream of one replica tells what happens at the other."""

import asyncio
from typing import Any

import httpx
import pytest
from tests.mock.admin.conftest import SITE, Driver

from understudy.mock.app import Mock

Replicas = tuple[Driver, Driver]


async def told(mocks: tuple[Mock, Mock], path: str, wanted: bytes) -> bytes:
    """Returns what a stream of one replica says until it has the wanted text.

    A request is sent to the other replica when the stream has begun.
    """
    said = b""
    is_told = asyncio.Event()
    has_begun = asyncio.Event()

    async def receive() -> dict[str, Any]:
        await is_told.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal said
        said += message.get("body", b"")
        has_begun.set()
        if wanted in said:
            is_told.set()

    scope = {
        "type": "http",
        "method": "GET",
        "path": f"/__admin{path}",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:8080")],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8080),
        "scheme": "http",
    }
    stream = asyncio.ensure_future(mocks[0].resource(scope, receive, send))
    await has_begun.wait()
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(mocks[1].resource), base_url=SITE
    ) as session:
        await session.get("/v3/profiles/ada")
    await asyncio.wait_for(stream, 60)
    for mock in mocks:
        await mock.close()
    return said


@pytest.mark.usefixtures("replicas")
def test_the_requests_of_a_stream_are_those_of_every_replica(mocks: tuple[Mock, Mock]) -> None:
    said = asyncio.run(told(mocks, "/requests/stream", b"/v3/profiles/ada"))
    assert b'"id":1,' in said


@pytest.mark.usefixtures("replicas")
def test_the_events_of_a_world_are_those_of_every_replica(mocks: tuple[Mock, Mock]) -> None:
    said = asyncio.run(told(mocks, "/events", b"event: requests"))
    assert b'"total":1' in said


def test_a_stream_goes_on_at_another_replica(replicas: Replicas) -> None:
    one, other = replicas
    one.get("/v3/profiles/ada")
    other.admin("GET", "/requests")
    assert one.mock.worlds.started == other.mock.worlds.started


def test_a_copy_that_is_brought_up_to_date_has_the_settings_of_the_other_replica(
    replicas: Replicas,
) -> None:
    one, other = replicas
    one.get("/v3/profiles/ada")
    other.admin("PUT", "/limits/ada", {"limit": 3})
    one.refresh()
    assert one.mock.world.limits == {"ada": 3}

"""A connection that sends no end of a header is answered and closed; others are not kept waiting."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.proofs.entrances.comparison import Wire
from uvicorn.server import ServerState

from understudy.limits import HEADER_BYTES, Limit
from understudy.mock.server.direct_connection import DirectConnection
from understudy.mock.server.serving import bind, configuration, serve
from understudy.mock.server.stack import Served

REQUEST = b"GET /v1/notes?size=1 HTTP/1.1\r\nHost: mock.test\r\n"


async def sent(port: int, *chunks: bytes) -> bytes:
    """Returns all that comes back for some bytes, until the mock closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for chunk in chunks:
        writer.write(chunk)
        await writer.drain()
    async with asyncio.timeout(120):
        response = await reader.read()
    writer.close()
    return response


Talk = Callable[[Callable[[int], Coroutine[Any, Any, bytes]]], bytes]


@pytest.fixture
def talk(notes) -> Talk:
    """Serves on a socket, and returns what one conversation brought."""

    def talk(conversation: Callable[[int], Coroutine[Any, Any, bytes]]) -> bytes:
        heard: list[bytes] = []
        with bind("127.0.0.1", 0, "--port") as listener:
            ready = asyncio.Event()
            stops: list[Callable[[], None]] = []

            async def converse() -> None:
                await ready.wait()
                try:
                    heard.append(await conversation(listener.getsockname()[1]))
                finally:
                    stops[0]()

            def started(stop: Callable[[], None]) -> None:
                stops.append(stop)
                ready.set()

            asyncio.run(serve({listener: notes.application}, ready=started, beside=[converse]))
        return heard[0]

    return talk


def test_a_header_without_end_is_431_and_the_connection_is_closed(talk: Talk) -> None:
    endless = b"X-A: " + b"a" * (2 * HEADER_BYTES.most)
    response = talk(lambda port: sent(port, REQUEST, endless))
    assert response.startswith(b"HTTP/1.1 431 ")
    assert b"x-mock-limit: header-bytes" in response


def test_a_header_that_stays_half_is_408(talk: Talk, monkeypatch) -> None:
    soon = Limit("header-seconds", 1, "seconds", 408)
    monkeypatch.setattr("understudy.mock.server.connection.HEADER_SECONDS", soon)
    assert talk(lambda port: sent(port, REQUEST)).startswith(b"HTTP/1.1 408 ")


def test_a_connection_that_says_nothing_ends(talk: Talk, monkeypatch) -> None:
    soon = Limit("header-seconds", 0, "seconds", 408)
    monkeypatch.setattr("understudy.mock.server.connection.HEADER_SECONDS", soon)
    assert talk(sent) == b""


def test_a_body_that_stays_half_is_408(talk: Talk, monkeypatch) -> None:
    soon = Limit("body-seconds", 0, "seconds", 408)
    monkeypatch.setattr("understudy.mock.server.guards.BODY_SECONDS", soon)
    head = b"POST /v1/notes HTTP/1.1\r\nHost: m\r\nConnection: close\r\nContent-Length: 9\r\n\r\n{"
    assert talk(lambda port: sent(port, head)).startswith(b"HTTP/1.1 408 ")


def test_a_client_that_sends_no_more_still_gets_its_response(talk: Talk) -> None:
    async def half_close(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write((REQUEST + b"Prefer: delay=0.05\r\n\r\n") * 2)
        writer.write_eof()
        response = await reader.read()
        writer.close()
        return response

    assert talk(half_close).count(b"HTTP/1.1 200 OK") == 2


@pytest.mark.parametrize(
    "more",
    [b"\r\n", b"POST /v1/nothing HTTP/1.1\r\nHost: m\r\nContent-Length: 9\r\n\r\n{"],
    ids=["an empty line", "a body that was refused before it came"],
)
def test_an_idle_connection_ends_whatever_it_sent_last(talk: Talk, monkeypatch, more) -> None:
    soon = Limit("body-seconds", 0, "seconds", 408)
    monkeypatch.setattr("understudy.mock.server.guards.BODY_SECONDS", soon)
    idle = Limit("idle-seconds", 1, "seconds")
    monkeypatch.setattr("understudy.mock.server.serving.IDLE_SECONDS", idle)

    async def converse(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST + b"\r\n")
        response = await reader.readuntil(b"\r\n\r\n")
        writer.write(more)
        await asyncio.sleep(0.1)
        writer.write(b"\r\n")
        async with asyncio.timeout(120):
            response += await reader.read()
        writer.close()
        return response

    assert talk(converse).startswith(b"HTTP/1.1 200 OK")


def test_one_timer_serves_an_idle_connection_until_the_application_works(notes) -> None:
    async def converse() -> None:
        served = Served()
        served.site = notes.application
        settings = configuration(served)
        settings.load()
        connection = DirectConnection(settings, ServerState(), {})
        connection.connection_made(Wire(connection))
        timers = []
        for field in (b"", b"X-Other: head\r\n", b"Prefer: delay=0.01\r\n"):
            connection.data_received(REQUEST + field + b"\r\n")
            timers.append(connection.timeout_keep_alive_task)
        first, second, while_working = timers
        assert first is not None
        assert second is first
        assert first.cancelled()
        assert while_working is None
        await asyncio.gather(*connection.tasks)
        assert connection.timeout_keep_alive_task is not None
        connection.connection_lost(None)

    asyncio.run(converse())


def test_two_requests_of_one_connection_are_both_answered(talk: Talk) -> None:
    last = REQUEST + b"Connection: close\r\n\r\n"
    response = talk(lambda port: sent(port, REQUEST + b"\r\n" + last))
    assert response.count(b"HTTP/1.1 200 OK") == 2


def test_a_field_of_a_trailer_is_no_header(talk: Talk) -> None:
    head = b"POST /v1/forms HTTP/1.1\r\nHost: m\r\nConnection: close\r\n"
    chunked = (
        b"Transfer-Encoding: chunked\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n"
    )
    trailer = b"6\r\nname=a\r\n0\r\nHost: other\r\n\r\n"
    response = talk(lambda port: sent(port, head + chunked + trailer))
    assert response.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "chunked",
    [b"2;" + b"a" * 200_000, b"0" * 200_000, b"2\r\n{}\r\n0\r\n" + b"X: y\r\n" * 40_000],
    ids=["extension", "size", "trailer"],
)
def test_bytes_between_chunks_are_bounded_too(talk: Talk, monkeypatch, chunked: bytes) -> None:
    monkeypatch.setattr("understudy.mock.server.connection.MOST_DRAINED_BYTES", 0)
    head = b"POST /v1/notes HTTP/1.1\r\nHost: m\r\nTransfer-Encoding: chunked\r\n\r\n"
    response = talk(lambda port: sent(port, head, chunked))
    assert response.startswith(b"HTTP/1.1 413 ")
    assert b"x-mock-limit: body-bytes" in response

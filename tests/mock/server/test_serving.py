"""A mock that is told to stop finishes what it has begun, within its grace, and says so to the rest."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.mock.server.serving import bind, serve

PATIENCE = 60
HOUR = 3600.0

SLOW = b"GET /v1/notes HTTP/1.1\r\nHost: m\r\nPrefer: delay=59\r\n\r\n"

HOLDING = """
import asyncio, os, signal
from understudy.mock.server.serving import bind, serve

async def hold(scope, receive, send):
    if scope["type"] == "http":
        os.kill(os.getpid(), signal.SIGTERM)
        while True:
            pass

def ready(_stop):
    asyncio.ensure_future(ask())

async def ask():
    _, writer = await asyncio.open_connection(*listener.getsockname())
    writer.write(b"GET / HTTP/1.1\\r\\nHost: m\\r\\n\\r\\n")

listener = bind("127.0.0.1", 0, "--port")
asyncio.run(serve({listener: hold}, ready=ready, grace=0))
"""


def converse(
    application: ASGIApp,
    request: bytes,
    stop: Callable[[Callable[[], None]], Awaitable[None]],
    grace: float,
) -> bytes:
    """Returns what comes back for a request that is worked on when the mock is stopped."""
    responses: list[bytes] = []

    async def run() -> None:
        begun = asyncio.Event()
        stops: list[Callable[[], None]] = []

        async def observed(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                begun.set()
            await application(scope, receive, send)

        async def client() -> None:
            while not stops:
                await asyncio.sleep(0)
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            writer.write(request)
            await begun.wait()
            await stop(stops[0])
            responses.append(await reader.read())
            writer.close()

        with bind("127.0.0.1", 0, "--port") as listener:
            talking = asyncio.ensure_future(client())
            await serve({listener: observed}, ready=stops.append, grace=grace)
            await talking

    asyncio.run(asyncio.wait_for(run(), PATIENCE))
    return responses[0]


async def once(stop: Callable[[], None]) -> None:
    stop()


async def twice(stop: Callable[[], None]) -> None:
    stop()
    stop()


def test_a_request_in_flight_is_finished(notes) -> None:
    request = SLOW.replace(b"delay=59", b"delay=0.1")
    response = converse(notes.application, request, once, grace=HOUR)
    assert response.startswith(b"HTTP/1.1 200 ")
    assert b"connection: close\r\n" in response


def test_what_is_left_after_the_grace_gets_503_in_the_shape_of_the_api(notes, caplog) -> None:
    response = converse(notes.application, SLOW, once, grace=0)
    assert response.startswith(b"HTTP/1.1 503 ")
    assert b"application/json" in response
    assert b"The mock is shutting down" in response
    assert [context.status for context in notes.world.journal][-1] == 503
    assert "Traceback" not in caplog.text


def test_told_a_second_time_it_stops_at_once(notes) -> None:
    response = converse(notes.application, SLOW, twice, grace=HOUR)
    assert response.startswith(b"HTTP/1.1 503 ")


def test_a_stream_does_not_keep_it_from_stopping() -> None:
    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"data", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass

    async def once_it_streams(stop: Callable[[], None]) -> None:
        await asyncio.sleep(0.01)
        stop()

    request = b"GET / HTTP/1.1\r\nHost: m\r\n\r\n"
    assert b"data" in converse(stream, request, once_it_streams, grace=HOUR)


def test_sigterm_ends_a_process_whose_loop_is_held() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", HOLDING],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 1
    assert "did not stop in time" in ended.stderr

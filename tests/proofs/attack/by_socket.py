"""Sends hostile bytes to a mock on sockets, while another client measures how long it waits."""

import asyncio
import re
from collections.abc import Callable
from random import Random  # noqa: TID251 - seeded
from time import perf_counter

from tests.proofs.attack.requests import Attacker, HostileRequest
from tests.proofs.attack.smuggling import expected, smuggle

from understudy.mock.app import Mock
from understudy.mock.server.serving import bind, serve
from understudy.mock.settings import Settings

PATIENCE = 120.0
"""Seconds in which every hostile connection is answered or closed, but for those that say nothing."""

GENERATED = 10
"""Generated requests after each of the list."""

_HOST = b"Host: 127.0.0.1\r\n"
_CLOSE = b"Connection: close\r\n"

Bytes = Callable[[Random], bytes]

HOSTILE: dict[str, Bytes] = {
    "no HTTP": lambda chance: chance.randbytes(500),
    "30,000 header fields": lambda _: (
        b"GET / HTTP/1.1\r\n" + _HOST + b"X: 1\r\n" * 30_000 + b"\r\n"
    ),
    "a header without end": lambda _: b"GET / HTTP/1.1\r\n" + _HOST + b"X: " + b"a" * 400_000,
    "a target without end": lambda _: b"GET /" + b"a" * 400_000,
    "two hosts": lambda _: b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n" + _CLOSE + b"\r\n",
    "no host": lambda _: b"GET / HTTP/1.1\r\n" + _CLOSE + b"\r\n",
    "two lengths": lambda _: (
        b"POST / HTTP/1.1\r\n" + _HOST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"
    ),
    "a length and chunks": lambda _: (
        b"POST /v3/me/avatars HTTP/1.1\r\n" + _HOST + b"Content-Length: 4\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "a chunk of no size": lambda _: (
        b"POST / HTTP/1.1\r\n" + _HOST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"
    ),
    "a line of LF": lambda _: b"GET / HTTP/1.1\nHost: a\n" + _CLOSE + b"\n",
    "a folded header": lambda _: (
        b"GET / HTTP/1.1\r\n" + _HOST + b"X: a\r\n b\r\n" + _CLOSE + b"\r\n"
    ),
    "a space before the colon": lambda _: b"GET / HTTP/1.1\r\nHost : a\r\n" + _CLOSE + b"\r\n",
    "a zero byte": lambda _: b"GET /\x00 HTTP/1.1\r\n" + _HOST + _CLOSE + b"\r\n",
    "an absolute target": lambda _: b"GET http://other/ HTTP/1.1\r\n" + _HOST + _CLOSE + b"\r\n",
    "HTTP/9.9": lambda _: b"GET / HTTP/9.9\r\n" + _HOST + b"\r\n",
    "2.2 million fields": lambda _: (
        b"POST /oauth2/token HTTP/1.1\r\n"
        + _HOST
        + _CLOSE
        + b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 4400000\r\n\r\n"
        + b"a&" * 2_200_000
    ),
    "an upgrade": lambda _: (
        b"GET / HTTP/1.1\r\n" + _HOST + b"Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n"
    ),
    "a control character in a preference": lambda _: (
        b"GET /v3/profiles/ada?__fault=%0d%0aX:1&__seed=%00 HTTP/1.1\r\n" + _HOST + _CLOSE + b"\r\n"
    ),
}
"""What is sent, by its name."""


async def attack_by_socket(connections: int, seed: int) -> tuple[list[float], list[str]]:
    """Opens so many hostile connections of the list, and ten times as many with generated requests.

    Returns:
        The seconds that another client waited for each of its own requests meanwhile, and what
        should not have been.
    """
    waits: list[float] = []
    problems: list[str] = []
    mock = Mock(Settings())
    with bind("127.0.0.1", 0, "--port") as listener:
        port = listener.getsockname()[1]
        ready = asyncio.Event()
        stops: list[Callable[[], None]] = []

        async def besiege() -> None:
            await ready.wait()
            chance, attacker = Random(seed), Attacker(seed)
            mock.worlds.create("watch", mock.world.snapshot())
            watching = asyncio.ensure_future(_watch(port, waits, problems))
            try:
                problems.extend(await _smuggled(port))
                for number in range(connections):
                    name = list(HOSTILE)[number % len(HOSTILE)]
                    await _send(port, name, HOSTILE[name](chance), problems)
                    for _ in range(GENERATED):
                        await _send_generated(port, attacker.next(), problems)
                        for world in mock.worlds:
                            world.faults.clear()  # what was injected answers 5xx, as it should
            finally:
                watching.cancel()
                await asyncio.wait({watching})
                stops[0]()

        def started(stop: Callable[[], None]) -> None:
            stops.append(stop)
            ready.set()

        await serve({listener: mock.resource}, ready=started, beside=[besiege])
    return waits, problems


async def _smuggled(port: int) -> list[str]:
    """Sends the list of smuggled requests; returns those whose end the mock did not see."""
    results = await smuggle(port)
    return [
        f"{name}: {result} in place of {expected(name)}"
        for name, result in results.items()
        if result != expected(name)
    ]


async def _send(port: int, name: str, content: bytes, problems: list[str]) -> None:
    """Sends bytes, and waits until the mock answers or hangs up."""
    response = await response_of(port, content, name, problems)
    if response and not re.match(rb"HTTP/1\.1 [1-4]", response):
        problems.append(f"{name}: {response[:200]!r}")


async def _send_generated(port: int, request: HostileRequest, problems: list[str]) -> None:
    """Sends a generated request, which must have a response, and none of 5xx but for its asking."""
    content = request.on_the_wire()
    response = await response_of(port, content, repr(content[:300]), problems)
    if response is None or (request.asks_for_failure and b"fault" in content):
        return  # a fault may be that there is no response
    if not response and request.asks_for_delay:
        return  # a client that has closed its side is not waited for so long
    if not response.startswith(b"HTTP/1.1 ") or (
        response.startswith(b"HTTP/1.1 5") and not request.asks_for_failure
    ):
        problems.append(f"{content[:600]!r}: {response[:200]!r}")


async def response_of(port: int, content: bytes, name: str, problems: list[str]) -> bytes | None:
    """Returns all that comes back for some bytes; None where the mock hung up as more was sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(PATIENCE):
            writer.write(content)
            writer.write_eof()
            return await reader.read()
    except TimeoutError:
        problems.append(f"{name}: neither answered nor closed within {PATIENCE:g} s")
    except OSError:
        pass
    finally:
        writer.close()
    return None


async def _watch(port: int, waits: list[float], problems: list[str]) -> None:
    """Asks for a profile again and again, and notes how long each response takes.

    It does so in a world of its own, so that no injected fault is this client's.
    """
    request = b"GET /__world/watch/v3/profiles/ada HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Mock-Choose: rate-limits=off\r\nConnection: close\r\n\r\n"
    while True:
        started = perf_counter()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(request)
            response = await reader.read()
        finally:
            writer.close()
        waits.append(perf_counter() - started)
        if not response.startswith(b"HTTP/1.1 200 "):
            problems.append(f"another client's request: {response[:100]!r}")
        await asyncio.sleep(0.01)

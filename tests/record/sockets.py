"""A recording proxy over sockets, before an upstream that sends given bytes."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import uvicorn

from understudy.mock.server.serving import bind, configuration
from understudy.record.proxy import Recording, RecordingOptions
from understudy.verify.deployment import deployment_of
from understudy.verify.target import target_of

Respond = Callable[[bytes, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Served:
    """A proxy that is served.

    Attributes:
        port: Its port.
        recording: The proxy.
        lines: What it says.
        server: What serves it.
        upstream: What stands behind it.
    """

    port: int
    recording: Recording
    lines: list[str]
    server: uvicorn.Server
    upstream: asyncio.Server

    async def sent(self, *fields: str, host: str = "127.0.0.1") -> bytes:
        """Looks a profile up on a connection of its own, and returns all that comes."""
        reader, writer = await self.connect(*fields, path="/v3/profiles/ada", host=host)
        try:
            return await reader.read()
        finally:
            writer.close()

    async def connect(
        self, *fields: str, path: str = "/v3/live", host: str = "127.0.0.1"
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Sends a request, and returns the connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{self.port}", *fields, "", ""]
        writer.write("\r\n".join(lines).encode("latin-1"))
        return reader, writer


def sends(content: bytes) -> Respond:
    """Returns an upstream that sends some bytes to everybody, and ends the connection."""

    async def respond(
        _head: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(content)
        await writer.drain()

    return respond


@asynccontextmanager
async def served(respond: Respond) -> AsyncIterator[Served]:
    """Serves a proxy before an upstream."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await respond(await reader.readuntil(b"\r\n\r\n"), reader, writer)
        writer.close()

    upstream = await asyncio.start_server(connected, "127.0.0.1", 0)
    base_url = f"http://127.0.0.1:{upstream.sockets[0].getsockname()[1]}/v3"
    described = deployment_of(target_of({"base_url": base_url}, {}, "the target"))
    listener: socket.socket = bind("127.0.0.1", 0, "--port")
    port = listener.getsockname()[1]
    lines: list[str] = []
    recording = Recording(described, RecordingOptions(port, port), lambda _finding: None)
    recording.judge.skip = lines.append
    server = uvicorn.Server(configuration(recording.applications[port]))
    server.config.load()
    running = asyncio.ensure_future(server._serve([listener]))  # without its grip on signals
    while not server.started:
        await asyncio.sleep(0)
    try:
        yield Served(port, recording, lines, server, upstream)
    finally:
        server.should_exit = server.force_exit = True
        await running
        await recording.aclose()
        recording.judge.close()
        upstream.close()

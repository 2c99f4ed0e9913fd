"""Sends httpx's requests to a mock through its HTTP protocol, without a socket.

``httpx.ASGITransport`` calls the application itself, and so never reaches ``ReloadableSite.respond``.
"""

import asyncio
import re
from typing import Any

import httpx
from starlette.types import ASGIApp
from tests.proofs.entrances.comparison import Wire
from uvicorn.server import ServerState

from understudy.mock.server.protocol import HttpConnection
from understudy.mock.server.serving import configuration

_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)


class _AwaitedWire(Wire):
    """A wire that tells when a whole response was written."""

    def __init__(self, protocol: asyncio.BaseProtocol) -> None:
        super().__init__(protocol)
        self.has_response = asyncio.Event()

    def write(self, data: Any) -> None:
        super().write(data)
        head, end, body = self.written.partition(b"\r\n\r\n")
        length = _LENGTH.search(head + b"\r\n")
        if end and (length is None or len(body) >= int(length[1])):
            self.has_response.set()

    def close(self) -> None:
        super().close()
        self.has_response.set()


class DirectTransport(httpx.AsyncBaseTransport):
    """Sends each request on a connection of its own.

    Args:
        application: What is served.
    """

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Returns the response to a request; a lost connection is an error, as at a socket."""
        settings = configuration(self._application)
        settings.load()
        connection = HttpConnection(settings, ServerState(), {})
        wire = _AwaitedWire(connection)
        connection.connection_made(wire)
        target = request.url.raw_path
        fields = b"".join(b"%b: %b\r\n" % field for field in request.headers.raw)
        head = b"%b %b HTTP/1.1\r\n%b\r\n" % (request.method.encode(), target, fields)
        connection.data_received(head + await request.aread())
        await wire.has_response.wait()
        connection.connection_lost(None)
        written, end, body = wire.written.partition(b"\r\n\r\n")
        if not end:
            msg = "the connection ended without a response"
            raise httpx.RemoteProtocolError(msg)
        status, *lines = written.split(b"\r\n")
        headers = [(name, text) for name, _, text in (it.partition(b": ") for it in lines)]
        return httpx.Response(int(status.split()[1]), headers=headers, content=body)

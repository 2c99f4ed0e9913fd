"""Reads requests from ASGI, and sends whole responses of the proxy's own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from understudy.record.captures import CapturedBody
from understudy.record.header_fields import Fields
from understudy.record.header_fields import field as field_value
from understudy.record.servers import ProxiedServer, SiteName

_REWRITTEN_FORM: Final = 65_536
"""Bytes of a form in which addresses are rewritten; a larger one passes as it is."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class ClientGone(Exception):
    """The client ended the connection before its request or response was whole."""


@dataclass
class ProxiedRequest:
    """A request that passes.

    Attributes:
        server: The server of the deployment that it is for.
        method: Its method.
        target: Path and query as they were sent.
        fields: Its header fields.
        host: The host name that the client calls the proxy by.
        receive: Receives its body.
        captured: The part of its body that was received.
        is_received: True once its body was received to the end.
    """

    server: ProxiedServer
    method: str
    target: bytes
    fields: Fields
    host: str
    receive: Receive
    captured: CapturedBody = field(default_factory=CapturedBody)
    is_received: bool = False

    @property
    def url(self) -> str:
        """The URL at the deployment."""
        return self.server.origin + self.target.decode("latin-1")

    @property
    def path(self) -> str:
        """The path as it was sent."""
        return self.target.partition(b"?")[0].decode("latin-1")

    @property
    def origin(self) -> str:
        """The Origin header; empty without one."""
        return field_value(self.fields, b"origin")

    @property
    def has_body(self) -> bool:
        """True if a body follows the header (RFC 9112, 6.3)."""
        names = {name for name, _ in self.fields}
        return b"transfer-encoding" in names or field_value(self.fields, b"content-length") not in {
            "",
            "0",
        }

    async def body(self) -> AsyncIterator[bytes]:
        """Yields the body as it is received, and keeps a copy of it.

        Raises:
            ClientGone: The client ended the connection.
        """
        is_more = True
        while is_more:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            part = message.get("body", b"")
            is_more = message.get("more_body", False)
            if part:
                self.captured.add(part)
                yield part
        self.is_received = True

    async def receive_rest(self) -> None:
        """Receives what is left of the body, so that the copy is whole.

        Raises:
            ClientGone: The client ended the connection.
        """
        if self.has_body and not self.is_received:
            async for _ in self.body():
                pass

    async def _disconnected(self) -> None:
        """Waits until the client ends the connection; a request without a body is a message too."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def rewrite_form(self, rewrite: Callable[[bytes], bytes]) -> None:
        """Receives a small form, and replaces it.

        Raises:
            ClientGone: The client ended the connection.
        """
        if not await self.receive_small_form():
            return
        content = rewrite(self.captured.content)
        self.captured = CapturedBody()
        self.captured.add(content)
        size = str(len(content)).encode()
        self.fields = [(n, size if n == b"content-length" else v) for n, v in self.fields]

    async def receive_small_form(self) -> bool:
        """Receives a body if it is a small form, and returns whether it is.

        Raises:
            ClientGone: The client ended the connection.
        """
        length = field_value(self.fields, b"content-length")
        is_small = self.is_form and length.isdecimal() and int(length) <= _REWRITTEN_FORM
        if is_small:
            await self.receive_rest()
        return is_small

    @property
    def is_form(self) -> bool:
        """True if the body is a form in URL encoding."""
        kind = field_value(self.fields, b"content-type").partition(";")[0].strip().lower()
        return kind == "application/x-www-form-urlencoded"

    async def remaining_body(self) -> AsyncIterator[bytes]:
        """Yields the body: what was received before, or else what is being received.

        Raises:
            ClientGone: The client ended the connection.
        """
        if self.is_received:
            yield self.captured.content
            return
        async for part in self.body():
            yield part

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[Callable[[], None]]:
        """Watches the connection while the response is sent.

        Yields:
            Raises ``ClientGone`` when called after the client has ended the connection.
        """
        if self.has_body and not self.is_received:  # a response before the end of the request
            yield lambda: None
            return
        watch = asyncio.ensure_future(self._disconnected())

        def expect_client() -> None:
            if watch.done():
                raise ClientGone

        try:
            yield expect_client
        finally:
            watch.cancel()


@dataclass
class ProxiedResponse:
    """A response as the deployment sent it, as far as it was received.

    Attributes:
        status: The status code.
        fields: The header fields.
        captured: The part of its body that was received.
    """

    status: int
    fields: Fields
    captured: CapturedBody = field(default_factory=CapturedBody)


class ClientConnection:
    """Sends one response to a client.

    Args:
        send: Sends messages of ASGI.

    Attributes:
        is_started: True once the status was sent.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self.is_started = False

    async def start(self, status: int, fields: Fields) -> None:
        """Sends status and header fields."""
        self.is_started = True
        await self._send({"type": "http.response.start", "status": status, "headers": fields})

    async def send(self, part: bytes) -> None:
        """Sends a part of the body; waits while the client reads too slowly."""
        if part:
            await self._send({"type": "http.response.body", "body": part, "more_body": True})

    async def end(self, part: bytes = b"") -> None:
        """Sends the last part of the body."""
        await self._send({"type": "http.response.body", "body": part})

    async def send_whole(self, status: int, fields: Fields, body: bytes) -> None:
        """Sends a response whose body is in memory."""
        await self.start(status, fields)
        await self.end(body)


def error_response(site: SiteName, code: str, message: str) -> tuple[Fields, bytes]:
    """Returns header fields and body of an error in the shape of the API that was called.

    Args:
        site: The server whose API was called (interface, Errors; RFC 6749, 5.2).
        code: A word for programs.
        message: A sentence for people.
    """
    members = {"error": message, "code": code}
    if site == "authorization":
        members = {"error": code, "error_description": message}
    body = orjson.dumps(members)
    fields = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    return fields, body

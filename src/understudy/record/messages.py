"""Requests and responses that the proxy forwards, in terms of ASGI, with bounded copies of bodies."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from traceback import walk_tb
from typing import Any, Final

import orjson

from understudy.limits import BODY_BYTES
from understudy.openapi.media_types import URLENCODED, without_options
from understudy.record.servers import Fields, ProxiedServer, SiteName, field_value

_GZIP: Final = 16 + zlib.MAX_WBITS


class CapturedBody:
    """A copy of a body that is being forwarded; discarded if the body is too large.

    Attributes:
        is_whole: True if all bytes received so far are kept.
        size: The number of bytes received so far.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0
        self.is_whole = True

    def add(self, part: bytes) -> None:
        """Keeps a part of the body, or discards all parts if the body is too large."""
        self.size += len(part)
        if self.size > BODY_BYTES.most:
            self.is_whole = False
            self._parts.clear()
        else:
            self._parts.append(part)

    @property
    def content(self) -> bytes:
        """The bytes that were kept."""
        return b"".join(self._parts)


def decoded(body: bytes, encoding: str) -> bytes | None:
    """Returns a body without its content coding (RFC 9110, 8.4.1).

    Args:
        body: The encoded body.
        encoding: The value of Content-Encoding; empty without one.

    Returns:
        The decoded body; None if its coding is unknown or invalid, or the body is too large.
    """
    if encoding.lower() in {"", "identity"}:
        return body
    if encoding.lower() not in {"gzip", "x-gzip", "deflate"}:
        return None
    decoder = zlib.decompressobj(zlib.MAX_WBITS if encoding.lower() == "deflate" else _GZIP)
    try:
        content = decoder.decompress(body, BODY_BYTES.most)
    except zlib.error:
        return None
    return content if decoder.eof else None


_REWRITTEN_FORM: Final = 65_536
"""Largest form, in bytes, in which addresses are rewritten; larger ones are forwarded unchanged."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class ClientGone(Exception):
    """Raised when the client ends the connection before its request or response is complete."""


@dataclass
class ProxiedRequest:
    """A request that the proxy forwards.

    Attributes:
        server: The deployment's server that the request is for.
        method: The method.
        target: Path and query, as the client sent them.
        fields: The header fields.
        host: The host name by which the client calls the proxy.
        receive: Receives the body, as ASGI messages.
        captured: The part of the body that was received.
        is_received: True once the body was received to the end.
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
        """The path, as the client sent it."""
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
        """Yields the parts of the body as they are received, and keeps a copy.

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
        """Receives the rest of the body, so that the copy is complete.

        Raises:
            ClientGone: The client ended the connection.
        """
        if self.has_body and not self.is_received:
            async for _ in self.body():
                pass

    async def _disconnected(self) -> None:
        """Waits until the client ends the connection."""
        # a request without a body still comes with an ASGI message of its empty body
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def rewrite_form(self, rewrite: Callable[[bytes], bytes]) -> None:
        """Receives a small form, and replaces its content; other bodies stay unchanged.

        Raises:
            ClientGone: The client ended the connection.
        """
        length = field_value(self.fields, b"content-length")
        if not (self.is_form and length.isdecimal() and int(length) <= _REWRITTEN_FORM):
            return
        await self.receive_rest()
        content = rewrite(self.captured.content)
        self.captured = CapturedBody()
        self.captured.add(content)
        size = str(len(content)).encode()
        self.fields = [(n, size if n == b"content-length" else v) for n, v in self.fields]

    @property
    def is_form(self) -> bool:
        """True if the body is a URL-encoded form."""
        return without_options(field_value(self.fields, b"content-type")) == URLENCODED

    async def remaining_body(self) -> AsyncIterator[bytes]:
        """Yields the body: the kept copy if it was received before, or else as it is received.

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
            A function that raises ``ClientGone`` if the client has ended the connection.
        """
        if self.has_body and not self.is_received:  # messages still belong to the request's body
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
    """A response of the deployment, as far as it was received."""

    status: int
    fields: Fields
    captured: CapturedBody = field(default_factory=CapturedBody)


class ClientConnection:
    """Sends one response to a client.

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


# A page sends several requests at a time. A read that overlaps a change may show the state before or
# after it, so rules that relate exchanges are not applied to overlapping ones.


@dataclass(slots=True)
class ExchangeSpan:
    """An exchange in progress.

    Attributes:
        is_change: True if the exchange may change a resource.
        overlaps_change: True if another exchange overlaps, and one of the two is a change.
    """

    is_change: bool
    overlaps_change: bool = False


class Overlaps:
    """Keeps the exchanges in progress, to detect overlaps."""

    def __init__(self) -> None:
        self._open: list[ExchangeSpan] = []

    @contextmanager
    def span(self, *, is_change: bool) -> Iterator[ExchangeSpan]:
        """Returns a context manager that keeps an exchange as in progress while it is entered."""
        own = ExchangeSpan(is_change)
        for other in self._open:
            if own.is_change or other.is_change:
                own.overlaps_change = other.overlaps_change = True
        self._open.append(own)
        try:
            yield own
        finally:
            self._open = [each for each in self._open if each is not own]


def place_of(error: BaseException) -> str:
    """Returns the type of an error and the source line that raised it, without the error's text."""
    frames = list(walk_tb(error.__traceback__))
    frame, line = frames[-1]
    own = [(each, number) for each, number in frames if "understudy" in each.f_code.co_filename]
    frame, line = own[-1] if own else (frame, line)
    return f"{type(error).__name__} in {Path(frame.f_code.co_filename).name}, line {line}"

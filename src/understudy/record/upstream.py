"""Forwards requests to the deployment, and WebSocket connections byte by byte.

No rule concerns WebSockets, so they are neither judged nor recorded.
"""

import asyncio
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from understudy.exchange.connection_failures import causes
from understudy.limits import PROXIED_CONNECTIONS
from understudy.record.messages import error_response
from understudy.record.servers import Fields, ProxiedServer

TIMEOUT: Final = httpx.Timeout(60.0, connect=10.0)
"""Timeouts in seconds of each read and write, and of connecting."""


class NoUpstreamResponse(Exception):
    """Raised when the deployment does not respond.

    The text is printed, so it contains nothing of the request.

    Attributes:
        status: The status for the client: 502 or 504 (RFC 9110, 15.6.3 and 15.6.5).
        code: The error code in the body.
    """

    def __init__(self, reason: str, *, is_late: bool = False) -> None:
        super().__init__(reason)
        self.status = 504 if is_late else 502
        self.code = "gateway_timeout" if is_late else "bad_gateway"

    @classmethod
    def of_error(cls, error: httpx.HTTPError) -> "NoUpstreamResponse":
        """Returns the exception for an error of httpx, whose own text may contain an address."""
        if any(isinstance(it, ssl.SSLCertVerificationError) for it in causes(error)):
            return cls(
                "the deployment's certificate is not trusted; "
                "name the file of its authority in SSL_CERT_FILE"
            )
        is_late = isinstance(error, httpx.TimeoutException)
        reason = "cannot be reached, or ended the connection"
        if isinstance(error, httpx.RemoteProtocolError):
            reason = "ended the connection too early, or sent what is not HTTP"
        elif is_late:
            reason = "did not respond in time"
        return cls(f"the deployment {reason} ({type(error).__name__})", is_late=is_late)


class Upstream:
    """Holds the connections to a deployment.

    Args:
        transport: Sends the requests; one over sockets by default.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        limits = httpx.Limits(max_connections=PROXIED_CONNECTIONS.most)
        self._transport = transport or httpx.AsyncHTTPTransport(limits=limits)

    async def send(
        self,
        server: ProxiedServer,
        method: str,
        target: bytes,
        fields: Fields,
        body: AsyncIterable[bytes] | bytes | None = None,
    ) -> httpx.Response:
        """Sends a request, and returns the response once its header was received.

        Args:
            server: The server to send to.
            method: The method.
            target: Path and query, exactly as the client sent them.
            fields: The header fields.
            body: The body; None without one.

        Raises:
            NoUpstreamResponse: No response was received.
        """
        request = httpx.Request(
            method,
            server.origin,
            headers=fields,
            content=body,
            extensions={"timeout": TIMEOUT.as_dict(), "target": target},
        )
        try:
            return await self._transport.handle_async_request(request)
        except httpx.HTTPError as error:
            raise NoUpstreamResponse.of_error(error) from None

    async def aclose(self) -> None:
        """Closes all connections."""
        with suppress(httpx.HTTPError):
            await self._transport.aclose()


async def parts_of(received: httpx.Response) -> AsyncIterator[bytes]:
    """Yields the parts of a response's body as they are received.

    Raises:
        NoUpstreamResponse: The response broke off.
    """
    try:
        async for part in received.aiter_raw():
            yield part
    except httpx.HTTPError as error:
        raise NoUpstreamResponse.of_error(error) from None


CONNECT_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class TunnelHead:
    """The upgrade request for a WebSocket, translated for the deployment.

    Attributes:
        server: The server to send to.
        target: Path and query.
        fields: The header fields.
        refusal: Why the request is refused; empty if it is forwarded.
    """

    server: ProxiedServer
    target: bytes
    fields: Fields
    refusal: str = ""

    @property
    def content(self) -> bytes:
        """The bytes of the request."""
        lines = [name + b": " + value for name, value in self.fields]
        lines += [b"connection: Upgrade", b"upgrade: websocket", b"", b""]
        return b"\r\n".join([b"GET " + self.target + b" HTTP/1.1", *lines])


class _End(asyncio.Protocol):
    """One end of a tunnel; sends received bytes at the other end, with its back-pressure."""

    transport: asyncio.Transport
    other: "_End | None" = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self.other is not None:
            self.other.transport.write(data)

    def pause_writing(self) -> None:
        if self.other is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None:
            self.other.transport.resume_reading()

    def connection_lost(self, _error: Exception | None) -> None:
        if self.other is not None:
            self.other.transport.close()


class Tunnel(_End):
    """The client's end of a tunnel; uvicorn hands WebSocket connections over to it.

    Args:
        translated: Returns the translated request from target and header fields.
        config: uvicorn's configuration.
        server_state: uvicorn's connections.
        app_state: The state of the application, which is not used.
    """

    def __init__(
        self,
        translated: Callable[[bytes, Fields], TunnelHead],
        *,
        config: Any,  # noqa: ARG002 - uvicorn passes it by keyword
        server_state: Any,
        app_state: Any,  # noqa: ARG002 - as above
    ) -> None:
        self._translated = translated
        self._connections: set[Any] = server_state.connections
        self._opening: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Registers the connection, so that uvicorn ends it when the server stops."""
        super().connection_made(transport)
        self._connections.add(self)

    def data_received(self, data: bytes) -> None:
        """Reads the upgrade request, which uvicorn passes first, and then forwards all bytes."""
        if self._opening is not None:
            super().data_received(data)
            return
        line, *lines = data.partition(b"\r\n\r\n")[0].split(b"\r\n")
        pairs = (each.partition(b": ") for each in lines)
        head = self._translated(line.split(b" ")[1], [(name, value) for name, _, value in pairs])
        self.transport.pause_reading()
        self._opening = asyncio.get_running_loop().create_task(self._open(head))

    def connection_lost(self, error: Exception | None) -> None:
        """Closes the other end too."""
        self._connections.discard(self)
        if self._opening is not None:
            self._opening.cancel()
        super().connection_lost(error)

    def shutdown(self) -> None:
        """Closes the tunnel; uvicorn calls this when the server stops."""
        self.transport.close()

    async def _open(self, head: TunnelHead) -> None:
        if head.refusal:
            self._refuse(head, 403, "host_not_allowed", head.refusal)
            return
        address = urlsplit(head.server.origin)
        is_tls = address.scheme == "https"
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await asyncio.get_running_loop().create_connection(
                    lambda: _Upstream(self, head.content),
                    address.hostname or "",
                    address.port or (443 if is_tls else 80),
                    ssl=httpx.create_ssl_context() if is_tls else None,
                )
        except (OSError, TimeoutError) as error:
            reason = f"The deployment cannot be reached ({type(error).__name__})."
            self._refuse(head, 502, "bad_gateway", reason)

    def _refuse(self, head: TunnelHead, status: int, code: str, message: str) -> None:
        fields, body = error_response(head.server.site, code, message)
        lines = [name + b": " + value for name, value in [*fields, (b"connection", b"close")]]
        start = f"HTTP/1.1 {status} \r\n".encode()
        self.transport.write(start + b"\r\n".join([*lines, b"", body]))
        self.transport.close()


class _Upstream(_End):
    """The deployment's end of a tunnel; sends the upgrade request first."""

    def __init__(self, client: Tunnel, request: bytes) -> None:
        self.other = client
        self._client = client
        self._request = request

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._client.other = self
        self.transport.write(self._request)
        with suppress(RuntimeError):  # the client may have closed the connection meanwhile
            self._client.transport.resume_reading()

"""Sends the requests that pass the proxy to the deployment, as they come, and streams its responses."""

import ssl
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import suppress
from typing import Final

import httpx

from understudy.limits import PROXIED_CONNECTIONS
from understudy.record.header_fields import Fields
from understudy.record.servers import ProxiedServer

TIMEOUT: Final = httpx.Timeout(60.0, connect=10.0)
"""Seconds of each read and write, and until a connection is made."""


class NoUpstreamResponse(Exception):
    """The deployment did not respond.

    The text has no word of the request: it is printed.

    Attributes:
        status: The status code that says so to the client (RFC 9110, 15.6.3 and 15.6.5).
        code: The word for programs beside it.
    """

    def __init__(self, reason: str, *, is_late: bool = False) -> None:
        super().__init__(reason)
        self.status = 504 if is_late else 502
        self.code = "gateway_timeout" if is_late else "bad_gateway"

    @classmethod
    def of_error(cls, error: httpx.HTTPError) -> "NoUpstreamResponse":
        """Returns the reason of an error, whose own text may have an address in it."""
        if _is_distrust(error):
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

    @classmethod
    def of_status(cls, status: int) -> "NoUpstreamResponse":
        """Returns the reason of a status that something before the deployment sent."""
        return cls(f"the deployment is not available (status {status})")

    @classmethod
    def of_unknown_status(cls, status: int) -> "NoUpstreamResponse":
        """Returns the reason of a status that no client can be sent."""
        return cls(f"the deployment sent the status {status}, which HTTP does not know")


def _is_distrust(error: BaseException | None) -> bool:
    """Tells whether an error is, or comes of, a certificate that is not trusted."""
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error is not None


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
        """Sends a request, and returns the response once its header is there.

        Args:
            server: The server that gets it.
            method: The method.
            target: Path and query, byte by byte as the client sent them.
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
        """Closes every connection."""
        with suppress(httpx.HTTPError):
            await self._transport.aclose()


async def parts_of(received: httpx.Response) -> AsyncIterator[bytes]:
    """Yields the body of a response as it is received.

    Raises:
        NoUpstreamResponse: It ended too early.
    """
    try:
        async for part in received.aiter_raw():
            yield part
    except httpx.HTTPError as error:
        raise NoUpstreamResponse.of_error(error) from None

"""Sends a request as a value and returns its response as a value, whole and within bounds."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import closing

import httpx

from understudy.exchange.messages import Request, Response, headers_of

LARGEST = 32 * 2**20
"""Bytes of a response body; a larger one is cut."""


class ValueTransport(httpx.BaseTransport, ABC):
    """A transport of requests and responses as values, which need not become httpx's and back."""

    @abstractmethod
    def respond(self, request: Request) -> Response:
        """Sends a request, and returns its response.

        Raises:
            httpx.HTTPError: No response was received, or one that is too large.
        """

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request of httpx, for a client or a transport that stands before this one.

        Raises:
            httpx.HTTPError: No response was received, or one that is too large.
        """
        headers = headers_of(request.headers.multi_items())
        response = self.respond(Request(request.method, str(request.url), headers, request.read()))
        # The body is decoded already.
        kept = [(name, text) for name, text in response.headers if name != "content-encoding"]
        return httpx.Response(response.status, headers=kept, content=response.body)


def received(transport: httpx.BaseTransport, request: Request) -> Response:
    """Sends a request, and returns its response.

    Raises:
        httpx.HTTPError: No response was received, or one that is too large.
    """
    if isinstance(transport, ValueTransport):
        return transport.respond(request)
    sending = httpx.Request(
        request.method, request.url, headers=list(request.headers), content=request.body
    )
    with closing(transport.handle_request(sending)) as response:
        body = bounded(response.iter_bytes())
    return Response(response.status_code, headers_of(response.headers.multi_items()), body)


def bounded(chunks: Iterable[bytes]) -> bytes:
    """Returns the body that is received in chunks.

    Raises:
        httpx.ReadError: It is too large.
    """
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > LARGEST:
            msg = f"the response is larger than {LARGEST // 2**20} MiB and was cut"
            raise httpx.ReadError(msg)
    return bytes(body)

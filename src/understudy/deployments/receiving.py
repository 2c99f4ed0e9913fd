"""Sends a request as a value and returns its response as a value, whole and within bounds."""

from contextlib import closing

import httpx

from understudy.deployments.exchange import Request, Response, headers_of

TIMEOUT = httpx.Timeout(30.0)
"""Timeout of each read of a response."""

LARGEST = 32 * 2**20
"""Bytes of a response body; a larger one is cut."""


def received(transport: httpx.BaseTransport, request: Request) -> Response:
    """Sends a request, and returns its response.

    Raises:
        httpx.HTTPError: No response was received, or one that is too large.
    """
    sending = httpx.Request(
        request.method,
        request.url,
        headers=list(request.headers),
        content=request.body,
        extensions={"timeout": TIMEOUT.as_dict()},
    )
    response = transport.handle_request(sending)
    body = _body(response)
    return Response(response.status_code, headers_of(response.headers.multi_items()), body)


def _body(response: httpx.Response) -> bytes:
    """Returns a response's body.

    Raises:
        httpx.ReadError: It is too large.
    """
    body = bytearray()
    with closing(response):
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > LARGEST:
                msg = f"the response is larger than {LARGEST // 2**20} MiB and was cut"
                raise httpx.ReadError(msg)
    return bytes(body)

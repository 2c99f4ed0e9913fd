"""Sends one request of httpx to an ASGI application, without a socket."""

import httpx
from starlette.types import ASGIApp

from understudy.exchange import asgi

CLIENT = ("127.0.0.1", 123)
"""The address and port that a request comes from."""


async def exchanged(application: ASGIApp, request: httpx.Request) -> httpx.Response:
    """Sends a request whose body is in memory, and returns the whole response.

    Raises:
        Exception: Whatever the application raises.
    """
    url = request.url
    headers = [(name.lower(), text) for name, text in request.headers.raw]
    server = (url.scheme, url.host, url.port)
    scope = asgi.http_scope(request.method, server, url.raw_path, headers, CLIENT)
    status, fields, body = await asgi.exchanged(application, scope, request.read())
    stream = httpx.ByteStream(b"" if request.method == "HEAD" else body)
    response = httpx.Response(status, headers=fields, stream=stream)
    response.read()  # transports that wrap another one expect a response that is read
    return response

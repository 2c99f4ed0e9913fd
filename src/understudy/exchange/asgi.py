"""Sends a request to an ASGI application without a socket, and returns its response.

The transport of httpx detects the event loop anew for each request, which takes as long as the mock
itself.
"""

import asyncio
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Message, Scope

Fields = list[tuple[bytes, bytes]]


class AsgiResponse(NamedTuple):
    """A whole response; its status is 0 if the application sent none."""

    status: int
    headers: Fields
    body: bytes


def http_scope(
    method: str,
    server: tuple[str, str, int | None],
    target: bytes,
    headers: Fields,
    client: tuple[str, int],
) -> Scope:
    """Returns a request's connection scope (ASGI specification, HTTP).

    Args:
        method: The request method.
        server: Scheme, host and port.
        target: Path and query, percent-encoded.
        headers: The header fields, their names in lower case.
        client: The address and port that the request comes from.
    """
    path, _, query = target.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "headers": headers,
        "scheme": server[0],
        "path": unquote_to_bytes(path).decode("utf-8", "replace"),
        "raw_path": path,
        "query_string": query,
        "server": server[1:],
        "client": client,
        "root_path": "",
    }


async def exchanged(application: ASGIApp, scope: Scope, body: bytes) -> AsgiResponse:
    """Calls an application with one request, and returns the whole response.

    Raises:
        Exception: Whatever the application raises.
    """
    unread = [body]
    is_complete = asyncio.Event()
    start: Message = {}
    parts: list[bytes] = []

    async def receive() -> Message:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        await is_complete.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
        elif message["type"] == "http.response.body":
            parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                is_complete.set()

    await application(scope, receive, send)
    return AsgiResponse(start.get("status", 0), list(start.get("headers", [])), b"".join(parts))

"""One request to an ASGI application, and its response, without a socket.

httpx has such a transport for any event loop; for each request it looks for those that are not
there, and costs as much as the mock itself.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import httpx

Message = MutableMapping[str, Any]
Application = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]

CLIENT = ("127.0.0.1", 123)
"""The address and port that a request comes from."""


async def exchanged(application: Application, request: httpx.Request) -> httpx.Response:
    """Sends a request whose body is in memory, and returns the whole response.

    Raises:
        Exception: Whatever the application raises.
    """
    body: bytes | None = request.read()
    is_complete = asyncio.Event()
    start: Message = {}
    parts: list[bytes] = []

    async def receive() -> Message:
        nonlocal body
        if body is None:
            await is_complete.wait()
            return {"type": "http.disconnect"}
        message = {"type": "http.request", "body": body, "more_body": False}
        body = None
        return message

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
        elif message["type"] == "http.response.body":
            parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                is_complete.set()

    await application(_scope(request), receive, send)
    content = b"" if request.method == "HEAD" else b"".join(parts)
    stream = httpx.ByteStream(content)
    return httpx.Response(start["status"], headers=start.get("headers", []), stream=stream)


def _scope(request: httpx.Request) -> Message:
    """Returns a request's connection scope (ASGI specification, HTTP)."""
    url = request.url
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "headers": [(name.lower(), text) for name, text in request.headers.raw],
        "scheme": url.scheme,
        "path": url.path,
        "raw_path": url.raw_path.partition(b"?")[0],
        "query_string": url.query,
        "server": (url.host, url.port),
        "client": CLIENT,
        "root_path": "",
    }

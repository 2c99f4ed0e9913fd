"""Sends responses as ASGI messages."""

import asyncio

import orjson
from starlette.types import Receive, Send

from understudy.errors import Headers
from understudy.mock.engine.call import HandlerResponse

NO_CONTENT = 204
"""Goes without a body, and without the length of one (RFC 9110, 8.6)."""


async def send_response(send: Send, response: HandlerResponse, extra: Headers = ()) -> None:
    """Sends a response.

    Args:
        send: ASGI's.
        response: A body that JSON can express is sent as JSON, bytes as they are, None as no content.
        extra: Headers beside the response's own.
    """
    if response.status == NO_CONTENT:
        response = response._replace(body=None)
    body = b"" if response.body is None else response.body
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    headers = []
    if response.status != NO_CONTENT:
        headers.append((b"content-length", str(len(content)).encode()))
    if response.body is not None:
        headers.append((b"content-type", response.media_type.encode()))
    headers += [
        (name.encode(), text.encode("latin-1")) for name, text in (*response.headers, *extra)
    ]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


async def stream_response(receive: Receive, send: Send, response: HandlerResponse) -> None:
    """Streams a response until it ends, or the client disconnects."""
    headers = [(b"content-type", response.media_type.encode()), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    leaving = asyncio.ensure_future(_left(receive))
    chunks = aiter(response.body)
    try:
        while not leaving.done():
            chunk = asyncio.ensure_future(anext(chunks))
            await asyncio.wait({chunk, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not chunk.done():
                chunk.cancel()
                await asyncio.wait({chunk})  # it must have ended before its source can
                break
            await send({"type": "http.response.body", "body": chunk.result(), "more_body": True})
    except StopAsyncIteration:
        await send({"type": "http.response.body", "body": b""})
    finally:
        leaving.cancel()
        await chunks.aclose()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def field_value(text: str) -> bytes:
    """Returns a text as the value of a header: without what a field value may not hold.

    A control character would make the server drop the connection (RFC 9110, 5.5).
    """
    return "".join(c if c.isprintable() else "?" for c in text).encode("latin-1", "replace")


def problem_response(status: int, title: str, detail: str) -> HandlerResponse:
    """Returns a problem of the mock itself, which production could never send (RFC 9457)."""
    body = {"title": title, "status": status, "detail": detail}
    return HandlerResponse(body, status, "application/problem+json")

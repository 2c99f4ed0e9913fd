"""Takes a request's body off the wire, whole and bounded, before anyone judges it."""

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.errors import BadRequest, ContentTooLarge
from understudy.mock.engine.request_context import context_of

MAX_BODY_BYTES = 11 * 1024 * 1024
"""An upload of 10 MB and what multipart puts around it."""

DRAINED_BYTES = 64 * 1024 * 1024
"""How much of an oversize body is still read, so that the client hears the answer and not a reset."""


class BodyGuard:
    """Reads the body into the exchange.

    Args:
        app: The next layer, which finds no body left to receive.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reads the body, if the headers announce one, and goes on.

        Raises:
            ContentTooLarge: It is larger than the mock takes.
            BadRequest: The client went away in the middle.
        """
        context = context_of(scope)
        if b"content-length" in context.headers or b"transfer-encoding" in context.headers:
            context.body = await _read(receive)
        await self._app(scope, receive, send)


async def _read(receive: Receive) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            msg = "The body ended before its announced length."
            raise BadRequest(msg, code="incomplete_body")
        chunk = message.get("body", b"")
        size += len(chunk)
        if size <= MAX_BODY_BYTES:
            chunks.append(chunk)
        if size > DRAINED_BYTES or not message.get("more_body"):
            break
    if size > MAX_BODY_BYTES:
        msg = f"The body has more than {MAX_BODY_BYTES:,} bytes; send a smaller one."
        raise ContentTooLarge(msg, code="content_too_large")
    return b"".join(chunks)

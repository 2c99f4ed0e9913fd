"""Takes a request's body off the wire, whole and bounded, before anyone judges it."""

import asyncio

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.errors import BadRequest
from understudy.limits import BODY_BYTES, BODY_SECONDS, FORM_BYTES, FORM_FIELDS
from understudy.mock.server.request_context import RequestContext, context_of

MOST_DRAINED_BYTES = 64 * 1024 * 1024
"""Bytes of an oversize body that are still read, so that the client gets the response and no reset."""


class BodyGuard:
    """Reads the body into the request context.

    Args:
        app: The next layer, which finds no body left to receive.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reads the body, if the headers announce one, and calls the next layer.

        Raises:
            LimitExceeded: It is too large or too slow.
            BadRequest: The client went away in the middle, or its transfer coding is not known.
        """
        context = context_of(scope)
        if b"content-length" in context.headers or b"transfer-encoding" in context.headers:
            _expect_readable_coding(context)
            context.body = await _read(receive)
        await self._app(scope, receive, send)


def _expect_readable_coding(context: RequestContext) -> None:
    coding = context.headers.get(b"transfer-encoding", b"chunked").strip().lower()
    if coding != b"chunked":
        msg = f"Transfer-Encoding {coding.decode('latin-1')!r} is not read here; send chunked."
        raise BadRequest(msg, code="unknown_transfer_coding")


def expect_bounded_fields(context: RequestContext) -> None:
    """Counts the fields of the query, and fields and bytes of a form, before anyone parses them.

    Raises:
        LimitExceeded: There are too many.
    """
    if context.query:
        FORM_FIELDS.check(context.query.count(b"&"))
    if (
        len(context.body) > FORM_FIELDS.most
        and b"urlencoded" in context.headers.get(b"content-type", b"").lower()
    ):
        FORM_FIELDS.check(context.body.count(b"&"))
        FORM_BYTES.check(len(context.body))


async def _read(receive: Receive) -> bytes:
    try:
        async with asyncio.timeout(BODY_SECONDS.most):
            return await _read_bounded(receive)
    except TimeoutError:
        raise BODY_SECONDS.exceeded() from None


async def _read_bounded(receive: Receive) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            msg = "The body ended before its announced length."
            raise BadRequest(msg, code="incomplete_body")
        chunk = message.get("body", b"")
        size += len(chunk)
        if size <= BODY_BYTES.most:
            chunks.append(chunk)
        if size > MOST_DRAINED_BYTES or not message.get("more_body"):
            break
    BODY_BYTES.check(size)
    return b"".join(chunks)

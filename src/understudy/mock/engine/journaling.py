"""Selects a request's world, makes its context, and journals it: the outermost middleware."""

import logging
from collections.abc import Callable, Sequence
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.errors import MockRefusal, Problem
from understudy.limits import HEADER_BYTES, HEADER_FIELDS, JOURNAL_BODY_BYTES, TARGET_BYTES
from understudy.mock.engine.admin_guard import BASE_PATH
from understudy.mock.engine.forwarding import expect_forwarded
from understudy.mock.engine.hosts import expect_host
from understudy.mock.engine.request_context import Addresses, RequestContext, header_bytes
from understudy.mock.engine.response_sending import WireResponse
from understudy.mock.engine.world_selection import Worlds
from understudy.mock.engine.worlds import World
from understudy.openapi.paths import ENCODED_SLASH, Paths, decoded_path

_log = logging.getLogger(__name__)

RequestListener = Callable[[RequestContext], None]
"""Called with the context of every finished request."""


class Journaling:
    """Selects the world of each request, and journals the request once it is finished.

    Args:
        worlds: Where requests happen.
        paths: Those that are served; the base path of the first API may be left out.
        listeners: What is called with every finished request before it is in the journal, and the
            log, which is called afterwards.
        addresses: The addresses of the two servers.
    """

    def __init__(
        self,
        worlds: Worlds,
        paths: Paths,
        listeners: tuple[Sequence[RequestListener], RequestListener | None],
        addresses: Addresses,
    ) -> None:
        self._worlds = worlds
        self._paths = paths
        self._records, self._log = listeners
        self._addresses = addresses

    def begin(self, scope: Scope) -> RequestContext:
        """Returns the context of a request; the path in its scope becomes the one in its world."""
        if b"%2" in (scope.get("raw_path") or b""):  # the server has decoded slashes, too
            scope["path"] = decoded_path(scope["raw_path"].decode("latin-1"))
        context = self._context(scope)
        scope["path"] = self._paths.based(context.path)
        if ENCODED_SLASH in context.path:
            context.path = context.path.replace(ENCODED_SLASH, "%2F")
        return context

    def end(self, context: RequestContext) -> None:
        """Journals a request, after its response was sent."""
        for record in self._records:
            record(context)
        if not context.path.startswith(BASE_PATH):
            _journal(context)
        if self._log is not None:
            self._log(context)
        _commit_late(context.world)

    def _context(self, scope: Scope) -> RequestContext:
        headers = dict(scope["headers"])
        try:
            world, scope["path"] = self._worlds.of(scope["path"], headers)
        except MockRefusal as refusal:  # raised further in, where errors get their shape
            context = RequestContext(scope, headers, self._worlds.default, self._addresses)
            context.refused(refusal)
            return context
        return RequestContext(scope, headers, world, self._addresses)


class JournalMiddleware:
    """Journals every request, whatever becomes of it.

    Args:
        app: The next layer.
        journaling: Does so.
    """

    def __init__(self, app: ASGIApp, journaling: Journaling) -> None:
        self._app = app
        self._journaling = journaling

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Calls the next layer, and journals the request. What is not HTTP gets no response."""
        if scope["type"] != "http":
            return
        context = self._journaling.begin(scope)
        started = perf_counter()

        async def sending(message: Message) -> None:
            _note_message(context, message)
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            context.seconds = perf_counter() - started
            self._journaling.end(context)


def expect_bounded_head(context: RequestContext) -> None:
    """Refuses a request whose header or target is too large, or that names no host.

    Raises:
        LimitExceeded: It has too many header fields, or too many bytes of them or of its target.
        BadRequest: It does not say once, and plainly, which host it means.
    """
    TARGET_BYTES.check(len(context.path) + len(context.query))
    HEADER_FIELDS.check(len(context.sent_headers))
    HEADER_BYTES.check(context.head_bytes)
    expect_host(context.http_version, context.headers, context.repeated_headers)
    expect_forwarded(context.headers, context.sent_headers)


def expect_world(context: RequestContext) -> None:
    """Refuses a request whose world does not exist, or that should have named one.

    Raises:
        MockRefusal: It is such a request.
    """
    if context.refusal is not None:
        raise context.refusal.problem


def note_response(context: RequestContext, response: WireResponse) -> None:
    """Notes what is about to be sent; changes are committed before the response is sent.

    Raises:
        Problem: The changes could not be kept, and are undone.
    """
    _commit(context.world)
    context.status, context.response_headers, context.response_body = response


def _note_message(context: RequestContext, message: Message) -> None:
    """Notes an ASGI message that is about to be sent, as ``note_response`` does."""
    if message["type"] == "http.response.start":
        note_response(context, WireResponse(message["status"], message["headers"], b""))
    elif len(context.response_body) < JOURNAL_BODY_BYTES.most:
        context.response_body += message.get("body", b"")


def _commit_late(world: World) -> None:
    """Commits what the listeners changed; the response is on its way, so a failure is only logged."""
    try:
        _commit(world)
    except Problem as problem:
        _log.warning("%s", problem.message)


def _commit(world: World) -> None:
    if world.store is not None:
        world.store.commit(world)


def _journal(context: RequestContext) -> None:
    """Puts a request into its world's journal, cut to what is worth keeping."""
    context.body = context.body[: JOURNAL_BODY_BYTES.most]
    context.response_body = context.response_body[: JOURNAL_BODY_BYTES.most]
    context.path = context.path[: TARGET_BYTES.most]
    context.query = context.query[: TARGET_BYTES.most]
    if len(context.sent_headers) > HEADER_FIELDS.most or context.head_bytes > HEADER_BYTES.most:
        headers = [(n[:100], text[:100]) for n, text in context.sent_headers[: HEADER_FIELDS.most]]
        context.sent_headers = headers
        context.headers = dict(headers)
        context.head_bytes = header_bytes(headers)
    context.arguments = {}  # uploads are large, and the body says the same
    context.world.journal.add(context)

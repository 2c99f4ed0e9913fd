"""Selects a request's world, makes its context, and journals it: the outermost middleware."""

import logging
from collections.abc import Callable, Sequence
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.errors import MockRefusal, Problem
from understudy.limits import HEADER_BYTES, HEADER_FIELDS, JOURNAL_BODY_BYTES, TARGET_BYTES
from understudy.mock.server.admin_guard import PRIVATE_PATHS
from understudy.mock.server.forwarding import expect_forwarded
from understudy.mock.server.hosts import expect_host
from understudy.mock.server.request_context import (
    NO_ARGUMENTS,
    Addresses,
    RequestContext,
    put_context,
)
from understudy.mock.server.request_head import Peer, RequestHead
from understudy.mock.server.reserved_paths import is_reserved
from understudy.mock.server.response_sending import WireResponse
from understudy.mock.server.rewinding import settle
from understudy.mock.server.world_selection import Worlds
from understudy.mock.server.world_store import WorldStore
from understudy.mock.server.worlds import World
from understudy.openapi.paths import Paths

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

    def begin(self, head: RequestHead, peer: Peer) -> RequestContext:
        """Returns the context of a request, in the world that it selects."""
        try:
            world = self._worlds.of(head.named_world, head.path_in_world)
        except MockRefusal as refusal:  # raised further in, where errors get their shape
            context = RequestContext(head, peer, self._worlds.default, self._addresses)
            context.refused(refusal)
            return context
        return RequestContext(head, peer, world, self._addresses)

    def based(self, context: RequestContext) -> str:
        """Returns the path of a request with its base path, which it may have left out."""
        path = context.head.path_in_world
        return path if is_reserved(path) else self._paths.based(path)

    def refuse(self, head: RequestHead, peer: Peer, problem: Problem) -> RequestContext:
        """Returns the context of a request that is refused whatever it asks for."""
        context = RequestContext(head, peer, self._worlds.default, self._addresses)
        context.refused(problem)
        return context

    def observe(self, context: RequestContext) -> None:
        """Tells the listeners of a request whose response is ready."""
        for record in self._records:
            record(context)

    def log(self, context: RequestContext) -> None:
        """Writes the line of a finished request into the log."""
        if self._log is not None:
            self._log(context)

    def end(self, context: RequestContext) -> None:
        """Journals a request, after its response was sent."""
        self.observe(context)
        settle(context)
        world = context.world
        if not context.path.startswith(PRIVATE_PATHS):
            shorten(context)
            world.journal.add(context)
            world.history.number(context, context.number)
        self.log(context)
        if world.store is not None:
            _commit_late(world, world.store)


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
        context = self._journaling.begin(RequestHead.of(scope), Peer.of(scope))
        put_context(scope, context)
        scope["path"] = self._journaling.based(context)
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
    head = context.head
    if head.is_bounded:
        return
    TARGET_BYTES.check(len(context.path) + len(context.query))
    HEADER_FIELDS.check(len(head.fields))
    HEADER_BYTES.check(head.byte_count)
    expect_host(head.http_version, head.headers, head.repeated_headers)
    expect_forwarded(head.headers, head.fields)
    head.is_bounded = True


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
    settle(context)
    world = context.world
    if world.store is not None:
        world.store.commit(world)
    context.status = response.status
    context.response_headers = response.headers
    context.response_body = response.body


def _note_message(context: RequestContext, message: Message) -> None:
    """Notes an ASGI message that is about to be sent, as ``note_response`` does."""
    if message["type"] == "http.response.start":
        note_response(context, WireResponse(message["status"], message["headers"], b""))
    elif len(context.response_body) < JOURNAL_BODY_BYTES.most:
        context.response_body += message.get("body", b"")


def _commit_late(world: World, store: WorldStore[World]) -> None:
    """Commits what the listeners changed; the response is on its way, so a failure is only logged."""
    try:
        store.commit(world)
    except Problem as problem:
        _log.warning("%s", problem.message)


def shorten(context: RequestContext) -> None:
    """Cuts a request to what is worth keeping in the journal."""
    context.body = context.body[: JOURNAL_BODY_BYTES.most]
    context.response_body = context.response_body[: JOURNAL_BODY_BYTES.most]
    if not context.head.is_bounded:
        _cut_head(context)
    context.arguments = NO_ARGUMENTS  # uploads are large, and the body says the same


def _cut_head(context: RequestContext) -> None:
    """Cuts what may be beyond the limits, as it was refused for that."""
    context.path = context.path[: TARGET_BYTES.most]
    context.query = context.query[: TARGET_BYTES.most]
    fields = context.head.fields
    if len(fields) > HEADER_FIELDS.most or context.head.byte_count > HEADER_BYTES.most:
        fields = [(name[:100], text[:100]) for name, text in fields[: HEADER_FIELDS.most]]
    head = RequestHead(context.method, context.path, context.query, fields)
    context.head, context.headers, context.sent_headers = head, head.headers, head.fields

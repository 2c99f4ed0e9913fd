"""Selects a request's world, makes its context, and journals it: the outermost layer.

It also attributes changes of a world to requests, and computes the world's state before a request.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.errors import Conflict, MockRefusal, Problem
from understudy.limits import HEADER_BYTES, HEADER_FIELDS, JOURNAL_BODY_BYTES, TARGET_BYTES
from understudy.mock.server.call import NO_ARGUMENTS
from understudy.mock.server.faults import WireResponse
from understudy.mock.server.hosts import (
    BASE_PATH,
    PRIVATE_PATHS,
    expect_host,
    forwarded_address,
    is_reserved,
)
from understudy.mock.server.journal import ABSENT, HistoryEntry, RequestChanges, StateStep
from understudy.mock.server.request_context import (
    Addresses,
    Peer,
    RequestContext,
    RequestHead,
    RequestTarget,
    put_context,
)
from understudy.mock.server.windows import WINDOW, Window
from understudy.mock.server.world_selection import Worlds
from understudy.mock.server.worlds import Snapshot, World, WorldStore
from understudy.openapi.paths import Paths


def settle(context: RequestContext) -> None:
    """Adds the changes of a request to the history, unless the store numbers requests and does it."""
    world = context.world
    if world.store is not None and world.store.numbers_requests:
        return
    changes = collected(world)
    if changes is None:
        return
    call = context.method, context.path
    entry = HistoryEntry(context.started, call, world.journal.total, changes)
    world.history.settle(entry)
    if not context.path.startswith(BASE_PATH):
        world.history.expect_number(context, entry)


def collected(world: World) -> RequestChanges | None:
    """Returns the changes of a world since the last call; None if nothing changed."""
    issued = world.identifiers.count
    if world.history.is_settled(issued):
        return None
    return world.history.collect(issued, lambda: world.settings)


def undone(world: World, number: int) -> tuple[HistoryEntry, ...]:
    """Returns the history's entries from a request on, the newest first.

    Raises:
        Conflict: The history does not reach back to the request.
    """
    if number <= world.history.forgotten:
        msg = (
            f"The history of this world does not reach back to request {number}: it begins after "
            f"request {world.history.forgotten}."
        )
        raise Conflict(msg, code="history_forgotten")
    entries = tuple(world.history)
    first = next((n for n, entry in enumerate(entries) if entry.place >= number), len(entries))
    return entries[first:][::-1]


def state_before(world: World, number: int) -> Snapshot:
    """Returns the state of a world before one of its requests.

    Args:
        world: World, which is not changed.
        number: Number of the request in the journal; the number after the last: the current state.

    Raises:
        Conflict: The history does not reach back to the request.
    """
    snapshot = world.snapshot()
    for entry in undone(world, number):
        snapshot = _without(snapshot, entry)
    return snapshot._replace(windows=_windows_before(world, snapshot.windows, number))


def _without(snapshot: Snapshot, entry: HistoryEntry) -> Snapshot:
    """Returns a state with the changes of its last entry undone."""
    for step in reversed(entry.changes.steps):
        if isinstance(step, StateStep):
            before: Snapshot = step.before
            overlay = {name: dict(records) for name, records in before.overlay.items()}
            snapshot = before._replace(overlay=overlay)
            continue
        records: Any = snapshot.overlay.get(step.collection)
        if records is None:
            records = snapshot.overlay[step.collection] = {}  # type: ignore[index]  # our own copy
        if step.before is ABSENT:
            records.pop(step.key, None)
        else:
            records[step.key] = step.before
    settings: Mapping[str, Any] = entry.changes.settings or {}
    return snapshot._replace(issued=entry.changes.issued, **settings)


def _windows_before(
    world: World, windows: Mapping[str, Window], number: int
) -> Mapping[str, Window]:
    """Returns the rate-limit windows before a request, computed from the headers of responses."""
    before = dict(windows)
    contexts = [context for context in world.journal if context.number >= number]
    for context in reversed(contexts):
        headers = dict(context.extra_headers)
        if "x-ratelimit-remaining" not in headers:
            continue
        who = context.principal.person if context.principal else f"address {context.client}"
        used = int(headers["x-ratelimit-limit"]) - int(headers["x-ratelimit-remaining"])
        used -= context.status != 429  # noqa: PLR2004 - RFC 6585, 4: it was not counted
        before[who] = Window(_opened(before.get(who), int(headers["x-ratelimit-reset"])), used)
    return before


def _opened(window: Window | None, reset: int) -> datetime:
    """Returns the opening time of a window, from the Unix time of its end."""
    if window is not None and int((window.opened + WINDOW).timestamp()) == reset:
        return window.opened
    return datetime.fromtimestamp(reset, UTC) - WINDOW


_log = logging.getLogger(__name__)

RequestListener = Callable[[RequestContext], None]
"""Called with the context of every finished request."""


@dataclass(frozen=True, slots=True)
class Journaling:
    """Selects the world of each request, and journals the request once it is finished.

    Attributes:
        worlds: Worlds that requests may select.
        paths: Served paths; requests may omit the base path of the first API.
        records: Called with every finished request, before it is journalled.
        log_line: Called with every finished request, once it is journalled; None for no log.
        addresses: Addresses of the two servers.
    """

    worlds: Worlds
    paths: Paths
    records: Sequence[RequestListener]
    log_line: RequestListener | None
    addresses: Addresses

    def begin(self, head: RequestHead, peer: Peer) -> RequestContext:
        """Returns the context of a request, in the world that it selects."""
        try:
            world = self.worlds.of(head.selection)
        except MockRefusal as refusal:  # expect_world raises it, where errors become responses
            return self.refuse(head, peer, refusal)
        return RequestContext.of(head, peer, world, self.addresses)

    def based(self, context: RequestContext) -> str:
        """Returns the path of a request with its base path, which the client may have omitted."""
        path = context.head.selection.path
        return path if is_reserved(path) else self.paths.based(path)

    def refuse(self, head: RequestHead, peer: Peer, problem: Problem) -> RequestContext:
        """Returns the context of a request that is refused before it is read."""
        context = RequestContext.of(head, peer, self.worlds.default, self.addresses)
        context.refused(problem)
        return context

    def observe(self, context: RequestContext) -> None:
        """Calls the listeners with a request whose response is ready."""
        for record in self.records:
            record(context)

    def log(self, context: RequestContext) -> None:
        """Logs a finished request."""
        if self.log_line is not None:
            self.log_line(context)

    def end(self, context: RequestContext) -> None:
        """Journals a request, after its response was sent."""
        for record in self.records:
            record(context)
        world = context.world
        if not world.history.is_settled(world.identifiers.count):
            settle(context)
        is_part_of_page = context.endpoint is None and context.is_part_of_page
        if not context.path.startswith(PRIVATE_PATHS) and not is_part_of_page:
            shorten(context)
            world.journal.add(context)
            if world.history.unnumbered:
                world.history.number(context, context.number)
        if self.log_line is not None:
            self.log_line(context)
        if world.store is not None:
            _commit_late(world, world.store)

    async def serve(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs an application for a request, and journals the request even if it fails."""
        context = self.begin(RequestHead.of(scope), Peer.of(scope))
        put_context(scope, context)
        scope["path"] = self.based(context)
        started = perf_counter()

        async def sending(message: Message) -> None:
            _note_message(context, message)
            await send(message)

        try:
            await app(scope, receive, sending)
        finally:
            context.seconds = perf_counter() - started
            self.end(context)


def expect_bounded_head(context: RequestContext) -> None:
    """Refuses a request whose header or target is too large, or whose Host is invalid.

    Raises:
        LimitExceeded: The request has too many header fields, or its header or target too many bytes.
        BadRequest: The Host header is missing, repeated or invalid, or a Forwarded header is invalid.
    """
    head = context.head
    if len(context.path) + len(context.query) > TARGET_BYTES.most:
        raise TARGET_BYTES.exceeded()
    if len(head.fields) > HEADER_FIELDS.most:
        raise HEADER_FIELDS.exceeded()
    if head.byte_count > HEADER_BYTES.most:
        raise HEADER_BYTES.exceeded()
    expect_host(head.http_version, head.headers, head.repeated_headers)
    if b"forwarded" in head.headers:
        forwarded_address(head.fields)
    head.is_bounded = True


def expect_world(context: RequestContext) -> None:
    """Refuses a request whose world does not exist, or that must name one and does not.

    Raises:
        MockRefusal: No world was selected.
    """
    if context.refusal is not None:
        raise context.refusal.problem


def note_response(context: RequestContext, response: WireResponse) -> None:
    """Commits the changes of a request, and notes its response, which may be sent then.

    Raises:
        Problem: The changes could not be stored, and are undone.
    """
    world = context.world
    if world.store is not None:
        settle(context)
        world.store.commit(world)
    context.status = response.status
    context.response_headers = response.headers
    context.response_body = response.body


def _note_message(context: RequestContext, message: Message) -> None:
    """Notes an ASGI message that is about to be sent, as ``note_response`` does."""
    if message["type"] == "http.response.start":
        settle(context)  # others may change the world before the response is sent
        note_response(context, WireResponse(message["status"], message["headers"], b""))
    elif len(context.response_body) < JOURNAL_BODY_BYTES.most:
        context.response_body += message.get("body", b"")


def _commit_late(world: World, store: WorldStore) -> None:
    """Commits changes by listeners; a failure is only logged, since the response is already sent."""
    try:
        store.commit(world)
    except Problem as problem:
        _log.warning("%s", problem.message)


def shorten(context: RequestContext) -> None:
    """Truncates a request for the journal."""
    if context.body:
        context.body = context.body[: JOURNAL_BODY_BYTES.most]
    if len(context.response_body) > JOURNAL_BODY_BYTES.most:
        context.response_body = context.response_body[: JOURNAL_BODY_BYTES.most]
    if not context.head.is_bounded:
        _cut_head(context)
    context.arguments = NO_ARGUMENTS  # uploads are large, and the body has them already


def _cut_head(context: RequestContext) -> None:
    """Truncates target and header fields of a request that may have been refused for their size."""
    context.path = context.path[: TARGET_BYTES.most]
    context.query = context.query[: TARGET_BYTES.most]
    fields = context.head.fields
    if len(fields) > HEADER_FIELDS.most or context.head.byte_count > HEADER_BYTES.most:
        fields = [(name[:100], text[:100]) for name, text in fields[: HEADER_FIELDS.most]]
    head = RequestHead(context.method, RequestTarget(context.path, context.query), fields)
    context.head, context.headers, context.sent_headers = head, head.headers, head.fields

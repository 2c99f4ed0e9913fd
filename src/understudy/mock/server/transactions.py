"""Runs each request as a transaction on worlds that several processes share.

This is optimistic concurrency: a request is handled with the process's own copy of its world, without
network calls, and committed by one call of the store before a byte of its response is sent. If the copy
turns out to be stale, the store returns what changed, all changes are rolled back, and the request is
handled again. Handlers depend only on the request and the world, so clients cannot notice a retry.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter
from typing import Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.errors import Problem, ShuttingDown, StoreUnavailable
from understudy.limits import JOURNAL_BODY_BYTES
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.fast_path import Continuation, FastPath, Worked
from understudy.mock.server.faults import WireResponse
from understudy.mock.server.hosts import CONSOLE_PATH, HEALTH_PATH, PRIVATE_PATHS
from understudy.mock.server.journaling import Journaling
from understudy.mock.server.request_context import Peer, RequestContext, RequestHead, put_context
from understudy.mock.server.response_sending import DELIVERY, send_wire, wait
from understudy.mock.server.worlds import DEFAULT, WorldSelection


class Transaction(Protocol):
    """One attempt at a request, which locks its worlds within this process."""

    @property
    def names(self) -> frozenset[str]:
        """Names of the locked worlds."""

    @property
    def is_over(self) -> bool:
        """True once the transaction was committed or rolled back."""

    def add(self, context: RequestContext) -> None:
        """Adds a request whose response is ready, with all changes since the last added one."""

    async def commit(self) -> None:
        """Commits the changes of the added requests, with their entries in the journal.

        Raises:
            Superseded: A world was stale, and all changes were rolled back.
        """

    async def pause(self, receive: Receive) -> Message:
        """Receives a message of the client, with the worlds unlocked meanwhile.

        Raises:
            Superseded: Another request has changed the worlds meanwhile.
        """

    def end(self) -> None:
        """Rolls back uncommitted changes, and unlocks the worlds."""


class Delivery:
    """Sends one response, and holds its messages until the request is committed."""

    def __init__(
        self, transaction: Transaction, journaling: Journaling, context: RequestContext, send: Send
    ) -> None:
        self._transaction = transaction
        self._journaling = journaling
        self._context = context
        self._started = perf_counter()
        self._send = send
        self._unsent: list[Message] = []
        self._body = b""
        self._is_stream = context.path.startswith(PRIVATE_PATHS)
        self._delay: tuple[Receive, float] | None = None
        self.is_done = False

    def delay(self, receive: Receive, seconds: float) -> None:
        """Sets the seconds to wait between the commit and the first message."""
        self._delay = receive, seconds

    async def commit(self, body: bytes) -> None:
        """Commits the request with its whole body, and sends the messages held so far.

        Raises:
            Superseded: A world was stale; the request must be handled again.
        """
        context = self._context
        context.response_body = body
        context.seconds = perf_counter() - self._started
        if not self._transaction.is_over:  # a handler may have committed what it has read
            self._journaling.observe(context)
            self._transaction.add(context)
            await self._transaction.commit()
        self.is_done = True
        if self._delay is not None:
            await wait(*self._delay)
        for message in self._unsent:
            await self._send(message)

    async def __call__(self, message: Message) -> None:
        """Sends a message, or holds it until the commit.

        The commit follows the last piece of a body, or the last that the journal keeps.

        Raises:
            Superseded: A world was stale; the request must be handled again.
        """
        if self.is_done:
            await self._send(message)
            return
        self._unsent.append(message)
        if message["type"] == "http.response.start":
            self._context.status = message["status"]
            self._context.response_headers = message["headers"]
            return
        self._body += message.get("body", b"")
        is_last = not message.get("more_body", False)
        if is_last or self._is_stream or len(self._body) >= JOURNAL_BODY_BYTES.most:
            await self.commit(self._body)


_MOST_ATTEMPTS = 100
"""Attempts at one request before it fails; only other requests that change its world cause retries."""

_BACKOFF = 0.0005
"""Seconds of linear backoff per attempt, after the first few."""

_BODY_HEADERS = frozenset({b"content-length", b"transfer-encoding"})
"""Headers that announce a body (RFC 9112, 6.3)."""

_AT_ONCE = 3
"""First attempts, which follow one another without waiting."""


REFUSAL = "understudy.refusal"
"""Scope key of the problem that prevented the commit of a request; its value may be None."""


async def back_off(attempt: int) -> None:
    """Waits before an attempt, longer with each attempt.

    Raises:
        StoreUnavailable: There were too many attempts.
    """
    if attempt == _MOST_ATTEMPTS:
        msg = f"{_MOST_ATTEMPTS} attempts were in vain, as others kept changing this world."
        raise StoreUnavailable(msg)
    if attempt > _AT_ONCE:
        await asyncio.sleep(_BACKOFF * attempt)


class Superseded(BaseException):
    """Aborts an attempt at a request; a BaseException, so that no layer turns it into a response.

    Args:
        names: Further worlds that the request turned out to need.
        problem: Reason why no further attempt can succeed; None: try again.
    """

    def __init__(self, names: Iterable[str] = (), problem: Problem | None = None) -> None:
        super().__init__()
        self.names = frozenset(names)
        self.problem = problem


class SharedStore(Protocol):
    """A store that several processes share."""

    async def prepare(self, selected: WorldSelection) -> frozenset[str]:
        """Loads the world that a request selects; returns the names of the worlds that it needs.

        Raises:
            StoreUnavailable: The store does not respond.
            Superseded: The store was replaced by another since the last call.
        """

    async def begin(self, names: frozenset[str]) -> Transaction:
        """Begins a transaction on these worlds, once no other transaction of this process has them."""

    async def close(self) -> None:
        """Closes the connection to the store."""

    def serve(self, endpoints: Iterable[Endpoint]) -> None:
        """Sets the operations of the documents in force, which journal entries refer to."""


async def committed(
    store: SharedStore, selected: WorldSelection, attempt: Callable[[Transaction], Awaitable[None]]
) -> None:
    """Runs attempts until one is committed.

    Args:
        store: Store that the replicas share.
        selected: World of the request; an attempt may turn out to need others, too.
        attempt: Handles the request within a transaction, and commits it.

    Raises:
        Problem: No transaction can be committed.
    """
    names: frozenset[str] = frozenset()
    for number in count():
        await back_off(number)
        transaction = None
        try:
            needed = await store.prepare(selected)
            transaction = await store.begin(names | needed)
            await attempt(transaction)
        except Superseded as reason:
            if reason.problem is not None:
                raise reason.problem from None
            names |= reason.names
        else:
            return
        finally:
            if transaction is not None:
                transaction.end()


class TransactionMiddleware:
    """Runs every request as a transaction, and journals it: the outermost layer of a replica."""

    def __init__(self, app: ASGIApp, journaling: Journaling, store: SharedStore) -> None:
        self._app = app
        self._journaling = journaling
        self._store = store

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a request."""
        head = RequestHead.of(scope)
        refusal: Problem | None = scope.get(REFUSAL)
        path = head.selection.path
        if path == HEALTH_PATH or path.startswith(CONSOLE_PATH):
            await self._prepare(head.selection)
            await self._journaling.serve(self._app, scope, receive, send)
            return
        has_body = not _BODY_HEADERS.isdisjoint(head.headers)
        replayed = ReplayedReceive(receive, has_body=has_body)
        if refusal is None:

            async def attempt(transaction: Transaction) -> None:
                replayed.rewind(transaction)
                await self._attempt(transaction, head, scope, replayed, send)

            try:
                await committed(self._store, head.selection, attempt)
            except Problem as problem:
                refusal = problem
            else:
                return
        replayed.rewind(None)
        context = self._journaling.refuse(head, Peer.of(scope), refusal)
        await self._app(self._routed(context, scope), replayed, send)

    async def _prepare(self, selected: WorldSelection) -> None:
        """Loads the world of a page, if the store responds; health and console work without it."""
        with suppress(Problem):
            for attempt in count():
                await back_off(attempt)
                with suppress(Superseded):
                    await self._store.prepare(selected)
                    return

    async def _attempt(
        self,
        transaction: Transaction,
        head: RequestHead,
        scope: Scope,
        receive: "ReplayedReceive",
        send: Send,
    ) -> None:
        context = self._journaling.begin(head, Peer.of(scope))
        if context.world.name not in transaction.names:
            raise Superseded([context.world.name])
        delivery = Delivery(transaction, self._journaling, context, send)
        routed = self._routed(context, scope)
        routed[DELIVERY] = delivery
        try:
            await self._app(routed, receive, delivery)
        finally:
            if delivery.is_done:
                put_context(scope, context)
                self._journaling.log(context)

    def _routed(self, context: RequestContext, scope: Scope) -> Scope:
        """Returns a copy of the scope for one attempt, since the layers write into their scope."""
        own = {**scope, "extensions": dict(scope.get("extensions") or {})}
        put_context(own, context)
        own["path"] = self._journaling.based(context)
        return own


class ReplayedReceive:
    """ASGI receive that keeps the body of a request, and replays it for further attempts."""

    def __init__(self, receive: Receive, *, has_body: bool) -> None:
        self._receive = receive
        self._is_whole = not has_body
        self._messages: list[Message] = []
        self._place = 0
        self._transaction: Transaction | None = None

    def rewind(self, transaction: Transaction | None) -> None:
        """Starts again with the first message, for the next attempt."""
        self._transaction, self._place = transaction, 0

    async def __call__(self) -> Message:
        """Returns the next message.

        Raises:
            Superseded: Another request changed the world while the client was still sending.
        """
        if self._place == len(self._messages):
            if self._is_whole or self._transaction is None or self._transaction.is_over:
                return await self._receive()  # returns when the client disconnects
            await self._transaction.pause(self._keep_next)
        self._place += 1
        return self._messages[self._place - 1]

    async def _keep_next(self) -> Message:
        message = await self._receive()
        self._messages.append(message)
        self._is_whole = not message.get("more_body", False)
        return message


# Group commit: ordinary requests that wait for the same world are handled one after another and committed
# by one call of the store. Otherwise each would wait for the calls of all requests before it.

_MOST_AT_ONCE = 64
"""Requests of a group at most; a larger one would delay other worlds by milliseconds."""


class Groups:
    """Groups the requests of one address by their world, and commits each group at once."""

    def __init__(self, fast_path: FastPath, store: SharedStore, stack: ASGIApp) -> None:
        self.stack = stack
        self._fast_path = fast_path
        self._store = store
        self._waiting: dict[str, deque[GroupedRequest]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, head: RequestHead, peer: Peer, body: bytes) -> "GroupedRequest | None":
        """Queues a request for the next group of its world.

        Returns:
            ASGI application that sends its response; None where only the stack can respond.
        """
        if not head.is_usual:
            return None
        loop = asyncio.get_running_loop()
        request = GroupedRequest(self, head, peer, body, loop.create_future())
        name = head.selection.name or DEFAULT
        waiting = self._waiting.get(name)
        if waiting is None:
            waiting = self._waiting[name] = deque()
            task = loop.create_task(self._respond(name))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        waiting.append(request)
        return request

    async def _respond(self, name: str) -> None:
        """Handles the queued requests of a world, until the queue is empty."""
        waiting = self._waiting[name]
        group: list[GroupedRequest] = []
        try:
            while waiting:
                group = [waiting.popleft()]
                try:
                    await self._commit(group, waiting)
                except Problem as problem:
                    for request in group:
                        request.end(problem)
        finally:
            del self._waiting[name]
            for request in (*group, *waiting):  # left over only when the event loop stops
                request.response.cancel()

    async def _commit(
        self, group: list["GroupedRequest"], waiting: deque["GroupedRequest"]
    ) -> None:
        """Runs attempts at a group until one is committed.

        Args:
            group: First request; those queued by the time that the world is locked are added.
            waiting: Queue of the requests after it.

        Raises:
            Problem: No transaction can be committed.
        """

        async def attempt(transaction: Transaction) -> None:
            while waiting and len(group) < _MOST_AT_ONCE:
                group.append(waiting.popleft())
            await self._attempt(group, transaction)

        await committed(self._store, group[0].head.selection, attempt)

    async def _attempt(self, group: Sequence["GroupedRequest"], transaction: Transaction) -> None:
        """Handles the requests of a group, except those that only the stack can handle."""
        done: list[tuple[GroupedRequest, RequestContext, WireResponse]] = []
        for request in group:
            if request.response.done():
                continue
            worked = await self._worked(request)
            if worked is None:
                request.end(None)
                continue
            context, response = worked
            self._fast_path.journaling.observe(context)
            transaction.add(context)
            done.append((request, context, response))
        if not done:
            return
        await transaction.commit()
        for request, context, response in done:
            request.end(response)
            self._fast_path.journaling.log(context)

    async def _worked(self, request: "GroupedRequest") -> Worked | None:
        """Handles a request; returns None where only the stack can respond.

        Raises:
            Superseded: The request needs a further world; the stack will handle it.
        """
        try:
            worked = self._fast_path.work(request.head, request.peer, request.body)
            return await worked.work() if isinstance(worked, Continuation) else worked
        except Superseded as reason:
            request.end(None)
            raise Superseded(problem=reason.problem) from None


@dataclass(frozen=True, slots=True)
class GroupedRequest:
    """A queued request, and the ASGI application that sends its response.

    Attributes:
        response: Future of the response, or of the problem that prevented the commit; its result is
            None where only the stack can respond.
    """

    groups: Groups
    head: RequestHead
    peer: Peer
    body: bytes
    response: asyncio.Future[WireResponse | Problem | None] = field(compare=False)

    def end(self, response: WireResponse | Problem | None) -> None:
        """Sets the response, unless one is set."""
        if not self.response.done():
            self.response.set_result(response)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the response once its group is committed."""
        response: WireResponse | Problem | None
        try:
            response = await self.response
        except asyncio.CancelledError:
            response = ShuttingDown()
        if isinstance(response, WireResponse):
            await send_wire(send, response)
        else:
            await self.groups.stack({**scope, REFUSAL: response}, receive, send)

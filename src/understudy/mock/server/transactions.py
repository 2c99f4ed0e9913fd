"""Runs each request as a transaction on worlds that several processes share.

A request is worked on with the process's own copy of its world, which costs no time on the wire, and
is committed by one call of the store before a byte of its response is sent. Where the copy turns out
to be out of date, the store says what changed, everything is taken back, and the request is worked on
again: handlers are functions of the request and the world, so nobody can tell.
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
from understudy.mock.server.direct import Continuation, Direct, Worked
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.faults import WireResponse
from understudy.mock.server.hosts import CONSOLE_PATH, HEALTH_PATH, PRIVATE_PATHS
from understudy.mock.server.journaling import Journaling
from understudy.mock.server.request_context import Peer, RequestContext, RequestHead, put_context
from understudy.mock.server.response_sending import DELIVERY, send_wire, wait
from understudy.mock.server.worlds import DEFAULT, WorldSelection


class Transaction(Protocol):
    """One attempt at a request, on worlds that no other request of this process changes meanwhile."""

    @property
    def names(self) -> frozenset[str]:
        """The worlds that it holds."""

    @property
    def is_over(self) -> bool:
        """True once it was committed, or taken back."""

    def add(self, context: RequestContext) -> None:
        """Records a request whose response is ready, with every change since the last one."""

    async def commit(self) -> None:
        """Commits what the requests have changed, with their entries in the journal.

        Raises:
            Superseded: All of it was taken back, as a world was not what it was taken for.
        """

    async def pause(self, receive: Receive) -> Message:
        """Receives a message of the client, while others may use the worlds.

        Raises:
            Superseded: Another request has changed them meanwhile.
        """

    def end(self) -> None:
        """Takes back what was not committed, and lets others use the worlds."""


class Delivery:
    """The delivery of one response, which begins once its request is committed.

    Args:
        transaction: The transaction of the request.
        journaling: Tells its listeners.
        context: The request.
        send: Sends to the client.

    Attributes:
        is_done: Whether the request is committed.
    """

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
        """Waits so long after the commit before anything is sent, or until the client leaves."""
        self._delay = receive, seconds

    async def commit(self, body: bytes) -> None:
        """Commits the request, and sends what waits; a body that follows in pieces is known before.

        Raises:
            Superseded: The attempt was in vain.
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
        """Sends a message; those before the commit wait for it.

        The first pieces of a body wait for the others, as far as the journal keeps them.

        Raises:
            Superseded: The attempt was in vain.
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
"""Attempts at one request; others would have to change its world between all of them."""

_BACKOFF = 0.0005
"""Seconds that an attempt waits more than the one before it, after the first few."""

_BODY_HEADERS = frozenset({b"content-length", b"transfer-encoding"})
"""Headers that announce a body (RFC 9112, 6.3)."""

_AT_ONCE = 3
"""Attempts that follow one another without waiting."""


REFUSAL = "understudy.refusal"
"""Key of the scope under which the problem is why a request could not be committed, or None."""


async def back_off(attempt: int) -> None:
    """Waits before an attempt, the longer the more there were.

    Raises:
        StoreUnavailable: There were too many.
    """
    if attempt == _MOST_ATTEMPTS:
        msg = f"{_MOST_ATTEMPTS} attempts were in vain, as others kept changing this world."
        raise StoreUnavailable(msg)
    if attempt > _AT_ONCE:
        await asyncio.sleep(_BACKOFF * attempt)


class Superseded(BaseException):
    """Ends an attempt at a request; a BaseException, so that no layer makes a response of it.

    Args:
        names: Worlds that the request turned out to need, too.
        problem: Why no further attempt can succeed; None: the next one may.
    """

    def __init__(self, names: Iterable[str] = (), problem: Problem | None = None) -> None:
        super().__init__()
        self.names = frozenset(names)
        self.problem = problem


class SharedStore(Protocol):
    """A store that several processes share."""

    async def prepare(self, selected: WorldSelection) -> frozenset[str]:
        """Makes the world that a request selects known here; returns what the request needs.

        Raises:
            StoreUnavailable: The store does not respond.
            Superseded: It is another store than before.
        """

    async def begin(self, names: frozenset[str]) -> Transaction:
        """Begins a transaction on these worlds, once no other one uses them."""

    async def close(self) -> None:
        """Closes the connection to the store."""

    def serve(self, endpoints: Iterable[Endpoint]) -> None:
        """Replaces the operations of the documents in force, which journals refer to."""


async def committed(
    store: SharedStore, selected: WorldSelection, attempt: Callable[[Transaction], Awaitable[None]]
) -> None:
    """Makes attempts until one is committed.

    Args:
        store: What the replicas share.
        selected: The world that is worked on; an attempt may turn out to need others, too.
        attempt: Works, and commits.

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
    """Runs every request as a transaction, and journals it: the outermost layer of a replica.

    Args:
        app: The next layer.
        journaling: Makes the context of a request.
        store: What the replicas share.
    """

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
        """Makes the world of a page known here, unless the store does not respond."""
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
        """Returns a scope of its own for an attempt, as the layers write into it."""
        own = {**scope, "extensions": dict(scope.get("extensions") or {})}
        put_context(own, context)
        own["path"] = self._journaling.based(context)
        return own


class ReplayedReceive:
    """Receives the body of a request once, for every attempt at it.

    Args:
        receive: Receives the messages of the client.
        has_body: Whether a body is announced.
    """

    def __init__(self, receive: Receive, *, has_body: bool) -> None:
        self._receive = receive
        self._is_whole = not has_body
        self._messages: list[Message] = []
        self._place = 0
        self._transaction: Transaction | None = None

    def rewind(self, transaction: Transaction | None) -> None:
        """Begins again with the first message, for the next attempt."""
        self._transaction, self._place = transaction, 0

    async def __call__(self) -> Message:
        """Returns the next message.

        Raises:
            Superseded: The client took its time, and another request changed the world meanwhile.
        """
        if self._place == len(self._messages):
            if self._is_whole or self._transaction is None or self._transaction.is_over:
                return await self._receive()  # tells when the client leaves
            await self._transaction.pause(self._keep_next)
        self._place += 1
        return self._messages[self._place - 1]

    async def _keep_next(self) -> Message:
        message = await self._receive()
        self._messages.append(message)
        self._is_whole = not message.get("more_body", False)
        return message


# Ordinary requests that wait for the same world are worked on one after another and committed by one
# call of the store: without groups each of them would wait for the calls of all others before it.

_MOST_AT_ONCE = 64
"""Requests of a group; more would let other worlds wait for milliseconds."""


class Groups:
    """The groups of requests of one address.

    Args:
        direct: Works on ordinary requests.
        store: What the replicas share.
        stack: Responds to all other requests.
    """

    def __init__(self, direct: Direct, store: SharedStore, stack: ASGIApp) -> None:
        self.stack = stack
        self._direct = direct
        self._store = store
        self._waiting: dict[str, deque[GroupedRequest]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, head: RequestHead, peer: Peer, body: bytes) -> "GroupedRequest | None":
        """Lets a request wait for the next group of its world.

        Returns:
            What will send its response; None, where only the stack can respond.
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
        """Works on the requests of a world, until none waits."""
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
            for request in (*group, *waiting):  # of a loop that ends
                request.response.cancel()

    async def _commit(
        self, group: list["GroupedRequest"], waiting: deque["GroupedRequest"]
    ) -> None:
        """Makes attempts at a group until one is committed.

        Args:
            group: The first request; those that wait when its world can be worked on are added.
            waiting: The requests that come after it.

        Raises:
            Problem: No transaction can be committed.
        """

        async def attempt(transaction: Transaction) -> None:
            while waiting and len(group) < _MOST_AT_ONCE:
                group.append(waiting.popleft())
            await self._attempt(group, transaction)

        await committed(self._store, group[0].head.selection, attempt)

    async def _attempt(self, group: Sequence["GroupedRequest"], transaction: Transaction) -> None:
        """Works on every request of a group that does not turn out to be for the stack."""
        done: list[tuple[GroupedRequest, RequestContext, WireResponse]] = []
        for request in group:
            if request.response.done():
                continue
            worked = await self._worked(request)
            if worked is None:
                request.end(None)
                continue
            context, response = worked
            self._direct.journaling.observe(context)
            transaction.add(context)
            done.append((request, context, response))
        if not done:
            return
        await transaction.commit()
        for request, context, response in done:
            request.end(response)
            self._direct.journaling.log(context)

    async def _worked(self, request: "GroupedRequest") -> Worked | None:
        """Works on a request; returns None where only the stack can respond.

        Raises:
            Superseded: It uses another world, too: the stack will work on it.
        """
        try:
            worked = self._direct.work(request.head, request.peer, request.body)
            return await worked.work() if isinstance(worked, Continuation) else worked
        except Superseded as reason:
            request.end(None)
            raise Superseded(problem=reason.problem) from None


@dataclass(frozen=True, slots=True)
class GroupedRequest:
    """A request that waits for its group: an ASGI application for it alone.

    Attributes:
        response: Its response; or the problem that prevents one; None: only the stack can respond.
    """

    groups: Groups
    head: RequestHead
    peer: Peer
    body: bytes
    response: asyncio.Future[WireResponse | Problem | None] = field(compare=False)

    def end(self, response: WireResponse | Problem | None) -> None:
        """Keeps the response, unless there is one."""
        if not self.response.done():
            self.response.set_result(response)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the response once it is committed."""
        response: WireResponse | Problem | None
        try:
            response = await self.response
        except asyncio.CancelledError:
            response = ShuttingDown()
        if isinstance(response, WireResponse):
            await send_wire(send, response)
        else:
            await self.groups.stack({**scope, REFUSAL: response}, receive, send)

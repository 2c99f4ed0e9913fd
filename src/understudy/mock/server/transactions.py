"""Runs each request as a transaction on worlds that several processes share.

A request is worked on with the process's own copy of its world, which costs no time on the wire, and
is committed by one call of the store before a byte of its response is sent. Where the copy turns out
to be out of date, the store says what changed, everything is taken back, and the request is worked on
again: handlers are functions of the request and the world, so nobody can tell.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from typing import Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.errors import Problem, StoreUnavailable
from understudy.mock.server.admin_guard import CONSOLE_PATH, HEALTH_PATH
from understudy.mock.server.delivery import Committable, Delivery, put_delivery
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.journaling import Journaling, JournalMiddleware
from understudy.mock.server.request_context import RequestContext, put_context
from understudy.mock.server.request_head import Peer, RequestHead
from understudy.mock.server.world_names import WorldSelection

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


class Transaction(Committable, Protocol):
    """One attempt at a request, on worlds that no other request of this process changes meanwhile."""

    @property
    def names(self) -> frozenset[str]:
        """The worlds that it holds."""

    async def pause(self, receive: Receive) -> Message:
        """Receives a message of the client, while others may use the worlds.

        Raises:
            Superseded: Another request has changed them meanwhile.
        """

    def end(self) -> None:
        """Takes back what was not committed, and lets others use the worlds."""


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
        """Takes the operations of the documents in force, which journals refer to."""


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
        self._without_store = JournalMiddleware(app, journaling)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a request. What is not HTTP gets no response."""
        if scope["type"] != "http":
            return
        head = RequestHead.of(scope)
        refusal: Problem | None = scope.get(REFUSAL)
        path = head.selection.path
        if path == HEALTH_PATH or path.startswith(CONSOLE_PATH):
            await self._prepare(head.selection)
            await self._without_store(scope, receive, send)
            return
        has_body = not _BODY_HEADERS.isdisjoint(head.headers)
        replayed = ReplayedReceive(receive, has_body=has_body)
        if refusal is None:
            try:
                await self._serve(head, scope, replayed, send)
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

    async def _serve(
        self, head: RequestHead, scope: Scope, receive: "ReplayedReceive", send: Send
    ) -> None:
        """Makes attempts at a request until one is committed.

        Raises:
            Problem: None can be.
        """
        names: frozenset[str] = frozenset()
        for attempt in count():
            await back_off(attempt)
            transaction = None
            try:
                selected = await self._store.prepare(head.selection)
                transaction = await self._store.begin(names | selected)
                receive.rewind(transaction)
                await self._attempt(transaction, head, scope, receive, send)
            except Superseded as reason:
                if reason.problem is not None:
                    raise reason.problem from None
                names |= reason.names
            else:
                return
            finally:
                if transaction is not None:
                    transaction.end()

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
        put_delivery(routed, delivery)
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

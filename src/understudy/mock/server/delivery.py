"""Commits a request before the first byte of its response is sent."""

import asyncio
from time import perf_counter
from typing import Protocol

from starlette.types import Message, Scope, Send

from understudy.limits import JOURNAL_BODY_BYTES
from understudy.mock.server.admin_guard import PRIVATE_PATHS
from understudy.mock.server.journaling import Journaling
from understudy.mock.server.request_context import RequestContext

_KEY = "understudy.delivery"


class Committable(Protocol):
    """The transaction of a request, as its response needs it."""

    @property
    def is_over(self) -> bool:
        """True once it was committed, or taken back."""

    def add(self, context: RequestContext) -> None:
        """Takes a request whose response is ready; what changed since the last one is its doing."""

    async def commit(self) -> None:
        """Commits what the requests have changed, with their entries in the journal.

        Raises:
            Superseded: All of it was taken back, as a world was not what it was taken for.
        """


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
        self, transaction: Committable, journaling: Journaling, context: RequestContext, send: Send
    ) -> None:
        self._transaction = transaction
        self._journaling = journaling
        self._context = context
        self._started = perf_counter()
        self._send = send
        self._unsent: list[Message] = []
        self._body = b""
        self._is_stream = context.path.startswith(PRIVATE_PATHS)
        self._delay = 0.0
        self.is_done = False

    def delay(self, seconds: float) -> None:
        """Waits so long after the commit before anything is sent."""
        self._delay = seconds

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
        if self._delay:
            await asyncio.sleep(self._delay)
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


def put_delivery(scope: Scope, delivery: Delivery) -> None:
    """Puts the delivery of a response into the scope of its request."""
    scope[_KEY] = delivery


async def delay(scope: Scope, seconds: float) -> None:
    """Delays a response: by waiting now, or after the commit where there is one."""
    delivery: Delivery | None = scope.get(_KEY)
    if delivery is None:
        await asyncio.sleep(seconds)
    else:
        delivery.delay(seconds)


async def commit_first(scope: Scope, body: bytes) -> None:
    """Commits a request before its response is sent in pieces, where it has to be committed.

    Args:
        scope: Of the request.
        body: All that will be sent, for the journal.
    """
    delivery: Delivery | None = scope.get(_KEY)
    if delivery is not None:
        await delivery.commit(body)

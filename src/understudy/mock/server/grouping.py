"""Works on requests of one world in groups, where the store has to agree before they are responded to.

Requests that wait for the same world are worked on one after another with this process's copy of it,
and committed by one call of the store. Without groups each of them would wait for the calls of all
others before it.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from starlette.types import ASGIApp, Receive, Scope, Send

from understudy.errors import Problem, ShuttingDown
from understudy.mock.server.direct import Continuation, Direct, Worked
from understudy.mock.server.request_context import Peer, RequestContext, RequestHead
from understudy.mock.server.response_sending import WireResponse, send_wire
from understudy.mock.server.transactions import (
    REFUSAL,
    SharedStore,
    Superseded,
    Transaction,
    back_off,
)
from understudy.mock.server.worlds import DEFAULT

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
            Problem: None can be.
        """
        for attempt in count():
            await back_off(attempt)
            transaction = None
            try:
                names = await self._store.prepare(group[0].head.selection)
                transaction = await self._store.begin(names)
                while waiting and len(group) < _MOST_AT_ONCE:
                    group.append(waiting.popleft())
                await self._attempt(group, transaction)
            except Superseded as reason:
                if reason.problem is not None:
                    raise reason.problem from None
            else:
                return
            finally:
                if transaction is not None:
                    transaction.end()

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
        except Superseded:
            request.end(None)
            raise


@dataclass(frozen=True, slots=True)
class GroupedRequest:
    """A request that waits for its group: an ASGI application for it alone.

    Attributes:
        response: Its response; the problem why there is none; None: only the stack can respond.
    """

    groups: Groups
    head: RequestHead
    peer: Peer
    body: bytes
    response: asyncio.Future[WireResponse | Problem | None] = field(compare=False)

    def end(self, response: WireResponse | Problem | None) -> None:
        """Takes the response, unless there is one."""
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

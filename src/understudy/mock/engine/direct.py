"""Responds to ordinary requests in one call, beside the middleware stack.

Most requests need nothing that a layer of middleware can do for them, and the layers cost three
times what they are paid for. So there are two entrances to the same functions: ``Direct`` calls
them one after the other, and the stack calls them in its layers, with everything unusual between.
No condition is written twice; ``tests/quality/entrances`` sends the same bytes both
ways and compares what comes back and what is journalled.
"""

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

from starlette.types import Receive, Scope, Send

from understudy.errors import InsufficientStorage
from understudy.mock.engine.body_guard import expect_bounded_fields
from understudy.mock.engine.call import HandlerResponse
from understudy.mock.engine.dispatcher import Dispatcher, call_handler
from understudy.mock.engine.endpoint import Endpoint
from understudy.mock.engine.errors import ErrorResponses
from understudy.mock.engine.fault_injection import may_change_response
from understudy.mock.engine.journaling import Journaling, note_response
from understudy.mock.engine.request_context import RequestContext
from understudy.mock.engine.request_head import Matching, Peer, RequestHead
from understudy.mock.engine.response_sending import WireResponse, send_wire
from understudy.mock.engine.route_table import MatchedRoute, RouteTable
from understudy.mock.engine.steps import Step

_UNUSUAL = frozenset({b"origin", b"transfer-encoding", b"expect", b"upgrade"})
"""Headers that a layer of the stack answers for: CORS, chunks, what is not plain HTTP."""


@dataclass(frozen=True, slots=True)
class Direct:
    """The entrance for ordinary requests.

    Attributes:
        journaling: Makes the context, and journals it.
        routes: Finds the operation.
        before_body: The steps before the body is read.
        after_routing: The steps between routing and the handler.
        dispatcher: Encodes the response of a handler.
        errors: Makes the response to what was raised.
    """

    journaling: Journaling
    routes: RouteTable
    before_body: Sequence[Step]
    after_routing: Sequence[Step]
    dispatcher: Dispatcher
    errors: ErrorResponses

    def respond(
        self, head: RequestHead, peer: Peer, body: bytes
    ) -> "WireResponse | Continuation | None":
        """Responds to a request whose body has arrived.

        Returns:
            The response; what will send it, where its handler has to wait; or None, where only the
            stack can respond. Then nothing has happened.
        """
        worked = self.work(head, peer, body)
        if not isinstance(worked, Worked):
            return worked
        self.journaling.end(worked.context)
        return worked.response

    def work(self, head: RequestHead, peer: Peer, body: bytes) -> "Worked | Continuation | None":
        """Works on a request as ``respond`` does, and does not journal it."""
        if not is_usual(head):
            return None
        started = perf_counter()
        context = self.journaling.begin(head, peer)
        matched = self._matched(context)
        if matched is None or context.refusal is not None:
            return None
        endpoint = matched.endpoint
        if endpoint.api.is_steering or may_change_response(context):
            return None
        try:
            response = self._handle(context, matched, body)
            if response is None:
                return None
            if not isinstance(response, HandlerResponse):
                return Continuation(self, context, endpoint, response, started)
            wire = self.dispatcher.encode(context, endpoint, response)
            note_response(context, wire)
        except Exception as error:
            wire = self.refuse(context, error)
        context.seconds = perf_counter() - started
        return Worked(context, wire)

    def _matched(self, context: RequestContext) -> MatchedRoute | None:
        """Returns where a request leads; None where only the router itself knows."""
        head = context.head
        if head.matching is None or head.matching.table is not self.routes:
            path = self.journaling.based(context)
            found = self.routes.find(head.method, path, head.query, head.headers)
            head.matching = Matching(self.routes, found)
        matched: MatchedRoute | None = head.matching.matched
        return matched

    def _handle(
        self, context: RequestContext, matched: MatchedRoute, body: bytes
    ) -> HandlerResponse | Coroutine[Any, Any, HandlerResponse] | None:
        for step in self.before_body:
            step(context)
        context.body = body
        expect_bounded_fields(context)
        context.endpoint, context.path_arguments = matched
        for step in self.after_routing:
            step(context)
        return call_handler(context, matched.endpoint)

    def refuse(self, context: RequestContext, error: Exception) -> WireResponse:
        """Returns the response to what was raised; what the refusal changed is committed."""
        wire = self.errors.encode(context, error)
        try:
            note_response(context, wire)
        except InsufficientStorage as full:  # of what the refusal changed: a failed sign-in
            wire = self.errors.encode(context, full)
            note_response(context, wire)
        return wire


class Worked(NamedTuple):
    """A request whose response is ready to be sent."""

    context: RequestContext
    response: WireResponse


@dataclass(frozen=True, slots=True)
class Continuation:
    """Sends the response of a handler that has to wait: an ASGI application for one request."""

    direct: Direct
    context: RequestContext
    endpoint: Endpoint
    response: Coroutine[Any, Any, HandlerResponse]
    started: float

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Waits for the handler, and sends its response."""
        try:
            await send_wire(send, await self._wire())
        finally:
            self.context.seconds = perf_counter() - self.started
            self.direct.journaling.end(self.context)

    async def work(self) -> Worked:
        """Waits for the handler; returns its response, which is not journalled."""
        wire = await self._wire()
        self.context.seconds = perf_counter() - self.started
        return Worked(self.context, wire)

    async def _wire(self) -> WireResponse:
        context = self.context
        try:
            response = await self.response
            wire = self.direct.dispatcher.encode(context, self.endpoint, response)
            note_response(context, wire)
        except Exception as error:
            wire = self.direct.refuse(context, error)
        return wire


def is_usual(head: RequestHead) -> bool:
    """Tells whether a head has nothing that a layer of the stack responds to."""
    return _UNUSUAL.isdisjoint(head.headers)

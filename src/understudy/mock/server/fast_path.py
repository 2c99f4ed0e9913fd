"""The fast path: responds to ordinary requests in one call, without the middleware stack.

Most requests need no task, no ASGI scope and no messages, which cost three times as much as the
response. So the same functions have two entrances: ``FastPath`` calls them one after the other, and
``stack`` calls them with the layers for unusual requests in between. No condition is written twice;
``tests/proofs/entrances`` sends the same bytes both ways and compares responses and journals.
"""

from asyncio import CancelledError
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from starlette.types import Receive, Scope, Send

from understudy.errors import InsufficientStorage
from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.dispatcher import Dispatcher, call_handler
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.faults import WireResponse
from understudy.mock.server.guards import expect_bounded_fields
from understudy.mock.server.journaling import Journaling, note_response, settle
from understudy.mock.server.request_context import Matching, Peer, RequestContext, RequestHead, Step
from understudy.mock.server.response_sending import ErrorResponses, send_wire
from understudy.mock.server.route_table import RouteTable
from understudy.mock.server.stubbing import needs_stack, stubbed

Worked = tuple[RequestContext, WireResponse]
"""A request, and its response, ready to be sent."""


@dataclass(frozen=True, slots=True)
class FastPath:
    """The entrance for ordinary requests.

    Attributes:
        journaling: Makes and journals the context of a request.
        routes: Finds the operation.
        before_body: Steps before the body is read.
        after_routing: Steps between routing and the handler.
        dispatcher: Encodes the response of a handler.
        errors: Makes the response to an exception.
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
            The response; a Continuation if the handler has to wait; None if only the stack can respond,
            without any effect so far.
        """
        worked = self.work(head, peer, body)
        if not isinstance(worked, tuple):
            return worked
        context, response = worked
        self.journaling.end(context)
        return response

    def work(self, head: RequestHead, peer: Peer, body: bytes) -> "Worked | Continuation | None":
        """Handles a request as ``respond`` does, without journaling it."""
        target = head.target
        if not head.is_usual:
            return None
        started = perf_counter()
        context = self.journaling.begin(head, peer)
        faults = context.world.faults
        if context.refusal is not None or (faults and needs_stack(faults)):
            return None
        matching = target.matching
        if matching is None or matching[0] is not self.routes:
            matching = self._matching(context)
        _, endpoint, context.path_arguments = matching
        if endpoint is None:
            return None
        try:
            response = self._handle(context, endpoint, body)
            if response is None:
                return None
            if not isinstance(response, HandlerResponse):
                return Continuation(self, context, endpoint, response, started)
            wire = self.dispatcher.encode(context, endpoint, response)
            note_response(context, wire)
        except Exception as error:
            wire = self.refuse(context, error)
        context.seconds = perf_counter() - started
        return context, wire

    def _matching(self, context: RequestContext) -> Matching:
        """Routes a request, and caches the result in its target if the headers do not matter."""
        head, path = context.head, self.journaling.based(context)
        endpoint, path_arguments = self.routes.find(head.method, path, context.query, head.headers)
        matching: Matching = self.routes, endpoint, path_arguments
        if endpoint is not None and self.routes.is_found_by_target(endpoint):
            head.target.matching = matching
        return matching

    def _handle(
        self,
        context: RequestContext,
        endpoint: Endpoint,
        body: bytes,
    ) -> HandlerResponse | Coroutine[Any, Any, HandlerResponse] | None:
        for step in self.before_body:
            step(context)
        if body or context.query:
            context.body = body
            expect_bounded_fields(context)
        context.endpoint = endpoint
        for step in self.after_routing:
            step(context)
        if context.world.faults:
            return stubbed(context, endpoint, call_handler)
        return call_handler(context, endpoint)

    def refuse(self, context: RequestContext, error: Exception | CancelledError) -> WireResponse:
        """Returns the response to an exception, and commits changes made by the refusal."""
        wire = self.errors.encode(context, error)
        try:
            note_response(context, wire)
        except InsufficientStorage as full:  # a refusal may write, too: it counts failed sign-ins
            wire = self.errors.encode(context, full)
            note_response(context, wire)
        return wire


@dataclass(frozen=True, slots=True)
class Continuation:
    """ASGI application for one request, which awaits the handler and sends its response."""

    fast_path: FastPath
    context: RequestContext
    endpoint: Endpoint
    response: Coroutine[Any, Any, HandlerResponse]
    started: float

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Awaits the handler, sends its response, and journals the request."""
        try:
            await send_wire(send, await self._wire())
        finally:
            self.context.seconds = perf_counter() - self.started
            self.fast_path.journaling.end(self.context)

    async def work(self) -> Worked:
        """Awaits the handler, and returns its response without journaling the request."""
        wire = await self._wire()
        self.context.seconds = perf_counter() - self.started
        return self.context, wire

    async def _wire(self) -> WireResponse:
        context = self.context
        try:
            response = await self.response
            wire = self.fast_path.dispatcher.encode(context, self.endpoint, response)
            settle(context)  # others may change the world before the response is sent
            note_response(context, wire)
        except (Exception, CancelledError) as error:
            wire = self.fast_path.refuse(context, error)
        return wire

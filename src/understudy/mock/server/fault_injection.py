"""Injects faults: those of the world, and those that a request names."""

import asyncio
from contextlib import suppress
from random import Random  # noqa: TID251 - seeded by how often the stub has answered

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.errors import Problem
from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.declared_headers import field_value
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.faults import (
    BufferedResponse,
    EffectNotApplicable,
    Fault,
    RequestCondition,
    apply_effect,
)
from understudy.mock.server.preferences import NO_PREFERENCES, RequestPreferences, preferences_of
from understudy.mock.server.request_conditions import misfits
from understudy.mock.server.request_context import (
    LAST_EVENT_ID,
    OWN_PREFIX,
    PREFER_HEADER,
    RequestContext,
    context_of,
)
from understudy.mock.server.response_sending import (
    WireResponse,
    commit_first,
    delay,
    encode,
    send_response,
)
from understudy.mock.server.security import authorize
from understudy.mock.server.streams import send_planned
from understudy.mock.server.stubbing import (
    STUB,
    answer,
    demanded_error,
    demanded_response,
    stub_for,
)
from understudy.mock.server.worlds import World

ABORT = "understudy.abort"
"""Key of the scope under which our server puts the function that ends the connection."""

_OWN_PREFIX = OWN_PREFIX.encode()
_PIECES = 20
"""Pieces of a slow body."""


def may_change_response(context: RequestContext) -> bool:
    """Tells whether a fault or a preference may change the response to a request."""
    has_preferences = PREFER_HEADER in context.headers or _OWN_PREFIX in context.query
    is_resumed = LAST_EVENT_ID in context.headers
    return has_preferences or is_resumed or bool(context.world.faults)


class EarlyStubs:
    """Answers by the stubs that come before authentication and validation.

    Args:
        app: The next layer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the answer of a stub, or calls the next layer."""
        context = context_of(scope)
        endpoint = context.endpoint
        if endpoint is None or not context.world.faults:
            await self._app(scope, receive, send)
            return
        with suppress(Problem):
            authorize(context)  # so that a stub may be for one person
        fault = stub_for(context, is_early=True)
        context.principal, context.deferred = None, None
        if fault is None:
            await self._app(scope, receive, send)
            return
        made = answer(context, endpoint, fault, _own_of_document)
        assert isinstance(made, HandlerResponse)
        await send_response(_with_delay(context, scope, receive, send), made)


def _own_of_document(context: RequestContext, endpoint: Endpoint) -> HandlerResponse:
    """Returns what the mock says before it knows who asks, and for what: the document's response."""
    return demanded_response(context, endpoint, None)


def _with_delay(context: RequestContext, scope: Scope, receive: Receive, send: Send) -> Send:
    """Returns a send that waits as long as the stub that answered has it."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            name = dict(message["headers"]).get(STUB.encode(), b"").decode()
            stub = context.world.faults.get(name)
            if stub is not None and stub.delay is not None:
                await delay(scope, receive, stub.delay.seconds(Random(stub.struck)))
        await send(message)

    return sending


class FaultInjection:
    """Injects what the world's faults or the request itself ask for.

    Args:
        app: The next layer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Calls the next layer, and changes its response as the fault has it."""
        context = context_of(scope)
        endpoint = context.endpoint
        if not may_change_response(context) or endpoint is None or endpoint.api.is_steering:
            await self._app(scope, receive, send)
            return
        send = _with_delay(context, scope, receive, send)
        preferences = _preferences(context) or NO_PREFERENCES
        fault, seconds = _fault(context, preferences)
        plan = preferences.stream(context.headers.get(LAST_EVENT_ID))
        if fault is None and not preferences.is_from_document:
            context.stream = plan
            await self._app(scope, receive, _with_headers(send, preferences))
            return
        fault = fault or _NO_FAULT
        await delay(scope, receive, seconds)
        is_stale = fault.effect == "stale-field"
        stale = await self._body_by_the_fixtures(context, scope, receive) if is_stale else None
        # a thread, as a body from the document may have thousands of values
        replacement = None
        status = fault.status or preferences.code
        if status or preferences.is_from_document:
            replacement = await asyncio.to_thread(
                demanded_response, context, endpoint, status, preferences
            )
        response = await self._response(context, endpoint, replacement, scope, receive)
        response = _changed(context, endpoint, response, fault, stale)
        sending = _with_headers(send, preferences, fault)
        if plan is not None and fault.effect is None:

            async def more(number: int) -> object:
                seed = number + (preferences.seed or context.world.identifiers.seed)
                other = preferences._replace(seed=seed)
                made = await asyncio.to_thread(demanded_response, context, endpoint, status, other)
                return made.body

            if await send_planned(scope, receive, sending, WireResponse(*response), plan, more):
                return
        await _deliver(fault, response, scope, receive, sending)

    async def _response(
        self,
        context: RequestContext,
        endpoint: Endpoint,
        replacement: HandlerResponse | None,
        scope: Scope,
        receive: Receive,
    ) -> BufferedResponse:
        """Returns the whole response before any of it is sent."""
        buffer = _Buffer()
        if replacement is not None:
            await send_response(buffer, replacement, context.extra_headers)
            return buffer.response
        try:
            await self._app(scope, receive, buffer)
        except Problem as problem:
            refusal = endpoint.api.error_response(problem)
            context.refused(problem)
            buffer = _Buffer()
            await send_response(buffer, refusal, context.extra_headers)
        return buffer.response

    async def _body_by_the_fixtures(
        self, context: RequestContext, scope: Scope, receive: Receive
    ) -> object:
        """Returns the body of the response if nothing had ever been written."""
        world = context.world
        context.world = World(world.name, world.baseline, world.clock, choices=world.choices)
        buffer = _Buffer()
        try:
            await self._app(scope, receive, buffer)
            return orjson.loads(buffer.response.body)
        except (Problem, ValueError):
            return None
        finally:
            context.world = world
            context.notes.clear()


class _Buffer:
    """Takes a response instead of the wire."""

    def __init__(self) -> None:
        self._status = 500
        self._headers: list[tuple[bytes, bytes]] = []
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status, self._headers = message["status"], list(message["headers"])
        else:
            self._body += message.get("body", b"")

    @property
    def response(self) -> BufferedResponse:
        return BufferedResponse(self._status, self._headers, self._body)


def _preferences(context: RequestContext) -> RequestPreferences | None:
    header = context.headers.get(PREFER_HEADER, b"").decode("latin-1")
    preferences, query = preferences_of(header, context.query.decode("latin-1"))
    context.query = query.encode("latin-1")
    return preferences


_NO_FAULT = Fault("")
"""Changes nothing of a response that is the document's."""


def _fault(context: RequestContext, preferences: RequestPreferences) -> tuple[Fault | None, float]:
    """Returns the fault that the request names, or the first of the world's that it gets.

    Returns:
        The fault, and the seconds that the response is delayed.
    """
    if preferences.fault is not None or preferences.delay:
        named = Fault("Prefer", effect=preferences.fault, field=preferences.field)
        return named, preferences.delay
    world = context.world
    endpoint = context.endpoint
    operation = endpoint.operation.operation_id if endpoint else None
    for key, fault in tuple(world.faults.items()):
        if fault.stub is not None or fault.operation not in {None, operation}:
            continue
        condition = RequestCondition(header={**fault.header}, person=fault.person)
        if not any(misfits(condition, context)):
            world.faults[key], seconds = fault.draw(world.identifiers.seed)
            world.note_fault_use()
            if seconds is not None:
                context.fault = fault.id
                context.notes.append(f"the fault {fault.id} was injected")
                return fault, seconds
    return None, 0.0


def _changed(
    context: RequestContext,
    endpoint: Endpoint,
    response: BufferedResponse,
    fault: Fault,
    stale: object,
) -> BufferedResponse:
    if fault.effect is None:
        return response
    if fault.effect == "fail-after":
        wire = encode(demanded_error(context, endpoint, 500))
        return BufferedResponse(wire.status, [*wire.headers], wire.body)
    try:
        return apply_effect(response, fault.effect, fault.field, stale)
    except EffectNotApplicable as reason:
        note = f"{fault.effect} changed nothing: {reason}"
        context.notes.append(note)
        return response._replace(headers=[*response.headers, (b"x-mock-note", field_value(note))])


def _with_headers(send: Send, preferences: RequestPreferences, fault: Fault | None = None) -> Send:
    """Returns a send that adds the headers that name the fault."""
    extra = []
    if preferences.applied:
        extra.append((b"preference-applied", field_value(preferences.applied)))
    if fault is not None and fault.id:
        extra.append((b"x-mock-fault", field_value(fault.id)))

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *extra]}
        await send(message)

    return sending


async def _deliver(
    fault: Fault, response: BufferedResponse, scope: Scope, receive: Receive, send: Send
) -> None:
    """Sends a response the way the fault has it."""
    start = {"type": "http.response.start", "status": response.status, "headers": response.headers}
    await send(start)
    if fault.effect in {"reset", "truncate"}:
        half = response.body[: len(response.body) // 2]
        await commit_first(scope, half)
        await send({"type": "http.response.body", "body": half, "more_body": True})
        await _hang_up(scope, receive, at_once=fault.effect == "reset")
        return
    if fault.effect == "slow":
        await commit_first(scope, response.body)
        size = max(1, len(response.body) // _PIECES)
        pieces = [response.body[at : at + size] for at in range(0, len(response.body), size)]
        for piece in pieces:
            await asyncio.sleep(fault.seconds / len(pieces))
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        return
    await send({"type": "http.response.body", "body": response.body})


async def _hang_up(scope: Scope, receive: Receive, *, at_once: bool) -> None:
    """Ends the connection, and returns when it has ended; does nothing under another server."""
    abort = scope.get(ABORT)
    if abort is None:
        return
    abort(at_once=at_once)
    while (await receive())["type"] != "http.disconnect":
        pass

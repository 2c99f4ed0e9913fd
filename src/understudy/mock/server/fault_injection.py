"""Injects faults: those of the world, and those that a request names."""

import asyncio

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.errors import Headers, MockRefusal, Problem, TooManyRequests
from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.document_responses import declared_response
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.faults import (
    BufferedResponse,
    EffectNotApplicable,
    InjectedFault,
    apply_effect,
)
from understudy.mock.server.preferences import (
    RequestPreferences,
    preferences_of,
)
from understudy.mock.server.rate_limit import limit_headers
from understudy.mock.server.request_context import (
    OWN_PREFIX,
    PREFER_HEADER,
    RequestContext,
    context_of,
)
from understudy.mock.server.response_sending import field_value, send_response
from understudy.mock.server.transactions import commit_first, delay
from understudy.mock.server.windows import WINDOW, QuotaDecision
from understudy.mock.server.worlds import World

ABORT = "understudy.abort"
"""Key of the scope under which our server puts the function that ends the connection."""

FIRST_ERROR = 400
"""The first status that is an error (RFC 9110, 15.5)."""

_OWN_PREFIX = OWN_PREFIX.encode()
_PIECES = 20
"""Pieces of a slow body."""


def may_change_response(context: RequestContext) -> bool:
    """Tells whether a fault or a preference may change the response to a request."""
    has_preferences = PREFER_HEADER in context.headers or _OWN_PREFIX in context.query
    return has_preferences or bool(context.world.faults)


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
        preferences = _preferences(context) or RequestPreferences()
        fault = _fault(context, preferences)
        if fault is None and not preferences.is_from_document:
            await self._app(scope, receive, _with_headers(send, preferences))
            return
        fault = fault or InjectedFault("")
        await delay(scope, receive, fault.delay)
        stale = None
        if fault.effect == "stale-field":
            stale = await self._body_by_the_fixtures(context, scope, receive)
        # a thread, as a body from the document may have thousands of values
        replacement = await asyncio.to_thread(_replacement, context, endpoint, fault, preferences)
        response = await self._response(context, endpoint, replacement, scope, receive)
        response = _changed(context, endpoint, response, fault, stale)
        await _deliver(fault, response, scope, receive, _with_headers(send, preferences, fault))

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


def _fault(context: RequestContext, preferences: RequestPreferences) -> InjectedFault | None:
    """Returns the fault that the request names, or the first of the world's that it gets."""
    if preferences.fault is not None or preferences.delay:
        return InjectedFault(
            "Prefer", preferences.delay, None, preferences.fault, preferences.field
        )
    world = context.world
    endpoint = context.endpoint
    operation = endpoint.operation.operation_id if endpoint else None
    person = context.principal.person if context.principal else None
    headers = {n.decode("latin-1"): t.decode("latin-1") for n, t in context.headers.items()}
    for key, fault in tuple(world.faults.items()):
        if fault.fits(operation, person, headers):
            world.faults[key], injected = fault.draw(world.identifiers.seed)
            world.note_fault_use()
            if injected is not None:
                context.fault = injected.fault
                context.notes.append(f"the fault {injected.fault} was injected")
                return injected
    return None


def _replacement(
    context: RequestContext,
    endpoint: Endpoint,
    fault: InjectedFault,
    preferences: RequestPreferences,
) -> HandlerResponse | None:
    """Returns the response that is sent without calling a handler, or None."""
    status = fault.status or preferences.code
    if not (fault.status or preferences.is_from_document):
        return None
    seed = preferences.seed
    if seed is None:
        seed = context.world.identifiers.seed
    declared = declared_response(
        endpoint.operation,
        endpoint.schemas,
        seed,
        status=status,
        example=preferences.example,
        is_made_up=preferences.dynamic,
    )
    is_error = status is not None and status >= FIRST_ERROR
    has_example = preferences.example is not None or _has_example(endpoint, status)
    if declared is None or (is_error and not has_example):
        if status is None:
            msg = f"The document has no example {preferences.example!r} for this operation."
            raise MockRefusal(400, "No such example", msg)
        return _error(context, endpoint, status)
    headers = _quota_headers(context, endpoint, declared.status)
    sampled = (it for it in declared.headers if it[0] not in dict(headers))
    return declared._replace(headers=(*sampled, *headers))


def _has_example(endpoint: Endpoint, status: int | None) -> bool:
    response = None if status is None else endpoint.operation.response(status)
    return response is not None and any(m.examples for m in response.content.values())


def _error(context: RequestContext, endpoint: Endpoint, status: int) -> HandlerResponse:
    """Returns a status in the error shape that is declared for it, with the headers that go with it."""
    if status < FIRST_ERROR:
        return HandlerResponse(None, status)
    problem = Problem(f"Answered {status} on demand.", code="on_demand")
    headers = _quota_headers(context, endpoint, status)
    response = endpoint.api.error_response(problem)._replace(status=status, headers=headers)
    seed = context.world.identifiers.seed
    return endpoint.errors.response(response, problem, seed)._replace(status=status)


def _quota_headers(context: RequestContext, endpoint: Endpoint, status: int) -> Headers:
    """Returns the headers of a used-up quota for a 429, and none for another status."""
    if status != TooManyRequests.status:
        return ()
    quota = endpoint.api.quota(context.principal)
    headers = QuotaDecision(
        allowed=False, limit=quota, remaining=0, reset=context.started + WINDOW
    ).headers
    return limit_headers(context, status, headers)


def _changed(
    context: RequestContext,
    endpoint: Endpoint,
    response: BufferedResponse,
    fault: InjectedFault,
    stale: object,
) -> BufferedResponse:
    if fault.effect is None:
        return response
    if fault.effect == "fail-after":
        error = _error(context, endpoint, 500)
        body = orjson.dumps(error.body)
        length = (b"content-length", str(len(body)).encode())
        return BufferedResponse(500, [(b"content-type", b"application/json"), length], body)
    try:
        return apply_effect(response, fault.effect, fault.field, stale)
    except EffectNotApplicable as reason:
        note = f"{fault.effect} changed nothing: {reason}"
        context.notes.append(note)
        return response._replace(headers=[*response.headers, (b"x-mock-note", field_value(note))])


def _with_headers(
    send: Send, preferences: RequestPreferences, fault: InjectedFault | None = None
) -> Send:
    """Returns a send that adds the headers that name the fault."""
    extra = []
    if preferences.applied:
        extra.append((b"preference-applied", field_value(preferences.applied)))
    if fault is not None and fault.fault:
        extra.append((b"x-mock-fault", field_value(fault.fault)))

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *extra]}
        await send(message)

    return sending


async def _deliver(
    fault: InjectedFault, response: BufferedResponse, scope: Scope, receive: Receive, send: Send
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

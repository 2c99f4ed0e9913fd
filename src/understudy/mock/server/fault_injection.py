"""Injects the faults of the world, and those that a request prefers."""

import asyncio
from contextlib import suppress
from functools import partial
from random import Random  # noqa: TID251 - seeded by how often the stub has answered

import orjson
from msgspec.structs import replace
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.errors import Problem
from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.declared_responses import field_value
from understudy.mock.server.document_responses import GENERATED, generated
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.faults import (
    EffectNotApplicable,
    Fault,
    RequestCondition,
    WireResponse,
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
    commit_first,
    delay,
    encode,
    has_left,
    is_planned,
    send_planned,
    send_wire,
)
from understudy.mock.server.security import authorize
from understudy.mock.server.stubbing import (
    STUB,
    answer,
    demanded_error,
    demanded_response,
    stub_for,
)
from understudy.mock.server.worlds import World
from understudy.openapi.sampler import EFFORTS

ABORT = "understudy.abort"
"""Scope key of the function that closes the connection, which our HTTP server sets."""

_OWN_PREFIX = OWN_PREFIX.encode()
_GENERATED = tuple(text.encode() for text in GENERATED)
_NO_FAULT = Fault("")
"""Stands for no fault where only preferences or stubs change the response."""

_PIECES = 20
"""Pieces of a slow body."""


def may_change_response(context: RequestContext) -> bool:
    """Tells whether a fault or a preference may change the response to a request."""
    has_preferences = PREFER_HEADER in context.headers or _OWN_PREFIX in context.query
    is_resumed = LAST_EVENT_ID in context.headers
    return has_preferences or is_resumed or bool(context.world.faults)


async def answer_early(context: RequestContext, scope: Scope, receive: Receive, send: Send) -> bool:
    """Sends the response of a stub with ``before_validation``, if any matches; returns whether it did."""
    endpoint = context.endpoint
    if endpoint is None or not context.world.faults:
        return False
    with suppress(Problem):
        authorize(context)  # so that a stub may be for one person
    fault = stub_for(context, is_early=True)
    context.principal, context.deferred = None, None
    if fault is None:
        return False
    # the mock's own handler needs an authenticated and valid request: the document responds instead
    made = answer(context, endpoint, fault, partial(demanded_response, status=None))
    assert isinstance(made, HandlerResponse)
    send = _with_delay(context, scope, receive, send)
    await send_wire(_in_items(scope, receive, send, endpoint), encode(made))
    return True


def _with_delay(context: RequestContext, scope: Scope, receive: Receive, send: Send) -> Send:
    """Returns a send that first waits for the delay of the stub that responded, if any."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            name = dict(message["headers"]).get(STUB.encode(), b"").decode()
            stub = context.world.faults.get(name)
            if stub is not None and stub.delay is not None:
                await delay(scope, receive, stub.delay.seconds(Random(stub.struck)))
        await send(message)

    return sending


async def inject_faults(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Runs an application, and changes its response by the request's preferences and a fault."""
    context = context_of(scope)
    endpoint = context.endpoint
    if not may_change_response(context) or endpoint is None or endpoint.api.is_steering:
        await app(scope, receive, send)
        return
    send = _with_delay(context, scope, receive, send)
    preferences = _preferences(context) or NO_PREFERENCES
    fault, seconds = _fault(context, preferences)
    context.stream = preferences.stream
    sending = _in_items(scope, receive, send, endpoint, preferences, fault)
    if fault is _NO_FAULT and not preferences.is_from_document:
        await app(scope, receive, sending)
        return
    await delay(scope, receive, seconds)
    is_stale = fault.effect == "stale-field"
    stale = await _body_by_the_fixtures(app, scope, receive) if is_stale else None
    replacement = None  # made in a thread, as a generated body may have thousands of values
    status = fault.status or preferences.code
    if status or preferences.is_from_document:
        replacement = await asyncio.to_thread(
            demanded_response, context, endpoint, status, preferences
        )
    response = await _response(app, scope, receive, replacement)
    response = _changed(context, endpoint, response, fault, stale)
    await _deliver(fault, response, scope, receive, sending)


async def _response(
    app: ASGIApp, scope: Scope, receive: Receive, replacement: HandlerResponse | None
) -> WireResponse:
    """Returns the complete response, encoded and not yet sent."""
    context = context_of(scope)
    if replacement is None:
        try:
            return await _buffered(app, scope, receive)
        except Problem as problem:
            assert context.endpoint is not None
            replacement = context.endpoint.api.error_response(problem)
            context.refused(problem)
    return encode(replacement, replacement.headers + context.extra_headers)


async def _body_by_the_fixtures(app: ASGIApp, scope: Scope, receive: Receive) -> object:
    """Returns the body of the response in a world without any writes; None if it is not JSON."""
    context = context_of(scope)
    world = context.world
    context.world = World(world.name, world.baseline, world.clock, choices=world.choices)
    try:
        return orjson.loads((await _buffered(app, scope, receive)).body)
    except (Problem, ValueError):
        return None
    finally:
        context.world = world
        context.notes.clear()


async def _buffered(app: ASGIApp, scope: Scope, receive: Receive) -> WireResponse:
    """Returns the complete response of an application without sending it."""
    messages: list[Message] = []

    async def keep(message: Message) -> None:
        messages.append(message)

    await app(scope, receive, keep)
    start, *rest = messages
    body = b"".join(message.get("body", b"") for message in rest)
    return WireResponse(start["status"], list(start["headers"]), body)


def _preferences(context: RequestContext) -> RequestPreferences | None:
    header = context.headers.get(PREFER_HEADER, b"").decode("latin-1")
    preferences, query = preferences_of(header, context.query.decode("latin-1"))
    context.query = query.encode("latin-1")
    return preferences


def _fault(context: RequestContext, preferences: RequestPreferences) -> tuple[Fault, float]:
    """Returns the fault that the request prefers, or the first of the world's that is drawn for it.

    Returns:
        The fault (_NO_FAULT if there is none), and the seconds of its delay.
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
    return _NO_FAULT, 0.0


def _changed(
    context: RequestContext,
    endpoint: Endpoint,
    response: WireResponse,
    fault: Fault,
    stale: object,
) -> WireResponse:
    if fault.effect is None:
        return response
    if fault.effect == "fail-after":
        return encode(demanded_error(context, endpoint, 500))
    try:
        return apply_effect(response, fault.effect, fault.field, stale)
    except EffectNotApplicable as reason:
        note = f"{fault.effect} changed nothing: {reason}"
        context.notes.append(note)
        return replace(response, headers=[*response.headers, (b"x-mock-note", field_value(note))])


def _in_items(
    scope: Scope,
    receive: Receive,
    send: Send,
    endpoint: Endpoint,
    preferences: RequestPreferences = NO_PREFERENCES,
    fault: Fault = _NO_FAULT,
) -> Send:
    """Returns a send that sends a planned stream item by item, and tells what was applied in headers."""
    context = context_of(scope)
    held: Message | None = None  # the start of a planned stream

    def begun(message: Message, *, is_stream: bool) -> Message:
        own = {
            "preference-applied": preferences.applied(is_stream=is_stream),
            "x-mock-fault": fault.id,
        }
        extra = [(name.encode(), field_value(text)) for name, text in own.items() if text]
        return {**message, "headers": [*message["headers"], *extra]}

    async def sending(message: Message) -> None:
        nonlocal held
        if held is not None:
            start = begun(held, is_stream=True)
            response = WireResponse(start["status"], start["headers"], message["body"])
            others = partial(_other_body, context, endpoint, preferences, fault, response)
            await send_planned(scope, receive, send, response, others)
        elif message["type"] != "http.response.start":
            await send(message)
        elif fault.effect is None and is_planned(context, message["headers"]):
            held = message
        else:
            await send(begun(message, is_stream=False))

    return sending


async def _other_body(
    context: RequestContext,
    endpoint: Endpoint,
    preferences: RequestPreferences,
    fault: Fault,
    response: WireResponse,
    number: int,
) -> object:
    """Returns a body like that of a generated response, by another seed; None: it was not generated."""
    status = fault.status or preferences.code
    if status or preferences.is_from_document:
        seed = number + (preferences.seed or context.world.identifiers.seed)
        other = preferences._replace(seed=seed)
        make = partial(demanded_response, context, endpoint, status, other)
    elif _GENERATED in response.headers:
        make = partial(generated, context, endpoint, EFFORTS, number)
    else:
        return None
    return (await asyncio.to_thread(make)).body


async def _deliver(
    fault: Fault, response: WireResponse, scope: Scope, receive: Receive, send: Send
) -> None:
    """Sends a response with the fault's effect on the connection, if any."""
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
    """Closes the connection, and waits until it is closed; does nothing under another HTTP server."""
    abort = scope.get(ABORT)
    if abort is not None:
        abort(at_once=at_once)
        await has_left(receive)

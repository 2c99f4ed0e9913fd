"""The layer that lets things go wrong on demand: by the world's faults, or by a request's wish."""

import asyncio

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from understudy.errors import Headers, MockRefusal, Problem, TooManyRequests
from understudy.mock.engine.call import HandlerResponse
from understudy.mock.engine.document_responses import declared_response
from understudy.mock.engine.endpoint import Endpoint
from understudy.mock.engine.fault_effects import Inapplicable, Reply, affected
from understudy.mock.engine.faults import Strike
from understudy.mock.engine.preferences import HEADER, TWIN, RequestPreferences, preferences_of
from understudy.mock.engine.request_context import RequestContext, context_of
from understudy.mock.engine.response_sending import send_response
from understudy.mock.engine.worlds import World

ABORT = "understudy.abort"
"""Where our server puts, into the scope, what ends the connection: at once, or after what was sent."""

REFUSALS = 400
"""Statuses from here refuse (RFC 9110, 15.5)."""

_TWIN = TWIN.encode()
_DROPS = 20
"""Pieces of a slow body."""


class FaultInjection:
    """Strikes what the world's faults or the request itself ask for.

    Args:
        app: The next layer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Goes on, and does to the answer what was asked for."""
        context = context_of(scope)
        endpoint = context.endpoint
        is_wished = HEADER in context.headers or _TWIN in context.query
        is_possible = is_wished or context.world.faults
        if not is_possible or endpoint is None or endpoint.api.is_steering:
            await self._app(scope, receive, send)
            return
        wish = _wish(context) or RequestPreferences()
        strike = _strike(context, wish)
        if strike is None and not wish.is_answer:
            await self._app(scope, receive, _with_headers(send, wish))
            return
        strike = strike or Strike("")
        await asyncio.sleep(strike.delay)
        stale = None
        if strike.effect == "stale-field":
            stale = await self._as_in_the_fixtures(context, scope, receive)
        answer = _instead(context, endpoint, strike, wish)
        reply = await self._reply(context, endpoint, answer, scope, receive)
        reply = _struck(context, endpoint, reply, strike, stale)
        await _deliver(strike, reply, scope, receive, _with_headers(send, wish, strike))

    async def _reply(
        self,
        context: RequestContext,
        endpoint: Endpoint,
        answer: HandlerResponse | None,
        scope: Scope,
        receive: Receive,
    ) -> Reply:
        """Returns the whole answer before any of it is sent."""
        caught = _Caught()
        if answer is not None:
            await send_response(caught, answer, context.extra_headers)
            return caught.reply
        try:
            await self._app(scope, receive, caught)
        except Problem as problem:
            refusal = endpoint.api.error_response(problem)
            context.refused(problem)
            caught = _Caught()
            await send_response(caught, refusal, context.extra_headers)
        return caught.reply

    async def _as_in_the_fixtures(
        self, context: RequestContext, scope: Scope, receive: Receive
    ) -> object:
        """Returns the answer's body as it would be if nothing had ever been written."""
        world = context.world
        context.world = World(world.name, world.baseline, world.clock, choices=world.choices)
        caught = _Caught()
        try:
            await self._app(scope, receive, caught)
            return orjson.loads(caught.reply.body)
        except (Problem, ValueError):
            return None
        finally:
            context.world = world
            context.notes.clear()


class _Caught:
    """Takes an answer instead of the wire."""

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
    def reply(self) -> Reply:
        return Reply(self._status, self._headers, self._body)


def _wish(context: RequestContext) -> RequestPreferences | None:
    header = context.headers.get(HEADER, b"").decode("latin-1")
    wish, query = preferences_of(header, context.query.decode("latin-1"))
    context.query = query.encode("latin-1")
    return wish


def _strike(context: RequestContext, wish: RequestPreferences) -> Strike | None:
    """Returns what strikes: the request's own wish, or the first of the world's faults."""
    if wish.fault is not None or wish.delay:
        return Strike("Prefer", wish.delay, None, wish.fault, wish.field)
    world = context.world
    endpoint = context.endpoint
    operation = endpoint.operation.operation_id if endpoint else None
    person = context.principal.person if context.principal else None
    headers = {n.decode("latin-1"): t.decode("latin-1") for n, t in context.headers.items()}
    for key, fault in tuple(world.faults.items()):
        if fault.fits(operation, person, headers):
            world.faults[key], strike = fault.draw(world.identifiers.seed)
            world.note_change()
            if strike is not None:
                context.fault = strike.fault
                context.notes.append(f"struck by the fault {strike.fault}")
                return strike
    return None


def _instead(
    context: RequestContext, endpoint: Endpoint, strike: Strike, wish: RequestPreferences
) -> HandlerResponse | None:
    """Returns what is answered instead of asking a handler, or None."""
    status = strike.status or wish.code
    if not (strike.status or wish.is_answer):
        return None
    seed = context.world.identifiers.seed if wish.seed is None else wish.seed
    found = declared_response(
        endpoint.operation,
        endpoint.schemas,
        seed,
        status=status,
        example=wish.example,
        is_made_up=wish.dynamic,
    )
    if found is None or (status is not None and status >= REFUSALS and wish.example is None):
        if status is None:
            msg = f"The document has no example {wish.example!r} for this operation."
            raise MockRefusal(400, "No such example", msg)
        return _refusal(context, endpoint, status)
    return found


def _refusal(context: RequestContext, endpoint: Endpoint, status: int) -> HandlerResponse:
    """Returns a status in the API's own error shape, with the headers that go with it."""
    if status < REFUSALS:
        return HandlerResponse(None, status)
    problem = Problem(f"Answered {status} on demand.", code="on_demand")
    headers: Headers = ()
    if status == TooManyRequests.status:
        quota = endpoint.api.quota(context.principal)
        reset = int(context.started.timestamp()) + 3600
        headers = (
            ("x-ratelimit-limit", str(quota)),
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", str(reset)),
        )
    return endpoint.api.error_response(problem)._replace(status=status, headers=headers)


def _struck(
    context: RequestContext, endpoint: Endpoint, reply: Reply, strike: Strike, stale: object
) -> Reply:
    if strike.effect is None:
        return reply
    if strike.effect == "fail-after":
        answer = _refusal(context, endpoint, 500)
        body = orjson.dumps(answer.body)
        length = (b"content-length", str(len(body)).encode())
        return Reply(500, [(b"content-type", b"application/json"), length], body)
    try:
        return affected(reply, strike.effect, strike.field, stale)
    except Inapplicable as reason:
        context.notes.append(f"{strike.effect} struck nothing: {reason}")
        note = f"{strike.effect} struck nothing: {reason}".encode("latin-1", "replace")
        return reply._replace(headers=[*reply.headers, (b"x-mock-note", note)])


def _with_headers(send: Send, wish: RequestPreferences, strike: Strike | None = None) -> Send:
    """Returns a send that tells what was done."""
    extra = []
    if wish.applied:
        extra.append((b"preference-applied", wish.applied.encode("latin-1", "replace")))
    if strike is not None and strike.fault:
        extra.append((b"x-mock-fault", strike.fault.encode("latin-1", "replace")))

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *extra]}
        await send(message)

    return sending


async def _deliver(
    strike: Strike, reply: Reply, scope: Scope, receive: Receive, send: Send
) -> None:
    """Sends a reply the way the strike has it."""
    start = {"type": "http.response.start", "status": reply.status, "headers": reply.headers}
    if strike.effect in {"reset", "truncate"}:
        await send(start)
        half = reply.body[: len(reply.body) // 2]
        await send({"type": "http.response.body", "body": half, "more_body": True})
        await _hang_up(scope, receive, at_once=strike.effect == "reset")
        return
    await send(start)
    if strike.effect == "slow":
        size = max(1, len(reply.body) // _DROPS)
        drops = [reply.body[at : at + size] for at in range(0, len(reply.body), size)]
        for drop in drops:
            await asyncio.sleep(strike.seconds / len(drops))
            await send({"type": "http.response.body", "body": drop, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        return
    await send({"type": "http.response.body", "body": reply.body})


async def _hang_up(scope: Scope, receive: Receive, *, at_once: bool) -> None:
    """Ends the connection, and returns when it has ended; without our server there is none."""
    abort = scope.get(ABORT)
    if abort is None:
        return
    abort(at_once=at_once)
    while (await receive())["type"] != "http.disconnect":
        pass

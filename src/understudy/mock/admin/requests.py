"""Lists, searches, streams and exports the journal of a world, in WireMock's format and as HAR."""

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from difflib import SequenceMatcher
from time import thread_time
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

import orjson

from understudy.errors import NotFound
from understudy.exchange import har
from understudy.exchange.masking import masked_body, masked_headers, masked_query
from understudy.limits import PATTERNS, SEARCH_SECONDS
from understudy.mock.admin.clock import instant_of
from understudy.mock.admin.context import AdminContext, AdminHandlers, expect_operation
from understudy.mock.admin.explaining import explain
from understudy.mock.server.call import Call, HandlerResponse, Handlers, SharedBody
from understudy.mock.server.clock import written
from understudy.mock.server.faults import RequestCondition
from understudy.mock.server.json_bodies import json_bytes_in_pieces
from understudy.mock.server.request_conditions import fits, is_like, misfits
from understudy.mock.server.request_context import HeaderFields, RequestContext
from understudy.mock.server.stubbing import STUB
from understudy.mock.server.worlds import World
from understudy.openapi.paths import LONGEST_COMPARED, fill

_LABEL: Final = b"x-mock-client"
"""Header in which a client names itself, for example with the test that sends the request."""


def logged(context: RequestContext) -> dict[str, Any]:
    """Returns an exchange in WireMock's format, with its secrets masked."""
    return {
        "id": context.number,
        "request": request(context),
        "response": response(context),
        **_about(context),
    }


def _about(context: RequestContext) -> dict[str, Any]:
    return {
        "wasMatched": context.is_matched,
        "timing": {"totalTime": round(context.seconds * 1000, 3)},
        "world": context.world.name,
        "operation": operation_id(context),
        "identity": context.identity,
        "person": context.principal.person if context.principal else None,
        "fault": context.fault,
        "stub": context.response_header(STUB),
        "invalid": context.response_header("x-mock-violation") is not None,
        "preference": context.response_header("preference-applied"),
        "reason": context.refusal and context.refusal.problem.message,
        "notes": context.notes,
    }


def summary(context: RequestContext) -> dict[str, Any]:
    """Returns an exchange like ``logged``, without bodies and headers except the client's names."""
    return {
        "id": context.number,
        "request": {
            "url": target(context),
            "method": context.method,
            "clientIp": context.client,
            "userAgent": context.headers.get(b"user-agent", b"").decode("latin-1"),
            "label": context.headers.get(_LABEL, b"").decode("latin-1"),
            "loggedDate": _milliseconds(context.started),
            "loggedDateString": written(context.started),
        },
        "response": {"status": context.status},
        **_about(context),
    }


def operation_id(context: RequestContext) -> str | None:
    """Returns the operationId of an exchange; None if it matched no operation."""
    return context.endpoint.operation.operation_id if context.endpoint else None


def target(context: RequestContext) -> str:
    """Returns path and query of a request without the prefix of its world, secrets masked."""
    query = masked_query(context.query.decode("latin-1"), context.secret_names | context.key_names)
    return f"{context.path}?{query}" if query else context.path


def request(context: RequestContext) -> dict[str, Any]:
    """Returns the request of an exchange in WireMock's format."""
    headers, body = _masked(context, context.sent_headers, context.body)
    parameters: dict[str, dict[str, Any]] = {}
    for name, value in _parameters(context):
        parameters.setdefault(name, {"key": name, "values": []})["values"].append(value)
    return {
        "url": target(context),
        "absoluteUrl": context.site_url + target(context),
        "method": context.method,
        "clientIp": context.client,
        "headers": dict(headers),
        "queryParams": parameters,
        "loggedDate": _milliseconds(context.started),
        "loggedDateString": written(context.started),
        **_body(body),
    }


def response(context: RequestContext) -> dict[str, Any]:
    """Returns the response of an exchange in WireMock's format."""
    headers, body = _masked(context, context.response_headers, context.response_body)
    return {"status": context.status, "headers": dict(headers), **_body(body)}


def _masked(
    context: RequestContext, fields: HeaderFields, body: bytes
) -> tuple[list[tuple[str, str]], bytes]:
    """Returns the headers and the body of a message, with secrets masked."""
    headers = masked_headers(fields, context.key_names)
    return headers, masked_body(body, header(headers, "content-type"), context.secret_names)


def _parameters(context: RequestContext) -> list[tuple[str, str]]:
    query = masked_query(context.query.decode("latin-1"), context.secret_names | context.key_names)
    return parse_qsl(query, keep_blank_values=True)


def header(headers: list[tuple[str, str]], name: str) -> str:
    """Returns the value of a header; empty if it is absent."""
    return next((text for field, text in headers if field.lower() == name), "")


def _body(content: bytes) -> dict[str, str]:
    encoded = base64.b64encode(content).decode()
    try:
        return {"body": content.decode(), "bodyAsBase64": encoded}
    except UnicodeDecodeError:
        return {"bodyAsBase64": encoded}


def _milliseconds(instant: datetime) -> int:
    return int(instant.timestamp() * 1000)


def archive(exchanges: Iterable[RequestContext]) -> dict[str, Any]:
    """Returns exchanges as an HTTP archive (HAR), with secrets masked."""
    return har.archive("understudy", map(_entry, exchanges))


def _entry(context: RequestContext) -> dict[str, Any]:
    return har.entry(
        context.started.isoformat(),
        round(context.seconds * 1000, 3),
        _request(context),
        _response(context),
        comment="; ".join(context.notes),
    )


def _request(context: RequestContext) -> dict[str, Any]:
    headers, body = _masked(context, context.sent_headers, context.body)
    return har.request(
        context.method,
        context.site_url + target(context),
        headers,
        _parameters(context),
        har.posted_text(body) if context.body else None,
        len(context.body),
    )


def _response(context: RequestContext) -> dict[str, Any]:
    headers, body = _masked(context, context.response_headers, context.response_body)
    return har.response(context.status, headers, har.text(body), len(context.response_body))


Pattern = Mapping[str, Any]
"""A request pattern in WireMock's format: members such as ``urlPath``, each with its wanted value."""


def search(entries: Sequence[RequestContext], pattern: Pattern) -> list[RequestContext]:
    """Returns the exchanges that match a pattern. It can take long: run it in a thread.

    Raises:
        BadRequest: A regular expression is invalid.
        LimitExceeded: The pattern has too many comparisons, or the search takes too long.
    """
    PATTERNS.check(sum(len(tests) for tests in pattern.values() if isinstance(tests, list | dict)))
    end = thread_time() + SEARCH_SECONDS.most  # CPU time: a busy machine must not fail a search
    found = []
    for context in entries:
        if thread_time() > end:
            raise SEARCH_SECONDS.exceeded()
        if matches(context, pattern):
            found.append(context)
    return found


def matches(context: RequestContext, pattern: Pattern) -> bool:
    """Tells whether an exchange matches every member of a pattern.

    Raises:
        BadRequest: A regular expression is invalid.
    """
    return all(_TESTS[name](context, wanted) for name, wanted in pattern.items())


def _url(context: RequestContext) -> str:
    query = context.query.decode("latin-1")
    return f"{context.path}?{query}" if query else context.path


def _status(context: RequestContext, wanted: Any) -> bool:
    return str(context.status) == str(wanted) or str(wanted).upper() == f"{context.status // 100}XX"


def _meets(context: RequestContext, **condition: Any) -> bool:
    return not any(misfits(RequestCondition(**condition), context))


def _matched_body(context: RequestContext, wanted: list[Pattern]) -> bool:
    text = context.body.decode("utf-8", "replace")
    return all(fits(text, pattern) for pattern in wanted)


_TESTS: Mapping[str, Callable[[RequestContext, Any], bool]] = {
    "method": lambda context, wanted: wanted in {"ANY", context.method},
    "url": lambda context, wanted: _url(context) == wanted,
    "urlPath": lambda context, wanted: context.path == wanted,
    "urlPattern": lambda context, wanted: is_like(wanted, _url(context)),
    "urlPathPattern": lambda context, wanted: is_like(wanted, context.path),
    "headers": lambda context, wanted: _meets(context, header=wanted),
    "queryParameters": lambda context, wanted: _meets(context, query=wanted),
    "bodyPatterns": _matched_body,
    "operation": lambda context, wanted: operation_id(context) == wanted,
    "status": _status,
    "person": lambda context, wanted: _meets(context, person=wanted),
    "identity": lambda context, wanted: context.identity == wanted,
    "fault": lambda context, wanted: context.fault == wanted,
    "stub": lambda context, wanted: context.response_header(STUB) == wanted,
}


INTERVAL: Final = 0.25
"""Seconds between two looks at a world for news, such as requests that other replicas have answered."""

HEARTBEAT: Final = 60
"""Looks without an event after which a comment is sent, as proxies end silent streams."""

WAITING = 1000
"""Most exchanges that wait for a slow reader of a stream; further ones are left out."""

SUGGESTED = 3
"""Operations that are suggested for a request that matched none."""

NEWEST = 50
"""Requests that near misses are computed for; each is compared with every operation."""

_SEARCHES: Final = ThreadPoolExecutor(1, "understudy-searches")
"""Separate thread for searches, so that they do not use up the threads that check uploads."""

Found = TypeVar("Found")


async def list_requests(  # noqa: PLR0913 - one for each parameter of the query
    admin: AdminContext,
    call: Call,
    *,
    operation: str | None = None,
    status: str | None = None,
    person: str | None = None,
    since: str | None = None,
    limit: int | None = None,
) -> HandlerResponse:
    """Responds to ``GET /requests``: lists exchanges, the newest first.

    Raises:
        BadRequest: There is no such operation, or ``since`` is not an instant.
    """
    pattern = _pattern(admin, operation=operation, status=status, person=person)
    matching = [context for context in call.world.journal if matches(context, pattern)]
    if since is not None:
        start = instant_of(since, "since")
        matching = [context for context in matching if context.started >= start]
    newest = matching[::-1][:limit]
    return await asyncio.to_thread(_listed, newest, meta={"total": len(matching)})


async def count_requests(admin: AdminContext, call: Call, *, body: Pattern) -> HandlerResponse:
    """Responds to ``POST /requests/count``.

    Raises:
        BadRequest: There is no such operation, or a regular expression is invalid.
        LimitExceeded: The pattern has too many comparisons, or they take too long.
    """
    return HandlerResponse({"count": len(await _matching(admin, call, body))})


async def find_requests(admin: AdminContext, call: Call, *, body: Pattern) -> HandlerResponse:
    """Responds to ``POST /requests/find``: lists the exchanges that match, the oldest first.

    Raises:
        BadRequest: There is no such operation, or a regular expression is invalid.
        LimitExceeded: The pattern has too many comparisons, or they take too long.
    """
    matching = await _matching(admin, call, body)
    return await asyncio.to_thread(_listed, matching)


def get_request(call: Call, number: int) -> HandlerResponse:
    """Responds to ``GET /requests/{id}``: returns an exchange with an explanation of its response.

    Raises:
        NotFound: There is no such request, or the journal has dropped it.
    """
    journal = call.world.journal
    context = journal.get(number)
    if context is None:
        first = journal.total - len(journal) + 1
        known = f"{first} to {journal.total}" if len(journal) else "none"
        msg = f"There is no request {number} in this world; it remembers {known}."
        raise NotFound(msg)
    return HandlerResponse({**logged(context), "explanation": explain(context)})


def stream_requests(
    admin: AdminContext,
    call: Call,
    *,
    operation: str | None = None,
    status: str | None = None,
    person: str | None = None,
) -> HandlerResponse:
    """Responds to ``GET /requests/stream``: sends each exchange as a server-sent event when it ends.

    Raises:
        BadRequest: There is no such operation.
    """
    pattern = _pattern(admin, operation=operation, status=status, person=person)
    events = _events(call, pattern, admin.worlds.refresh)
    return HandlerResponse(events, media_type="text/event-stream")


async def list_near_misses(admin: AdminContext, call: Call) -> HandlerResponse:
    """Responds to ``GET /requests/unmatched/near-misses``: lists operations with similar paths."""
    newest = _unmatched(call)[-NEWEST:]
    return HandlerResponse({"nearMisses": await _searching(_near_misses, admin, newest)})


def _near_misses(admin: AdminContext, contexts: Sequence[RequestContext]) -> list[dict[str, Any]]:
    return [
        {"request": request(context), **suggestion}
        for context in contexts
        for suggestion in _suggestions(admin, context)
    ]


def _suggestions(admin: AdminContext, context: RequestContext) -> list[dict[str, Any]]:
    """Returns the operations with the most similar paths, in WireMock's format of near misses."""

    def distance_to(method: str, path: str) -> float:
        similar = SequenceMatcher(None, context.path, fill(path, context.path)).ratio()
        return round(1 - (similar if method == context.method else similar * 0.9), 3)

    if len(context.path) > LONGEST_COMPARED:
        return []
    ranked = sorted(
        (distance_to(method, path), name, method, path)
        for name, it in admin.endpoints.items()
        for method, path in [(it.operation.method, it.api.base_path + it.operation.path)]
    )
    return [
        {
            "stubMapping": {
                "name": name,
                "request": {"method": method, "urlPathTemplate": path},
            },
            "matchResult": {"distance": distance},
        }
        for distance, name, method, path in ranked[:SUGGESTED]
    ]


async def _matching(admin: AdminContext, call: Call, pattern: Pattern) -> list[RequestContext]:
    wanted = _with_operation_id(admin, pattern)
    return await _searching(search, tuple(call.world.journal), wanted)


def _pattern(admin: AdminContext, **named: str | None) -> Pattern:
    """Returns the pattern for the parameters of a query that are not None.

    Raises:
        BadRequest: There is no such operation.
    """
    given = {name: value for name, value in named.items() if value is not None}
    return _with_operation_id(admin, given)


def _with_operation_id(admin: AdminContext, pattern: Pattern) -> Pattern:
    if "operation" not in pattern:
        return pattern
    return {**pattern, "operation": expect_operation(pattern["operation"], admin.endpoints)}


async def _searching(work: Callable[..., Found], *arguments: Any) -> Found:
    return await asyncio.get_running_loop().run_in_executor(_SEARCHES, work, *arguments)


def delete_requests(call: Call) -> HandlerResponse:
    """Responds to ``DELETE /requests``: empties the journal of the world."""
    call.world.journal.forget()
    return HandlerResponse(status=204)


async def list_unmatched(call: Call) -> HandlerResponse:
    """Lists the requests that matched no operation (``GET /requests/unmatched``)."""
    return await asyncio.to_thread(_listed, _unmatched(call))


async def get_har(call: Call) -> HandlerResponse:
    """Returns the journal as an HTTP archive (``GET /requests/har``)."""
    contexts = tuple(call.world.journal)
    return await asyncio.to_thread(lambda: _written(archive(contexts)))


def _listed(contexts: Sequence[RequestContext], **more: Any) -> HandlerResponse:
    """Returns a response with journal entries. Masking and encoding a full journal takes long."""
    return _written({"requests": [logged(context) for context in contexts], **more})


def _written(value: Any) -> HandlerResponse:
    body = SharedBody(value)
    body.content = json_bytes_in_pieces(value)
    return HandlerResponse(body)


async def with_heartbeats(
    look: Callable[[], Awaitable[Sequence[bytes] | None]],
) -> AsyncIterator[bytes]:
    """Yields the server-sent events of each look, and comments while there are none; None ends it."""
    silent = 0
    while (events := await look()) is not None:
        silent = 0 if events else silent + 1
        for event in events:
            yield event
        if silent == HEARTBEAT:
            silent = 0
            yield b": still there\n\n"


async def _events(
    call: Call, pattern: Pattern, refresh: Callable[[World], Awaitable[None]]
) -> AsyncIterator[bytes]:
    waiting: asyncio.Queue[RequestContext] = asyncio.Queue(WAITING)

    def listen(context: RequestContext) -> None:
        if not waiting.full() and matches(context, pattern):
            waiting.put_nowait(context)

    async def look() -> list[bytes]:
        try:
            context = await asyncio.wait_for(waiting.get(), INTERVAL)
        except TimeoutError:
            await refresh(call.world)
            return []
        return [b"id: %d\ndata: %s\n\n" % (context.number, orjson.dumps(logged(context)))]

    listeners = call.world.journal.listeners
    listeners.append(listen)
    try:
        yield b": following\n\n"
        async for event in with_heartbeats(look):
            yield event
    finally:
        listeners.remove(listen)


def _unmatched(call: Call) -> Sequence[RequestContext]:
    return [context for context in call.world.journal if not context.is_matched]


ADMIN_HANDLERS: AdminHandlers = {
    ("GET", "/requests"): list_requests,
    ("POST", "/requests/count"): count_requests,
    ("POST", "/requests/find"): find_requests,
    ("GET", "/requests/unmatched/near-misses"): list_near_misses,
    ("GET", "/requests/stream"): stream_requests,
}

HANDLERS: Handlers = {
    ("GET", "/requests/{id}"): get_request,
    ("DELETE", "/requests"): delete_requests,
    ("GET", "/requests/unmatched"): list_unmatched,
    ("GET", "/requests/har"): get_har,
}

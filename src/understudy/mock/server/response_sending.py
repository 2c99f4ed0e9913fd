"""Encodes responses and error responses, and sends them as ASGI messages.

Every problem and every internal error becomes a response in the error shape of the API. This one place
does so for all inner layers, Connexion's own refusals included, so that no client gets a framework's
error page.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final, Protocol

from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from understudy.errors import (
    Headers,
    MethodNotAllowed,
    MockRefusal,
    NotFound,
    Problem,
    ShuttingDown,
)
from understudy.mock.server.api import Api
from understudy.mock.server.call import HandlerResponse, SharedBody
from understudy.mock.server.declared_responses import REASON, field_value
from understudy.mock.server.endpoint import endpoints
from understudy.mock.server.faults import NO_PLAN, StreamPlan, WireResponse
from understudy.mock.server.hosts import METADATA_PATH
from understudy.mock.server.json_bodies import json_bytes
from understudy.mock.server.request_context import (
    LAST_EVENT_ID,
    HeaderFields,
    RequestContext,
    context_of,
)
from understudy.mock.server.security import sent_headers
from understudy.openapi.media_types import EVENTS, is_stream, without_options
from understudy.openapi.paths import Paths

UNTRUSTED: Final[HeaderFields] = (
    (b"content-security-policy", b"sandbox"),
    (b"x-content-type-options", b"nosniff"),
)
"""Header fields of every response but the mock's own pages. A document determines bodies and media types,
and shares the origin of the admin API: without these fields, a script in a body could make worlds.
They come first, so a policy of the document can only restrict further (CSP 3, 4.2; Fetch, 3.6)."""

_NO_CONTENT = HTTPStatus.NO_CONTENT  # up to Python 3.11, reading a member calls a function

_NOT_IN_FIELDS = re.compile("[\\x00-\\x08\\x0a-\\x1f\\x7f]")
"""Matches a character that no field value may contain (RFC 9110, 5.5)."""


def encode(
    response: HandlerResponse, headers: Headers | None = None, *, is_own_page: bool = False
) -> WireResponse:
    """Encodes a response.

    Args:
        response: Response to encode: a JSON value is encoded as JSON, bytes are sent unchanged, None
            is an empty body.
        headers: Headers to send instead of the response's; None: the response's.
        is_own_page: Whether the response is a page of the mock, which has a Content-Security-Policy.

    Raises:
        ValueError: A header contains a control character (RFC 9110, 5.5).
    """
    body, status, media_type, own = response
    fields: HeaderFields
    if isinstance(body, SharedBody) and status != _NO_CONTENT and not is_own_page:
        content = body.content or body.encoded()
        if body.fields is None or body.fields[0] != media_type:
            body.fields = media_type, (*UNTRUSTED, *_fields_of_content(content, media_type))
        fields = body.fields[1]
    else:
        content = b"" if status == _NO_CONTENT else _content(body)
        fields = () if is_own_page else UNTRUSTED
        if status != _NO_CONTENT:
            fields = (*fields, *_fields_of_content(content, None if body is None else media_type))
    more = own if headers is None else headers
    return WireResponse(status, (*fields, *_encoded(more)) if more else fields, content)


def _content(body: object) -> bytes:
    if body is None or isinstance(body, bytes):
        return body or b""
    return body.encoded() if isinstance(body, SharedBody) else json_bytes(body)


def _fields_of_content(content: bytes, media_type: str | None) -> HeaderFields:
    length = b"content-length", b"%d" % len(content)
    return (length,) if media_type is None else (length, (b"content-type", media_type.encode()))


def _encoded(headers: Headers) -> HeaderFields:
    fields = []
    for name, text in headers:
        if _NOT_IN_FIELDS.search(text):
            msg = f"the header {name} would hold a control character"
            raise ValueError(msg)
        fields.append((name.encode(), text.encode("latin-1")))
    return fields


async def send_wire(send: Send, response: WireResponse) -> None:
    """Sends an encoded response."""
    start = {"status": response.status, "headers": list(response.headers)}  # layers may add to them
    await send({"type": "http.response.start", **start})
    await send({"type": "http.response.body", "body": response.body})


async def stream_response(receive: Receive, send: Send, response: HandlerResponse) -> None:
    """Streams a response until it ends, or the client disconnects."""
    own = [(b"content-type", response.media_type.encode()), (b"cache-control", b"no-store")]
    headers = [*UNTRUSTED, *own]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send_chunks(receive, send, response.body)


async def send_chunks(receive: Receive, send: Send, content: AsyncGenerator[bytes]) -> None:
    """Sends the body of a started response, until the content ends or the client disconnects."""
    leaving = asyncio.ensure_future(has_left(receive))
    chunk: asyncio.Future[Any] = leaving
    try:
        while not leaving.done():
            chunk = asyncio.ensure_future(anext(content))
            await asyncio.wait({chunk, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not chunk.done():
                break
            await send({"type": "http.response.body", "body": chunk.result(), "more_body": True})
    except StopAsyncIteration:
        await send({"type": "http.response.body", "body": b""})
    finally:
        leaving.cancel()
        chunk.cancel()
        await asyncio.wait({chunk})  # a generator that still runs cannot be closed
        await content.aclose()


async def has_left(receive: Receive) -> None:
    """Returns once the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass


DELIVERY: Final = "understudy.delivery"
"""Scope key of the HeldResponse; absent where responses are sent without a commit."""


class HeldResponse(Protocol):
    """A response that is sent only after its request is committed to a shared store."""

    def delay(self, receive: Receive, seconds: float) -> None:
        """Sets the seconds to wait between the commit and the first message."""

    async def commit(self, body: bytes) -> None:
        """Commits the request with its whole body, and sends the messages held so far."""


async def delay(scope: Scope, receive: Receive, seconds: float) -> None:
    """Delays a response: by waiting now, or after the commit for a held response.

    The delay ends when the client disconnects.
    """
    delivery: HeldResponse | None = scope.get(DELIVERY)
    if not seconds:
        return
    if delivery is None:
        await wait(receive, seconds)
    else:
        delivery.delay(receive, seconds)


async def wait(receive: Receive, seconds: float) -> None:
    """Waits for some seconds, or until the client disconnects."""
    with suppress(TimeoutError):
        await asyncio.wait_for(has_left(receive), seconds)


async def commit_first(scope: Scope, body: bytes) -> None:
    """Commits a request whose response will be sent in pieces; does nothing without a shared store.

    Args:
        scope: ASGI scope of the request.
        body: Whole body of the response, for the journal.
    """
    delivery: HeldResponse | None = scope.get(DELIVERY)
    if delivery is not None:
        await delivery.commit(body)


# Event streams and JSON sequences are sent one item at a time, as the request's preferences or its stub
# plan it: a body that arrives at once cannot test how a client shows items, reconnects or times out. The
# items are those of the body; further ones come from bodies that the next seeds generate.

_OWN_ID: Final = re.compile(rb"^id: ?(.*)$", re.MULTILINE)
_BLANK_LINE: Final = re.compile(rb"(?:\r\n|\n|\r){2,}")
_NUMBER: Final = re.compile(rb"[0-9]{1,9}")


More = Callable[[int], Awaitable[object]]
"""Returns the body generated by the first seed plus this number; None: repeat the first body."""


class _Items:
    """The endless sequence of a stream's items."""

    def __init__(self, body: bytes, content_type: str, more: More) -> None:
        self._is_events = without_options(content_type) == EVENTS
        self._more = more
        self.first = self._latest = self._split(body)
        self._round = 0

    def _split(self, body: object) -> Sequence[bytes]:
        content = body if isinstance(body, bytes) else b""
        if self._is_events:
            return [event for event in _BLANK_LINE.split(content) if event.strip()]
        return content.splitlines(keepends=True)

    async def get(self, number: int) -> bytes:
        """Returns the item with this number, counted from 0; an event without an id gets one."""
        turn, place = divmod(number, len(self.first))
        if turn != self._round:
            self._latest, self._round = self._split(await self._more(turn)) or self.first, turn
        item = self._latest[place % len(self._latest)]
        if not self._is_events:
            return item
        return item + (b"\n\n" if _OWN_ID.search(item) else b"\nid: %d\n\n" % (number + 1))

    def received(self, last_event_id: bytes) -> int:
        """Returns how many items a client has received whose Last-Event-ID is this."""
        ids = [found[1] for found in map(_OWN_ID.search, self.first) if found]
        if last_event_id in ids:
            return ids.index(last_event_id) + 1
        return int(last_event_id) if not ids and _NUMBER.fullmatch(last_event_id) else 0


def is_planned(context: RequestContext, headers: HeaderFields) -> bool:
    """Tells whether a response is a stream whose items are sent one at a time."""
    has_plan = context.stream != NO_PLAN or LAST_EVENT_ID in context.headers
    fields = dict(headers)
    is_whole = b"content-length" in fields and context.method != "HEAD"  # else a handler streams it
    return has_plan and is_whole and is_stream(fields.get(b"content-type", b"").decode("latin-1"))


async def send_planned(
    scope: Scope, receive: Receive, send: Send, response: WireResponse, more: More
) -> None:
    """Sends a stream item by item.

    Args:
        scope: ASGI scope of the request.
        receive: ASGI receive, which tells when the client disconnects.
        send: ASGI send.
        response: Whole response, as it would be sent at once.
        more: Returns the bodies after the first.
    """
    context = context_of(scope)
    content_type = dict(response.headers)[b"content-type"].decode("latin-1")
    items = _Items(response.body, content_type, more)
    headers = [field for field in response.headers if field[0] != b"content-length"]
    headers.append((b"cache-control", b"no-store"))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await commit_first(scope, response.body)
    received = items.received(context.headers.get(LAST_EVENT_ID, b""))
    await send_chunks(receive, send, _timed(items, context.stream, received))


async def _timed(items: _Items, plan: StreamPlan, received: int) -> AsyncGenerator[bytes]:
    """Yields the items of a stream with the planned pauses, after those that the client has received."""
    most = len(items.first) if plan.events is None or not items.first else plan.events
    for number in range(received, most):
        if number > received:
            await asyncio.sleep(plan.interval or 0)
        yield await items.get(number)
    if plan.then == "stay":
        await asyncio.Event().wait()  # keeps the stream open until the client disconnects


def problem_response(status: int, title: str, detail: str) -> HandlerResponse:
    """Returns a problem of the mock itself (RFC 9457), in a shape that the real service never sends."""
    body = {"title": title, "status": status, "detail": detail}
    return HandlerResponse(body, status, "application/problem+json")


_POLICY: Final = (
    "default-src 'none'; img-src 'self'; script-src 'self'; style-src 'self'; "
    "style-src-attr 'unsafe-inline'; "  # the backdrop of a profile
    "base-uri 'none'; form-action 'self'{onward}; frame-ancestors 'none'"
)


def content_policy(onward: str = "") -> str:
    """Returns the Content-Security-Policy of a page.

    Args:
        onward: Another source that the page's forms may be redirected to; empty for none.
    """
    return _POLICY.format(onward=f" {onward}" if onward else "")


PAGE_HEADERS: Final[Headers] = (
    ("content-security-policy", content_policy()),
    ("cache-control", "no-store"),  # the world may change between two requests
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
)


_log = logging.getLogger(__name__)


def as_problem(error: Exception) -> Problem | None:
    """Returns a refusal of the mock or of Connexion as a Problem; None for any other error.

    A refusal by Connexion gets no message here: ErrorResponses adds one that names the remedy.
    """
    if isinstance(error, Problem):
        return error
    if isinstance(error, HTTPException):
        is_method = error.status_code == MethodNotAllowed.status
        return MethodNotAllowed("") if is_method else NotFound("")
    return None


def _addresses(context: RequestContext) -> str:
    """Names the two servers' addresses: an unknown path is often a path of the other server."""
    ours, other = context.resource_url, context.authorization_url
    if ours == other:
        return "."
    return f". The resource API is at {ours}, the authorization server at {other}."


class ErrorResponses:
    """Makes the responses to exceptions that were raised during a request.

    Args:
        paths: Paths of all documents, for allowed methods and suggestions.
        apis: APIs with their error shapes; the first one's is the default.
    """

    def __init__(self, paths: Paths, apis: Sequence[Api]) -> None:
        self._paths = paths
        self._apis = apis

    def encode(
        self, context: RequestContext, error: Exception | asyncio.CancelledError
    ) -> WireResponse:
        """Notes why a request is refused, and returns the encoded error response.

        A cancelled request means that the mock is stopping; nothing else cancels requests.
        """
        if isinstance(error, asyncio.CancelledError):
            error = ShuttingDown()
        problem = as_problem(error)
        if problem is None:
            _log.error("%s %s failed inside the mock", context.method, context.path, exc_info=error)
            problem = _failure(error)
        endpoint = context.endpoint
        if endpoint is not None and context.choices:
            problem = endpoint.api.policies.refusal(context.choices, problem)
        problem = self._worded(context, problem)
        context.refused(problem)
        response = self._response(context, problem)
        # a challenge may contain names from the document, which need not be ASCII
        own = ((name, field_value(text).decode("latin-1")) for name, text in response.headers)
        headers = (*own, *context.extra_headers)
        sent = sent_headers(context, response.status, headers)
        return encode(response, sent)

    def _worded(self, context: RequestContext, problem: Problem) -> Problem:
        """Returns a refusal with a message; refusals by Connexion have none yet."""
        if problem.message:
            return problem
        if isinstance(problem, MethodNotAllowed):
            return method_not_allowed(context, self._paths.allowed(self._paths.based(context.path)))
        if isinstance(problem, NotFound):
            hint = self._paths.hint(context.path) or _addresses(context)
            if "/.well-known/" in context.path:  # asked for by clients that discover a server
                hint = f"; read {context.authorization_url}{METADATA_PATH}"
            msg = f"There is nothing at {context.path}{hint}"
            return NotFound(msg, code="unknown_path")
        return problem

    def _response(self, context: RequestContext, problem: Problem) -> HandlerResponse:
        if isinstance(problem, MockRefusal):
            refusal = problem_response(problem.status, problem.title, problem.message)
            return refusal._replace(headers=((REASON, problem.title),))
        endpoint = context.endpoint
        api = endpoint.api if endpoint else self._api_of(self._paths.based(context.path))
        response = api.error_response(problem)
        seed = context.world.identifiers.seed
        if endpoint is None:
            others = endpoints(api) if api.has_usual_errors else ()
            return others[0].errors.usual_response(response, problem, seed) if others else response
        if endpoint.page is not None:
            return response
        return endpoint.errors.response(response, problem, seed)

    def _api_of(self, path: str) -> Api:
        """Returns the API whose error shape is used for a path without an operation."""
        template = self._paths.template(path)
        for api in self._apis:
            is_its_own = template is not None and template.removeprefix(api.base_path) in api.paths
            if is_its_own or (api.base_path and path.startswith(f"{api.base_path}/")):
                return api
        return self._apis[0]


def method_not_allowed(
    context: RequestContext, methods: Sequence[str], kind: str = ""
) -> MethodNotAllowed:
    """Returns the refusal of a method, with the allowed ones (RFC 9110, 15.5.6).

    Args:
        context: Request with the refused method.
        methods: Methods that the path allows.
        kind: Suffix that says what kind of resource is at the path.
    """
    allowed = ", ".join(methods)
    msg = f"{context.method} is not allowed at {context.path}{kind}; it takes {allowed}."
    return MethodNotAllowed(msg, code="method_not_allowed", headers=(("allow", allowed),))


def _failure(error: Exception) -> Problem:
    msg = f"The mock failed: {type(error).__name__}: {error}. Its log has the traceback."
    return Problem(msg, code="internal_server_error")

"""Sends the callbacks and webhooks that a document declares, and journals them.

The requests that a service sends are operations of a separate API here, so that a receiver's response is
validated and shown like any other. The mock must not become a proxy for attacks: it sends only to this
machine, and to hosts that its user permits.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from string import punctuation
from time import perf_counter
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import orjson

from understudy.errors import BadRequest, LimitExceeded
from understudy.limits import JOURNAL_BODY_BYTES
from understudy.mock.server.api import Api
from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.document_responses import written_body
from understudy.mock.server.endpoint import Endpoint, endpoints
from understudy.mock.server.guards import admin_error
from understudy.mock.server.hosts import BASE_PATH, host_name, is_local, origin_host
from understudy.mock.server.journaling import RequestListener
from understudy.mock.server.parameters import convert
from understudy.mock.server.request_context import Peer, RequestContext, RequestHead, RequestTarget
from understudy.mock.server.worlds import World
from understudy.openapi.expressions import ExchangeValues, evaluated
from understudy.openapi.grammar import METHODS
from understudy.openapi.loader import Document
from understudy.openapi.media_types import concrete, is_json, negotiated, without_options
from understudy.openapi.operations import SentOperation, sent_operations
from understudy.openapi.parameter_writing import written
from understudy.openapi.pointers import value_at
from understudy.openapi.sampler import BRIEF, Sampler

DELAYS: Final = (1.0, 5.0, 25.0)
"""Seconds of the world's clock before each attempt: after the response, and after a failed one."""

SENDER: Final = "mock"
"""Client address, in the journal, of requests that the mock sent."""

TIMEOUT: Final = 10.0
"""Seconds in which a receiver has to respond."""

MOST_WAITING: Final = 1000
"""Callbacks in the queue at most; further ones are not sent."""

_INTERVAL: Final = 0.1
"""Seconds between two polls of the worlds' clocks, which may be set at any time."""

_AGAIN: Final = frozenset({0, 408, 429, *range(500, 600)})
"""Statuses after which a callback is sent again; 0: no response."""

_READABLE: Final = punctuation.replace("%", "") + " "
"""Characters of a name that stay readable in a header; others are percent-encoded (RFC 3986, 2.1)."""

_NUMERIC: Final = frozenset({"integer", "number"})

_SUCCESSES: Final = range(200, 300)


class Permits(NamedTuple):
    """The permitted receivers of callbacks.

    Attributes:
        hosts: Host names and addresses, in lower case.
        is_local: Whether this machine is permitted. It is not where other machines can reach the mock,
            since they could reach local services through it.
    """

    hosts: frozenset[str] = frozenset()
    is_local: bool = True

    def refusal(self, url: str) -> str | None:
        """Returns why nothing is sent to a URL; None if it is permitted."""
        try:
            address = urlsplit(url)
            host = (address.hostname or "").lower()
        except ValueError:
            return f"{url!r:.100} is not a URL"
        if address.scheme not in {"http", "https"} or not host:
            return f"{url!r:.100} is not an http URL"
        if BASE_PATH in address.path:
            return f"{url!r:.100} is a path of the mock's own user"
        if self.takes(host):
            return None
        return f"{host} is not permitted; `serve --callbacks-to {host}` permits it"

    def takes(self, host: str) -> bool:
        """Tells whether a host is a permitted receiver."""
        return host in self.hosts or (self.is_local and is_local(host))


class Sendable(NamedTuple):
    """A callback or webhook that the service sends.

    Attributes:
        declared: Callback or webhook, as the document declares it.
        name: Name in the document, with a number if earlier ones have the same name.
        api: API with all callbacks and webhooks as its operations.
        number: Index of the operation in the API.
    """

    declared: SentOperation
    name: str
    api: Api
    number: int

    @property
    def endpoint(self) -> Endpoint:
        """The operation, which validates responses; the first use compiles all operations."""
        return endpoints(self.api)[self.number]


def _sendables(document: Document) -> list[Sendable]:
    """Returns the callbacks and webhooks that a document declares."""
    declared = list(sent_operations(document))
    paths: dict[str, Any] = {}
    for number, sent in enumerate(declared):
        method = sent.operation.method
        operation = value_at(document.raw, sent.operation.pointer)
        operation = {**operation, "operationId": sent.name, "security": []}
        is_usual = method.lower() in METHODS
        item = {method.lower() if is_usual else method: operation}
        paths[f"/{number}"] = item if is_usual else {"additionalOperations": item}
    api = Api(Document(document.path, {**document.raw, "paths": paths}), "", {}, admin_error)
    seen: Counter[str] = Counter()
    sendables = []
    for number, sent in enumerate(declared):
        seen[sent.key] += 1
        count = seen[sent.key]
        name = sent.key if count == 1 else f"{sent.key} ({count})"
        sendables.append(Sendable(sent, name, api, number))
    return sendables


@dataclass(eq=False, slots=True)
class _Waiting:
    """A callback in the queue.

    Attributes:
        sendable: Callback to send.
        url: URL of the receiver.
        cause: Request that triggered the callback.
        known: Name to value in the exchange, for the members of the callback's body.
        due: Time of the sending, by the world's clock.
        attempt: Number of attempts so far.
    """

    sendable: Sendable
    url: str
    cause: RequestContext
    known: Mapping[str, Any]
    due: datetime
    attempt: int = 0

    @property
    def is_over(self) -> bool:
        """True if the world was reset or deleted since the request."""
        world = self.cause.world
        return world.is_ended or self.cause.number <= world.journal.forgotten


class Callbacks:
    """The callbacks and webhooks of one mock.

    Args:
        permits: Permitted receivers.
        log: Called with each request that was sent; None for no log.
    """

    def __init__(self, permits: Permits, log: RequestListener | None = None) -> None:
        self._permits = permits
        self._log = log
        self._document: Document | None = None
        self._by_owner: dict[str, list[Sendable]] = {}
        self._waiting: list[_Waiting] = []
        self._watch: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self.sendables: Sequence[Sendable] = ()

    def listener(self, document: Document) -> RequestListener | None:
        """Loads the callbacks of the document in force; returns the listener for its requests."""
        self._document, self._by_owner = document, {}
        self.sendables = _sendables(document)
        for sendable in self.sendables:
            self._by_owner.setdefault(sendable.declared.owner, []).append(sendable)
        return self.observe if self._by_owner else self._log

    def observe(self, context: RequestContext) -> None:
        """Queues the callbacks of a finished, successful request."""
        if self._log is not None:
            self._log(context)
        endpoint = context.endpoint
        if endpoint is None or endpoint.api.document is not self._document:
            return
        declared = self._by_owner.get(endpoint.operation.pointer)
        if not declared or context.status not in _SUCCESSES:
            return
        exchange = _values(context)
        for sendable in declared:
            try:
                url = evaluated(sendable.declared.address, exchange)
            except LookupError as error:
                context.notes.append(
                    f"no {sendable.name} is sent, as the exchange has no {error.args[0]}"
                )
                continue
            refusal = self._refusal(url, context)
            if refusal is None and len(self._waiting) >= MOST_WAITING:
                refusal = f"{MOST_WAITING} others wait"
            if refusal is not None:
                context.notes.append(f"no {sendable.name} is sent: {refusal}")
                continue
            known = _known(endpoint.operation.path, exchange)
            due = context.world.clock.now() + timedelta(seconds=DELAYS[0])
            context.notes.append(f"{sendable.name} is sent to {url:.200} at {due:%H:%M:%S}")
            self._wait(_Waiting(sendable, url, context, known, due))

    def _refusal(self, url: str, context: RequestContext) -> str | None:
        origin = context.headers.get(b"origin", b"").decode("latin-1")
        page = host_name(origin_host(origin) or "")
        if page and not (is_local(page) or self._permits.takes(page)):
            return f"a page of {page} asked for it"  # any page in the browser can call this machine
        return self._permits.refusal(url)

    def _wait(self, waiting: _Waiting) -> None:
        self._waiting.append(waiting)
        if self._watch is None or self._watch.done():
            self._watch = asyncio.get_running_loop().create_task(self._send_when_due())

    async def _send_when_due(self) -> None:
        while self._waiting:
            await asyncio.sleep(_INTERVAL)
            self._waiting = [it for it in self._waiting if not it.is_over]
            for waiting in [it for it in self._waiting if it.cause.world.clock.now() >= it.due]:
                self._waiting.remove(waiting)
                task = asyncio.get_running_loop().create_task(self._deliver(waiting))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _deliver(self, waiting: _Waiting) -> None:
        """Sends a callback, and queues the next attempt if it failed."""
        waiting.attempt += 1
        world = waiting.cause.world
        content = _content(waiting.sendable, world, waiting.known)
        note = f"of request {waiting.cause.number}, attempt {waiting.attempt} of {len(DELAYS)}"
        sent = await self._exchanged(waiting.sendable, waiting.url, world, content, note)
        if sent.status in _AGAIN and waiting.attempt < len(DELAYS) and not waiting.is_over:
            waiting.due = world.clock.now() + timedelta(seconds=DELAYS[waiting.attempt])
            self._wait(waiting)

    async def trigger(
        self, name: str, url: str, world: World, body: Any, *, has_body: bool
    ) -> RequestContext:
        """Sends a webhook or a callback at once, and returns its journalled exchange.

        Args:
            name: Name of the webhook or callback in the document.
            url: URL of the receiver.
            world: World that sends it.
            body: Body to send instead of a generated one.
            has_body: Whether ``body`` is given; its None means JSON null.

        Raises:
            LookupError: The document has no webhook or callback of this name.
            BadRequest: The receiver is not permitted.
        """
        sendable = next((it for it in self.sendables if it.name == name), None)
        if sendable is None:
            raise LookupError(name)
        refusal = self._permits.refusal(url)
        if refusal is not None:
            msg = f"url: {refusal}."
            raise BadRequest(msg)
        content = _content(sendable, world, {})
        if has_body:
            content = _Content(content.media_type or "application/json", orjson.dumps(body))
        return await self._exchanged(sendable, url, world, content, "triggered")

    async def _exchanged(
        self, sendable: Sendable, url: str, world: World, content: "_Content", note: str
    ) -> RequestContext:
        """Sends a request, validates the response by the document, and journals both."""
        context = _context(sendable, url, world, content)
        context.notes.append(f"sent by the mock: {sendable.declared.kind} {sendable.name}, {note}")
        started = perf_counter()
        await _send(context, url)
        context.seconds = perf_counter() - started
        fault = _fault(sendable.endpoint, context)
        if fault is not None:
            context.notes.append(f"the receiver's response breaks the document: {fault}")
        # a shared store numbers the requests of all replicas, and does not know this one
        if not world.is_ended and (world.store is None or not world.store.numbers_requests):
            world.journal.add(context)
        if self._log is not None:
            self._log(context)
        return context


class _Content(NamedTuple):
    media_type: str
    body: bytes


def _values(context: RequestContext) -> ExchangeValues:
    """Returns the values of a finished exchange that runtime expressions may refer to."""
    query = dict(parse_qsl(context.query.decode("latin-1"), keep_blank_values=True))
    request = _message(context.body, context.headers)
    return {
        "url": context.site_url + context.path + (f"?{urlencode(query)}" if query else ""),
        "method": context.method,
        "statusCode": context.status,
        "request": {**request, "query": query, "path": context.path_arguments},
        "response": _message(context.response_body, dict(context.response_headers)),
    }


def _message(body: bytes, fields: Mapping[bytes, bytes]) -> dict[str, Any]:
    texts = {name.decode("latin-1"): text.decode("latin-1") for name, text in fields.items()}
    return {"body": _parsed(body, fields.get(b"content-type", b"")), "header": texts}


def _parsed(body: bytes, content_type: bytes) -> Any:
    """Returns the value of a JSON body or a form; None for any other body."""
    if b"form-urlencoded" in content_type:
        return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
    with suppress(ValueError):
        return orjson.loads(body)
    return None


def _known(path: str, exchange: ExchangeValues) -> dict[str, Any]:
    """Returns name to value of an exchange's parameters and bodies; later ones take precedence.

    The ``id`` of the response to ``POST /orders`` is its ``orderId`` and ``order_id``, too.
    """
    request, response = exchange["request"], exchange["response"]
    parts = (request["query"], request["path"], request["body"], response["body"])
    known = {name: it for part in parts if isinstance(part, dict) for name, it in part.items()}
    if isinstance(response["body"], dict) and "id" in response["body"]:
        one = re.sub("ies$", "y", path.rpartition("/")[2]).removesuffix("s")
        known = {f"{one}Id": known["id"], f"{one}_id": known["id"], **known}
    return known


def _content(sendable: Sendable, world: World, known: Mapping[str, Any]) -> _Content:
    """Returns an example or a generated body of a callback, with the values of the exchange."""
    operation, schemas = sendable.endpoint.operation, sendable.endpoint.schemas
    declared = operation.request_body.content if operation.request_body else {}
    if not declared:
        return _Content("", b"")
    key = negotiated(declared, "") or next(iter(declared))
    media, media_type = declared[key], concrete(key)
    value = next(iter(media.examples.values()), None)
    if value is None and media.schema is not None:
        sampler = Sampler(schemas, world.identifiers.seed, efforts=BRIEF)
        with suppress(LimitExceeded):
            value = sampler.value(media.schema)
    if isinstance(value, dict) and media.schema is not None:
        value = _with_known(value, known, schemas.for_responses.validator(media.schema).is_valid)
    body = written_body(value, media_type, media.schema, schemas)
    return _Content(media_type, body if isinstance(body, bytes) else orjson.dumps(body))


def _with_known(body: dict[str, Any], known: Mapping[str, Any], accepts: Any) -> dict[str, Any]:
    """Returns a body with known values in its members of these names, down to the second level."""
    for step in (None, *(name for name, member in body.items() if isinstance(member, dict))):
        for name in [it for it in (body if step is None else body[step]) if it in known]:
            inner, value = body if step is None else body[step], known[name]
            if isinstance(value, str) and not isinstance(inner[name], str):  # a parameter's text
                value = convert(value, _NUMERIC)
            held = {**inner, name: value}
            changed = held if step is None else {**body, step: held}
            body = changed if accepts(changed) else body
    return body


def _context(sendable: Sendable, url: str, world: World, content: _Content) -> RequestContext:
    """Returns the request to send, with generated values for required parameters."""
    operation, schemas = sendable.endpoint.operation, sendable.endpoint.schemas
    address = urlsplit(url)
    sampler = Sampler(schemas, world.identifiers.seed, efforts=BRIEF)
    texts = {
        (it.location, it.name): written(sampler.value(it.schema, it.name))
        for it in operation.parameters
        if it.required and it.schema is not None
    }
    added = urlencode({name: text for (place, name), text in texts.items() if place == "query"})
    query = "&".join(filter(None, (address.query, added)))
    fields = {
        "host": address.netloc.rpartition("@")[2],
        "user-agent": "understudy",
        "x-mock-client": quote(sendable.name, safe=_READABLE),
        **({"content-type": content.media_type} if content.media_type else {}),
        **{name.lower(): text for (place, name), text in texts.items() if place == "header"},
    }
    encoded = [(name.encode(), text.encode("latin-1", "replace")) for name, text in fields.items()]
    head = RequestHead(
        operation.method,
        RequestTarget(address.path or "/", query.encode("latin-1", "replace")),
        encoded,
    )
    peer = Peer(SENDER, (address.hostname or "", address.port), address.scheme)
    context = RequestContext.of(head, peer, world)
    context.site_url = f"{address.scheme}://{fields['host']}"
    context.endpoint, context.body = sendable.endpoint, content.body
    return context


async def _send(context: RequestContext, url: str) -> None:
    """Sends a request, and adds the response to its context; without a response, status 0."""
    import httpx  # noqa: PLC0415 - takes 60 ms, and most mocks send nothing

    query = context.query.decode("latin-1")
    target = urlsplit(url)._replace(query=query, fragment="").geturl()
    fields = [field for field in context.sent_headers if field[0] != b"host"]
    try:
        async with (
            httpx.AsyncClient(timeout=TIMEOUT, trust_env=False) as client,
            asyncio.timeout(TIMEOUT),
            client.stream(context.method, target, headers=fields, content=context.body) as response,
        ):
            context.status, context.response_headers = response.status_code, response.headers.raw
            async for piece in response.aiter_bytes():
                context.response_body += piece
                if len(context.response_body) >= JOURNAL_BODY_BYTES.most:
                    break
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
        context.notes.append(f"there was no response: {str(error) or type(error).__name__}")
    context.response_body = context.response_body[: JOURNAL_BODY_BYTES.most]
    context.body = context.body[: JOURNAL_BODY_BYTES.most]


def _fault(endpoint: Endpoint, context: RequestContext) -> str | None:
    """Returns how a receiver's response breaks the document; None if it is valid or missing."""
    if not context.status:
        return None
    media_type = without_options(context.response_header("content-type") or "")
    body: Any = context.response_body or None
    if body is not None and is_json(media_type):
        try:
            body = orjson.loads(body)
        except ValueError:
            return "its body is not JSON"
    return endpoint.validator.fault(HandlerResponse(body, context.status, media_type))

"""Handlers of the admin API that save a world as a capsule or as fixtures, and open either.

A capsule holds a world's state before one of its requests, with the journal. Packing and unpacking
take long for a large world, so they run in one separate thread: the event loop is not blocked, and
many imports do not use up the threads that check uploads.
"""

import asyncio
import gc
import hashlib
import json
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeVar
from urllib.parse import urlsplit

import msgspec
import orjson
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from understudy.errors import BadRequest, Conflict, NotFound, Problem, StartupError
from understudy.interface.rules import bundled_choices
from understudy.limits import FAULTS, IMPORT_SECONDS, Count
from understudy.mock.admin.capsule_secrets import SecretReferences, SecretResolver
from understudy.mock.admin.context import AdminContext, AdminHandlers
from understudy.mock.admin.faults import InvalidStub, check_fault, check_stub
from understudy.mock.admin.requests import operation_id
from understudy.mock.fixtures.loading import (
    BAD_ARCHIVE,
    opened_archive,
    pack_world,
    unpack_fixtures,
    zipped,
)
from understudy.mock.fixtures.record_checks import check_changes, expect_instant
from understudy.mock.server.call import Call, HandlerResponse, Handlers, Principal, attachment
from understudy.mock.server.clock import FIRST, LAST, ClockSetting, Instant, machine_time, written
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.faults import Fault
from understudy.mock.server.journaling import state_before
from understudy.mock.server.request_context import (
    HeaderFields,
    Peer,
    RefusalReason,
    RequestContext,
    RequestHead,
    RequestTarget,
)
from understudy.mock.server.worlds import WORLD_NAME, Baseline, Snapshot, World
from understudy.mock.store.collections import COLLECTIONS
from understudy.mock.store.state_rows import TimelessSettings
from understudy.mock.store.vocabulary import vocabulary_of
from understudy.openapi.operations import operation_named

Value = TypeVar("Value")

_WORKER: Final = ThreadPoolExecutor(1, "understudy-archives")


async def export_world(call: Call) -> HandlerResponse:
    """Exports the world as a zip file for ``serve --fixtures`` (``GET /export``).

    Raises:
        LimitExceeded: The export takes too long.
    """
    world = call.world.copy()
    packed = await in_worker(lambda: pack_world(world))
    return attachment(packed, f"{world.name}.zip", "application/zip")


async def import_world(call: Call, *, body: bytes) -> HandlerResponse:
    """Replaces the world by the fixtures in a zip file; an error changes nothing (``POST /import``).

    Raises:
        BadRequest: The body is not such a zip file, or a fixture in it is invalid.
        LimitExceeded: The zip file is too large, or the import takes too long.
    """
    words = vocabulary_of(call.world)
    baseline = await in_worker(lambda: unpack_fixtures(body, words))
    snapshot = call.world.snapshot()
    call.world.become(snapshot._replace(baseline=baseline, overlay={}))
    return HandlerResponse(status=204)


async def in_worker(work: Callable[[], Value]) -> Value:
    """Runs a function in the thread for archives, and returns its result.

    Raises:
        LimitExceeded: The function takes too long.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(IMPORT_SECONDS.most):
            return await loop.run_in_executor(_WORKER, _without_collection, work)
    except TimeoutError:
        raise IMPORT_SECONDS.exceeded() from None


def _without_collection(work: Callable[[], Value]) -> Value:
    """Runs a function while garbage collection is paused.

    With a million new objects, each collection would stop every thread for more than a second.
    """
    if not gc.isenabled():
        return work()
    gc.disable()
    try:
        return work()
    finally:
        gc.enable()


HANDLERS: Handlers = {("GET", "/export"): export_world, ("POST", "/import"): import_world}


ENTRY: Final = "capsule.json"

Line = Annotated[str, Meta(pattern=r"^[\t -~\x80-\xff]*\Z")]
"""The value of a header field (RFC 9110, 5.5)."""

Word = Annotated[str, Meta(pattern=r"^[!-~]{1,2000}\Z")]
"""Printable ASCII characters without a space."""

Fields = list[tuple[Word, Line]]
"""Header fields in the order in which they were sent."""


class CapsuleText(Struct, frozen=True, forbid_unknown_fields=True):
    """The bytes of a body as text.

    Attributes:
        encoding: The encoding that turns the text into the bytes again.
        text: The text, with references in place of secrets.
    """

    encoding: Literal["utf-8", "latin-1"]
    text: str

    @classmethod
    def of(cls, content: bytes) -> "CapsuleText":
        """Returns bytes as text: decoded from UTF-8, else one character for each byte."""
        try:
            return cls("utf-8", content.decode())
        except UnicodeDecodeError:
            return cls("latin-1", content.decode("latin-1"))


class CapsulePrincipal(Struct, frozen=True, forbid_unknown_fields=True):
    """The account and the credential of a request."""

    person: str
    kind: Literal["oauth", "api_key"]
    scopes: list[str]
    token: Line


class CapsuleExchange(Struct, frozen=True, forbid_unknown_fields=True):
    """A request of the journal and its response."""

    started: Instant
    seconds: Annotated[float, Meta(ge=0, le=1e6)]
    client: Line
    site_url: Annotated[str, Meta(pattern=r"^https?://[!-~]{1,2000}\Z")]
    method: Word
    path: str
    query: Line
    fields: Fields
    body: CapsuleText
    operation: str | None
    principal: CapsulePrincipal | None
    fault: str | None
    notes: list[str]
    status: Annotated[int, Meta(ge=0, le=599)]
    response_fields: Fields
    response_body: CapsuleText
    reason: str | None = None


class Capsule(Struct, frozen=True, forbid_unknown_fields=True):
    """A world before one of its requests.

    Attributes:
        format: The format of the file.
        world: The world's name.
        request: The request before which the state was saved; None for the state after the last.
        baseline: The digest of the fixtures.
        document: The digest of the document in force.
        now: The world's time.
        settings: The rest of the state, apart from the records.
        changes: The changed records by collection and key; None for a removed record.
        total: The number of the last request of the journal.
        journal: The requests that the journal still has, the oldest first.
    """

    format: Literal["understudy-capsule-1"]
    world: Annotated[str, Meta(pattern=WORLD_NAME)]
    request: Count | None
    baseline: str
    document: str
    now: Instant
    settings: TimelessSettings
    changes: dict[str, dict[str, Any]]
    total: Count
    journal: list[CapsuleExchange]


def pack(capsule: Capsule) -> bytes:
    """Returns the file of a capsule; equal capsules have equal bytes."""
    return zipped([(ENTRY, msgspec.json.encode(capsule))])


def unpack(content: bytes) -> Capsule:
    """Reads the file of a capsule.

    Raises:
        BadRequest: The content is not a capsule, or has a password.
        LimitExceeded: The content is too large.
    """
    try:
        with opened_archive(content) as archive:
            return msgspec.json.decode(archive.read(ENTRY), type=Capsule)
    except KeyError as error:
        msg = f"The zip file contains no {ENTRY}; a capsule is made by GET /__admin/capsule."
        raise BadRequest(msg) from error
    except BAD_ARCHIVE as error:
        msg = f"The body is not a capsule: {error}. GET /__admin/capsule makes one."
        raise BadRequest(msg) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        msg = f"The capsule cannot be read: {error}. Make it again by GET /__admin/capsule."
        raise BadRequest(msg) from error


def each_text(value: Any, convert: Callable[[str], str]) -> Any:
    """Returns a JSON value with a function applied to every string, keys included."""
    if isinstance(value, str):
        return convert(value)
    if isinstance(value, list | tuple):
        return [each_text(item, convert) for item in value]
    if isinstance(value, dict):
        return {convert(key): each_text(member, convert) for key, member in value.items()}
    return value


def recorded(context: RequestContext, references: SecretReferences) -> CapsuleExchange:
    """Returns an exchange of the journal for a capsule, with references in place of secrets."""
    hidden = references.hidden
    principal = context.principal
    parameters = context.endpoint.operation.parameters if context.endpoint else ()
    declared = {it.name for it in parameters if it.location == "cookie"}
    return CapsuleExchange(
        started=context.started,
        seconds=round(context.seconds, 6),
        client=context.client,
        site_url=context.site_url,
        method=context.method,
        path=hidden(context.path),
        query=hidden(context.query.decode("latin-1")),
        fields=_hidden_fields(context.sent_headers, references, declared),
        body=_hidden_text(context.body, references),
        operation=operation_id(context),
        principal=None
        if principal is None
        else CapsulePrincipal(
            principal.person, principal.kind, sorted(principal.scopes), hidden(principal.token)
        ),
        fault=context.fault,
        notes=[hidden(note) for note in context.notes],
        status=context.status,
        response_fields=_hidden_fields(context.response_headers, references),
        response_body=_hidden_text(context.response_body, references),
        reason=context.refusal and hidden(context.refusal.problem.message),
    )


def restored(
    exchanges: Sequence[CapsuleExchange],
    world: World,
    endpoints: Mapping[str, Endpoint],
    resolver: SecretResolver,
) -> list[RequestContext]:
    """Returns the exchanges of a capsule for the journal of a world.

    Raises:
        ValueError: A reference has no target, or a text cannot be part of a request.
    """
    contexts = []
    operations = [endpoint.operation for endpoint in endpoints.values()]
    for exchange in exchanges:
        context = RequestContext.of(_head(exchange, resolver), _peer(exchange), world)
        context.site_url = exchange.site_url
        context.started, context.seconds = exchange.started, exchange.seconds
        context.body = _revealed_text(exchange.body, resolver)
        called = operation_named(exchange.operation or "", operations)
        context.endpoint = None if called is None else endpoints[called.operation_id]
        known = exchange.principal
        if known is not None:
            token = resolver.revealed(known.token)
            context.principal = Principal(known.person, known.kind, frozenset(known.scopes), token)
        context.fault = exchange.fault
        context.notes = [resolver.revealed(note) for note in exchange.notes]
        if exchange.reason is not None:
            reason = Problem(resolver.revealed(exchange.reason))
            context.refusal = RefusalReason(reason, ())
        context.status = exchange.status
        context.response_headers = _revealed_fields(exchange.response_fields, resolver)
        context.response_body = _revealed_text(exchange.response_body, resolver)
        contexts.append(context)
    return contexts


def _head(exchange: CapsuleExchange, resolver: SecretResolver) -> RequestHead:
    path = resolver.revealed(exchange.path)
    query = resolver.revealed(exchange.query).encode("latin-1")
    target = RequestTarget(path, query)
    return RequestHead(exchange.method, target, _revealed_fields(exchange.fields, resolver))


def _peer(exchange: CapsuleExchange) -> Peer:
    address = urlsplit(exchange.site_url)
    address.port  # noqa: B018 - raises ValueError for a number above 65535
    return Peer(exchange.client, ("127.0.0.1", None), address.scheme)


def _hidden_fields(
    fields: HeaderFields, references: SecretReferences, declared: Container[str] = ()
) -> Fields:
    texts = [(name.decode("latin-1"), text.decode("latin-1")) for name, text in fields]
    return [(name, references.hidden_field(name, text, declared)) for name, text in texts]


def _revealed_fields(fields: Fields, resolver: SecretResolver) -> list[tuple[bytes, bytes]]:
    return [
        (name.encode("latin-1"), resolver.revealed_field(text).encode("latin-1"))
        for name, text in fields
    ]


def _hidden_text(content: bytes, references: SecretReferences) -> CapsuleText:
    text = CapsuleText.of(content)
    return CapsuleText(text.encoding, references.hidden(text.text))


def _revealed_text(text: CapsuleText, resolver: SecretResolver) -> bytes:
    return resolver.revealed(text.text).encode(text.encoding)


_TYPES = {collection.name: collection.type for collection in COLLECTIONS}


async def get_capsule(
    admin: AdminContext, call: Call, *, request: int | None = None
) -> HandlerResponse:
    """Responds to ``GET /capsule``.

    Raises:
        NotFound: The journal does not remember the request.
        Conflict: The history does not reach back so far.
        LimitExceeded: Packing takes too long.
    """
    world = call.world
    if request is not None and world.journal.get(request) is None:
        msg = f"The journal of this world does not remember a request {request}."
        raise NotFound(msg)
    contexts = tuple(world.journal)
    copy, now = world.copy(), world.clock.now()
    if request is not None:
        copy.become(state_before(world, request))
        now = contexts[request - world.journal.total - 1].started
    total, issued = world.journal.total, world.identifiers.count
    packed = await in_worker(
        lambda: pack(_capsule(admin, copy, now, (request, total, issued), contexts))
    )
    name = f"{world.name}-{request}" if request else world.name
    return attachment(packed, f"{name}.capsule.zip", "application/zip")


def _capsule(
    admin: AdminContext,
    world: World,
    now: datetime,
    numbers: tuple[int | None, int, int],
    contexts: Sequence[Any],
) -> Capsule:
    references = SecretReferences(world, contexts, numbers[2])
    changes: dict[str, dict[str, Any]] = {}
    for collection, key, record in world.changes():
        shown = None if record is None else orjson.loads(msgspec.json.encode(record))
        records = changes.setdefault(collection, {})
        records[references.hidden(key)] = each_text(shown, references.hidden)
    return Capsule(
        format="understudy-capsule-1",
        world=world.name,
        request=numbers[0],
        baseline=_digest(admin, "baseline", world.baseline),
        document=_digest(admin, "document", admin.apis[0].document.raw),
        now=now,
        settings=_with_texts(TimelessSettings.of(world.snapshot()), references.hidden),
        changes=changes,
        total=numbers[1],
        journal=[recorded(context, references) for context in contexts],
    )


def _with_texts(settings: TimelessSettings, convert: Callable[[str], str]) -> TimelessSettings:
    """Returns settings with a function applied to the texts of messages in their faults and stubs.

    Raises:
        ValueError: A converted fault or stub is invalid.
    """
    faults = {}
    for name, fault in settings.faults.items():
        members = {it: getattr(fault, it) for it in ("header", "stub")}
        texts = each_text(msgspec.to_builtins(members), convert)
        faults[name] = msgspec.convert({**msgspec.to_builtins(fault), **texts}, Fault)
    return replace(settings, faults=faults)


async def open_capsule(admin: AdminContext, call: Call, *, body: bytes) -> HandlerResponse:
    """Responds to ``POST /capsule``.

    Raises:
        BadRequest: The body is not a capsule.
        Conflict: The capsule is of another world, other fixtures or another document.
        LimitExceeded: The capsule is too large, or takes too long to check.
    """
    world = call.world
    capsule = unpack(body)
    if capsule.world != world.name:
        msg = (
            f"The capsule was made of the world {capsule.world!r}, and this is {world.name!r}; "
            "open it in a world of the same name."
        )
        raise Conflict(msg, headers=(("x-mock-world", capsule.world),))
    baseline = await in_worker(lambda: _digest(admin, "baseline", world.baseline))
    _expect_same("fixtures", capsule.baseline, baseline, "--fixtures")
    document = _digest(admin, "document", admin.apis[0].document.raw)
    _expect_same("document", capsule.document, document, "--document")
    resolver = SecretResolver(world.baseline, capsule.settings.seed, world.mark)
    try:
        snapshot = await in_worker(lambda: _checked_state(admin, capsule, world, resolver))
        contexts = restored(capsule.journal, world, admin.endpoints, resolver)
    except (
        ValueError,
        TypeError,
        RecursionError,
        StartupError,
        BadRequest,
        InvalidStub,
    ) as error:
        msg = f"The capsule cannot be opened: {str(error).removesuffix('.')}."
        raise BadRequest(msg) from error
    world.become(snapshot)
    world.journal.resume(max(capsule.total - len(contexts), 0))
    for context in contexts:
        world.journal.add(context)
    world.history.lose()
    about = {"world": world.name, "request": capsule.request, "requests": len(contexts)}
    return HandlerResponse({**about, "now": written(world.clock.now())})


def _checked_state(
    admin: AdminContext, capsule: Capsule, world: World, resolver: SecretResolver
) -> Snapshot:
    """Returns the state of a capsule, checked like fixtures and bodies of the admin API.

    Raises:
        ValueError: A record or a reference is invalid.
        StartupError: A record breaks a rule of fixtures, or there is no such switch or option.
        BadRequest: A fault names an operation or a person that does not exist.
        LimitExceeded: There are too many records or faults.
    """
    settings = _with_texts(capsule.settings, resolver.revealed)
    snapshot = _state(capsule, world.baseline, resolver)
    scratch = World(world.name, world.baseline)
    scratch.become(snapshot)
    check_changes(scratch)
    bundled_choices([f"{name}={option}" for name, option in settings.choices.items()])
    FAULTS.check(len(settings.faults))
    faults = {}
    for name, fault in settings.faults.items():
        if fault.id != name:
            msg = f"settings: faults: {name!r} has the id {fault.id!r}"
            raise ValueError(msg)
        check = check_fault if fault.stub is None else check_stub
        faults[name] = check(fault, admin.endpoints, scratch)
    for window in settings.windows.values():
        expect_instant("settings: windows", window.opened)
    for number, exchange in enumerate(capsule.journal):
        expect_instant(f"journal: {number}: started", exchange.started)
    return snapshot._replace(faults=faults)


def _digest(admin: AdminContext, name: str, value: Any) -> str:
    """Returns the digest of fixtures or of a document, cached as long as the object is the same."""
    known = admin.digests.get(name)
    if known is None or known[0] is not value:
        known = (value, _baseline_digest(value) if name == "baseline" else _json_digest(value))
        admin.digests[name] = known
    return known[1]


def _expect_same(what: str, expected: str, actual: str, option: str) -> None:
    if expected != actual:
        msg = (
            f"The capsule was made with another {what} (digest {expected[:12]}; this mock has "
            f"{actual[:12]}); start the mock with the same {option}."
        )
        raise Conflict(msg)


def _json_digest(document: Any) -> str:
    try:
        content = orjson.dumps(document, option=orjson.OPT_SORT_KEYS, default=str)
    except TypeError:  # orjson takes no integers of more than 64 bits
        content = json.dumps(document, sort_keys=True, default=str).encode()
    return hashlib.sha256(content).hexdigest()


def _baseline_digest(baseline: Baseline) -> str:
    digest = hashlib.sha256()
    encoder = msgspec.msgpack.Encoder(order="deterministic")
    for name in sorted(baseline):
        for key, record in baseline[name].items():
            digest.update(encoder.encode((name, key, record)))
    return digest.hexdigest()


def _state(capsule: Capsule, baseline: Baseline, resolver: SecretResolver) -> Snapshot:
    """Returns the state of a capsule, not yet checked, with a frozen clock.

    Raises:
        ValueError: A record or a reference is invalid.
    """
    overlay: dict[str, dict[str, Any]] = {}
    for collection, members in capsule.changes.items():
        kind = collection.partition(" ")[0]
        if kind not in _TYPES:
            msg = f"there is no collection {collection!r}"
            raise ValueError(msg)
        for key, record in members.items():
            text = orjson.dumps(each_text(record, resolver.revealed))
            try:
                value = None if record is None else msgspec.json.decode(text, type=_TYPES[kind])
            except msgspec.ValidationError as error:
                msg = f"changes: {collection}: {key}: {error}"
                raise ValueError(msg) from error
            overlay.setdefault(collection, {})[resolver.revealed(key)] = value
    settings = capsule.settings
    now = min(max(FIRST, capsule.now), LAST)
    clock = ClockSetting(machine_time(), now, 0.0)
    return Snapshot(baseline, overlay, clock, **asdict(settings))


ADMIN_HANDLERS: AdminHandlers = {
    ("GET", "/capsule"): get_capsule,
    ("POST", "/capsule"): open_capsule,
}

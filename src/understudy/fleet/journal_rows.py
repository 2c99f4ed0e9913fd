"""Encodes and decodes requests for the shared journal, and their changes for the history."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from understudy.errors import Breach, Headers, Problem
from understudy.mock.server.call import Principal
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.journal import (
    ABSENT,
    SETTINGS,
    Exercised,
    HistoryEntry,
    RecordStep,
    RequestChanges,
    Settings,
    StateStep,
    Step,
)
from understudy.mock.server.request_context import (
    Peer,
    RefusalReason,
    RequestContext,
    RequestHead,
    RequestTarget,
)
from understudy.mock.server.worlds import World
from understudy.mock.store.state_rows import Rows, WorldSettings

FindEndpoint = Callable[[str], Endpoint | None]
"""A function that returns the operation with a name made by ``endpoint_name``."""


class StoredRefusal(Struct, array_like=True):
    """The reason of a refused request, as shown in the journal."""

    status: int
    message: str
    code: str | None
    breach: Breach | None
    rules: tuple[str, ...]


class StoredExchange(Struct, array_like=True):
    """The attributes of ``RequestContext`` that are stored unchanged."""

    path: str
    query: bytes
    sent_headers: list[tuple[bytes, bytes]]
    body: bytes
    site_url: str
    resource_url: str
    authorization_url: str
    started: datetime
    seconds: float
    path_arguments: dict[str, str]
    principal: Principal | None
    choices: dict[str, str]
    extra_headers: Headers
    undeclared_query: tuple[str, ...]
    notes: list[str]
    fault: str | None
    status: int
    response_headers: list[tuple[bytes, bytes]]
    response_body: bytes


class StoredRequest(Struct, array_like=True):
    """An entry of a journal."""

    method: str
    client: str
    endpoint: str
    exchange: StoredExchange
    refusal: StoredRefusal | None


_encode = msgspec.msgpack.Encoder(enc_hook=str).encode
_decode = msgspec.msgpack.Decoder(StoredRequest).decode


def endpoint_name(endpoint: Endpoint) -> str:
    """Returns a name that is unique among the operations of all served documents."""
    return f"{endpoint.api.base_path} {endpoint.operation.operation_id}"


def journal_row(context: RequestContext) -> bytes:
    """Encodes a request with its response as an entry of the journal."""
    members: dict[str, Any] = {
        name: dict(it) if isinstance(it := getattr(context, name), Mapping) else it
        for name in StoredExchange.__struct_fields__
    }
    endpoint = "" if context.endpoint is None else endpoint_name(context.endpoint)
    refusal = None
    if context.refusal is not None:
        problem, rules = context.refusal
        about = (problem.status, problem.message, problem.code, problem.breach)
        refusal = StoredRefusal(*about, rules)
    exchange = StoredExchange(**members)
    return _encode(StoredRequest(context.method, context.client, endpoint, exchange, refusal))


def journalled(row: bytes, world: World, find: FindEndpoint) -> RequestContext:
    """Decodes an entry of the journal of a world.

    Raises:
        ValueError: The entry was encoded by another version.
    """
    stored = _decode(row)
    exchange, refusal = stored.exchange, stored.refusal
    target = RequestTarget(exchange.path, exchange.query)
    head = RequestHead(stored.method, target, exchange.sent_headers)
    context = RequestContext.of(head, Peer(stored.client, ("127.0.0.1", None), "http"), world)
    for name in exchange.__struct_fields__:
        setattr(context, name, getattr(exchange, name))
    context.endpoint = find(stored.endpoint) if stored.endpoint else None
    if refusal is not None:
        problem = Problem(refusal.message, code=refusal.code, breach=refusal.breach)
        problem.status = refusal.status  # type: ignore[misc]  # a class attribute; no class is stored
        context.refusal = RefusalReason(problem, refusal.rules)
    return context


class StoredStep(Struct, array_like=True):
    """The change of one record, or of the whole state of a world.

    Attributes:
        collection: The record's collection; empty for the whole state.
        key: The record's key.
        before: The record or state before the change; None if it was absent or removed.
        was_absent: Whether the overlay had no entry for the record.
        is_removed: Whether the change removed the record.
    """

    collection: str
    key: str
    before: bytes | None
    was_absent: bool
    is_removed: bool


class StoredChanges(Struct, array_like=True):
    """The changes of a request; see ``HistoryEntry``."""

    at: datetime
    method: str
    path: str
    is_journalled: bool
    steps: list[StoredStep]
    issued: int
    settings: WorldSettings | None
    weight: int


_encode_changes = msgspec.msgpack.Encoder().encode
_decode_changes = msgspec.msgpack.Decoder(StoredChanges).decode


def history_row(
    rows: Rows, context: RequestContext, changes: RequestChanges, *, is_own: bool
) -> bytes:
    """Encodes the changes of a request for the history; empty if they cannot be undone."""
    if changes.is_lost:
        return b""
    steps = [_stored_step(rows, step) for step in changes.steps]
    about = (context.started, context.method, context.path, is_own)
    settings = None if changes.settings is None else _stored_settings(changes.settings)
    return _encode_changes(StoredChanges(*about, steps, changes.issued, settings, changes.weight))


def history_entry(rows: Rows, number: int, row: bytes) -> HistoryEntry:
    """Decodes the changes of a request.

    Args:
        rows: Decodes records and snapshots.
        number: The number of the request, or of the last entry before it if it is not journalled.
        row: The encoded changes.

    Raises:
        ValueError: The changes were encoded by another version.
    """
    stored = _decode_changes(row)
    steps = [_step(rows, step) for step in stored.steps]
    known = stored.settings
    settings = None if known is None else {name: getattr(known, name) for name in SETTINGS}
    changes = RequestChanges(steps, stored.issued, settings, stored.weight, is_lost=False)
    request = number if stored.is_journalled else None
    after = number - stored.is_journalled
    return HistoryEntry(stored.at, (stored.method, stored.path), after, changes, request)


def _stored_step(rows: Rows, step: Step) -> StoredStep:
    if isinstance(step, StateStep):
        return StoredStep("", "", rows.snapshot(step.before), was_absent=False, is_removed=False)
    before: Any = step.before
    was_absent = before is ABSENT
    row = None if was_absent or before is None else rows.record(step.collection, before)
    return StoredStep(step.collection, step.key, row, was_absent, step.is_removed)


def _step(rows: Rows, step: StoredStep) -> Step:
    if not step.collection:
        return StateStep(rows.decoded_snapshot(step.before or b""))
    before = ABSENT if step.was_absent else None
    if step.before is not None:
        before = rows.decoded(step.collection, step.before)
    return RecordStep(step.collection, step.key, before, step.is_removed)


def _stored_settings(settings: Settings) -> WorldSettings:
    clock, choices = settings["clock"], dict(settings["choices"])
    return WorldSettings(0, 0, choices, settings["limits"], settings["faults"], clock=clock)


def exercised_row(exercised: Exercised | None) -> str:
    """Encodes the part of the contract that a request exercised, for the counts in the store."""
    return "" if exercised is None else "\0".join(map(str, exercised))


def exercised_counts(flat: Sequence[bytes]) -> Counter[Exercised]:
    """Decodes the counts of exercised parts of the contract."""
    return Counter({_exercised(part): int(count) for part, count in pairs(flat)})


def _exercised(row: bytes) -> Exercised:
    operation, status, identity = row.decode().split("\0")
    return Exercised(operation, int(status), identity)


def pairs(flat: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yields name and value from a flat list in which they alternate."""
    return zip(flat[::2], flat[1::2], strict=True)

"""Encodes requests for a shared journal, and what they changed for its history, and decodes them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from understudy import errors
from understudy.errors import Breach, Problem
from understudy.mock.server.call import Principal
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.journal import (
    ABSENT,
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
"""Returns the operation that a name stands for, as ``endpoint_name`` makes it."""

Fields = list[tuple[bytes, bytes]]


class StoredRefusal(Struct, array_like=True):
    """Why a request was refused."""

    kind: str
    status: int
    message: str
    code: str | None
    headers: list[tuple[str, str]]
    breach: Breach | None
    rules: tuple[str, ...]


class StoredRequest(Struct, array_like=True):
    """A request and its response, as ``RequestContext`` has them."""

    method: str
    path: str
    query: bytes
    fields: Fields
    body: bytes
    peer: tuple[str, tuple[str, int | None], str]
    urls: tuple[str, str, str]
    started: datetime
    seconds: float
    endpoint: str
    path_arguments: dict[str, str]
    principal: tuple[str, str, list[str], str] | None
    choices: dict[str, str]
    extra_headers: list[tuple[str, str]]
    undeclared_query: tuple[str, ...]
    notes: list[str]
    fault: str | None
    status: int
    response_fields: Fields
    response_body: bytes
    refusal: StoredRefusal | None


_encode = msgspec.msgpack.Encoder(enc_hook=str).encode
_decode = msgspec.msgpack.Decoder(StoredRequest).decode


def endpoint_name(endpoint: Endpoint) -> str:
    """Returns what names an operation among those of all documents in force."""
    return f"{endpoint.api.base_path} {endpoint.operation.operation_id}"


def journal_row(context: RequestContext) -> bytes:
    """Encodes a request whose response is ready."""
    principal = context.principal
    return _encode(
        StoredRequest(
            context.method,
            context.path,
            context.query,
            list(context.sent_headers),
            context.body,
            (context.client, ("127.0.0.1", None), context.site_url.partition(":")[0]),
            (context.site_url, context.resource_url, context.authorization_url),
            context.started,
            context.seconds,
            "" if context.endpoint is None else endpoint_name(context.endpoint),
            dict(context.path_arguments),
            None
            if principal is None
            else (principal.person, principal.kind, sorted(principal.scopes), principal.token),
            dict(context.choices),
            list(context.extra_headers),
            context.undeclared_query,
            context.notes,
            context.fault,
            context.status,
            list(context.response_headers),
            context.response_body,
            _stored(context.refusal),
        )
    )


def journalled(row: bytes, world: World, find: FindEndpoint) -> RequestContext:
    """Decodes a request, as the journal of a world keeps it.

    Raises:
        ValueError: It was not encoded by this version.
    """
    stored = _decode(row)
    head = RequestHead(stored.method, RequestTarget(stored.path, stored.query), stored.fields)
    context = RequestContext(head, Peer(*stored.peer), world)
    context.path = stored.path
    context.body = stored.body
    context.site_url, context.resource_url, context.authorization_url = stored.urls
    context.started, context.seconds = stored.started, stored.seconds
    context.endpoint = find(stored.endpoint) if stored.endpoint else None
    context.path_arguments = stored.path_arguments
    if stored.principal is not None:
        person, kind, scopes, token = stored.principal
        is_key = kind == "api_key"
        context.principal = Principal(
            person, "api_key" if is_key else "oauth", frozenset(scopes), token
        )
    context.choices = stored.choices
    context.extra_headers = tuple(stored.extra_headers)
    context.undeclared_query = stored.undeclared_query
    context.notes = stored.notes
    context.fault = stored.fault
    context.status = stored.status
    context.response_headers = stored.response_fields
    context.response_body = stored.response_body
    context.refusal = _refusal(stored.refusal)
    return context


def _stored(refusal: RefusalReason | None) -> StoredRefusal | None:
    if refusal is None:
        return None
    problem = refusal.problem
    return StoredRefusal(
        type(problem).__name__,
        problem.status,
        problem.message,
        problem.code,
        list(problem.headers),
        problem.breach,
        refusal.rules,
    )


_KINDS: Mapping[str, Any] = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, Problem)
}


def _refusal(stored: StoredRefusal | None) -> RefusalReason | None:
    if stored is None:
        return None
    kind = _KINDS.get(stored.kind, Problem)
    problem: Problem = kind.__new__(kind)  # some kinds make their message of other arguments
    Problem.__init__(
        problem,
        stored.message,
        code=stored.code,
        headers=tuple(stored.headers),
        breach=stored.breach,
    )
    problem.status = stored.status  # type: ignore[misc]  # each limit has its own
    return RefusalReason(problem, stored.rules)


class StoredStep(Struct, array_like=True):
    """A change of one record, or of a whole state.

    Attributes:
        collection: The record's collection; empty for a whole state.
        key: The record's key.
        before: What it was before; None: nothing, or removed.
        was_absent: Whether the overlay had nothing there.
        is_removed: Whether the change removed the record.
    """

    collection: str
    key: str
    before: bytes | None
    was_absent: bool
    is_removed: bool


class StoredChanges(Struct, array_like=True):
    """The changes of a request, as ``HistoryEntry`` has them."""

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
    """Encodes the changes of a request; empty for those that cannot be undone."""
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
        number: The number of the request, or of the last one before it where it has none.
        row: The changes.

    Raises:
        ValueError: They were not encoded by this version.
    """
    stored = _decode_changes(row)
    steps = [_step(rows, step) for step in stored.steps]
    settings = None if stored.settings is None else _settings(stored.settings)
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


def _settings(stored: WorldSettings) -> Settings:
    return {name: getattr(stored, name) for name in ("clock", "choices", "limits", "faults")}


def _stored_settings(settings: Settings) -> WorldSettings:
    clock, choices = settings["clock"], dict(settings["choices"])
    return WorldSettings(clock, 0, 0, choices, settings["limits"], settings["faults"])


def exercised_row(exercised: Exercised | None) -> str:
    """Returns the part of the contract that a request used, as the store counts it."""
    return "" if exercised is None else "\0".join(map(str, exercised))


def exercised_counts(flat: Sequence[bytes]) -> Counter[Exercised]:
    """Returns parts of the contract with how often they were used, as the store counts them."""
    return Counter({_exercised(part): int(count) for part, count in pairs(flat)})


def _exercised(row: bytes) -> Exercised:
    operation, status, identity = row.decode().split("\0")
    return Exercised(operation, int(status), identity)


def pairs(flat: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yields each name with the value behind it."""
    return zip(flat[::2], flat[1::2], strict=True)

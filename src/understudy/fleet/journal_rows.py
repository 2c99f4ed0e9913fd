"""Encodes requests as the entries of a shared journal, and decodes them."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from understudy import errors
from understudy.errors import Breach, Problem
from understudy.mock.server.call import Principal
from understudy.mock.server.endpoint import Endpoint
from understudy.mock.server.request_context import (
    Peer,
    RefusalReason,
    RequestContext,
    RequestHead,
    RequestTarget,
)
from understudy.mock.server.worlds import World

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

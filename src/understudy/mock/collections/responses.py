"""Writes items as the bodies and headers that the document declares for a response."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

import orjson

from understudy.errors import Headers
from understudy.mock.collections.bound import OVERRIDE, BoundCall
from understudy.mock.collections.records import text_of
from understudy.mock.collections.shapes import ItemShape
from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.sample_bodies import written_body
from understudy.mock.server.sample_headers import sample_headers
from understudy.mock.store.items import Item
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Node
from understudy.openapi.media_types import concrete, negotiated
from understudy.openapi.operations import DeclaredResponse
from understudy.openapi.resources.bodies import response_schema
from understudy.openapi.resources.model import ResourceCollection
from understudy.openapi.sampler import Sampler

CREATED: Final = 201
NO_CONTENT: Final = 204
_OK: Final = 200
_SUCCESSES = range(200, 300)
_COMPUTED: Final = frozenset({"location", "content-location", "etag", "link"})
"""Headers that are sent with the value that is right here, or not at all."""


def status_for(bound: BoundCall, *, is_created: bool = False) -> int:
    """Returns the success to respond with: 201 for what was created, where it is declared."""
    declared = [int(it) for it in bound.role.operation.responses if it.isdecimal()]
    successes = sorted(status for status in declared if status in _SUCCESSES)
    if is_created and CREATED in successes:
        return CREATED
    return next((status for status in successes if is_created or status != CREATED), None) or next(
        iter(successes), _OK
    )


def response(
    bound: BoundCall, status: int, value: Any, headers: Mapping[str, str] | None = None
) -> HandlerResponse:
    """Returns a response with an item, or a list of items, in the envelope that is declared.

    Args:
        bound: The call.
        status: One that the document declares.
        value: The item's members, or the list; None for a response without an item.
        headers: The headers that are computed; those that the document does not declare are left out.
    """
    declared = bound.role.operation.response(status)
    if declared is None:
        return HandlerResponse(value, status, headers=(OVERRIDE,))
    sent = (*_headers(bound, declared, headers or {}), OVERRIDE)
    if not declared.content or status == NO_CONTENT:
        return HandlerResponse(None, status, headers=sent)
    accept = bound.call.accept
    key = negotiated(declared.content, accept) or negotiated(declared.content, "")
    media = declared.content[key or next(iter(declared.content))]
    media_type = concrete(key or next(iter(declared.content)), accept)
    body = enveloped(bound, media.schema, value)
    body = written_body(body, media_type, media.schema, bound.call.schemas)
    return HandlerResponse(body, status, media_type, sent)


def _headers(bound: BoundCall, declared: DeclaredResponse, own: Mapping[str, str]) -> Headers:
    """Returns the declared headers: those that were computed, and samples of the others."""
    seed = bound.world.identifiers.seed
    names = {it.name.lower() for it in declared.headers}
    sampled = {
        name: text
        for name, text in sample_headers(declared, bound.call.schemas, seed)
        if name not in own and name not in _COMPUTED
    }
    computed = {name: text for name, text in own.items() if name in names}
    return tuple({**sampled, **computed}.items())


def enveloped(bound: BoundCall, schema: Node | None, value: Any) -> Any:
    """Returns a body that has a value at the place of the item, and samples around it."""
    steps = bound.role.response_path
    if schema is None:
        return value
    if steps is None or not _has_item(bound, schema):
        return Sampler(bound.call.schemas, bound.world.identifiers.seed).value(schema)
    if not steps:
        return _viewed(bound, schema, value)
    sampled = Sampler(bound.call.schemas, bound.world.identifiers.seed).value(schema)
    body = sampled if isinstance(sampled, dict) else {}
    place: dict[str, Any] = body
    inner: Node | None = schema
    for step in steps[:-1]:
        inner = bound.shape.bodies.members(inner).get(step)
        below = place.get(step)
        place[step] = place = dict(below) if isinstance(below, dict) else {}
    inner = bound.shape.bodies.members(inner).get(steps[-1])
    place[steps[-1]] = _viewed(bound, inner, value)
    return body


def _has_item(bound: BoundCall, schema: Node) -> bool:
    """Tells whether a response has the item; of several successes, one may tell only that it is one."""
    inferred = response_schema(bound.role.operation)
    if inferred is not None and schema.pointer == inferred.pointer:
        return True
    inner: Node | None = schema
    for step in bound.role.response_path or ():
        inner = bound.shape.bodies.members(inner).get(step)
    if inner is not None and "array" in bound.shape.bodies.types(inner):
        inner = bound.shape.bodies.items(inner)
    return bool(bound.shape.bodies.members(inner).keys() & bound.shape.members.keys())


def _viewed(bound: BoundCall, schema: Node | None, value: Any) -> Any:
    if isinstance(value, list):
        items = None if schema is None else bound.shape.bodies.items(schema)
        return [_viewed(bound, items, item) for item in value]
    return view(bound.shape, schema, value)


def view(shape: ItemShape, schema: Node | None, body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the members of an item that a response has: none that only requests have.

    Args:
        shape: Describes the items.
        schema: The schema of the response, which may have fewer members than the item.
        body: The item.
    """
    declared = shape.bodies.members(schema)
    is_closed = shape.bodies.keyword(schema, "additionalProperties") is False
    return {
        name: value
        for name, value in body.items()
        if not (name in shape.members and shape.members[name].is_write_only)
        and (name in declared or not declared or not (is_closed or name in shape.members))
    }


def etag(item: Item) -> str:
    """Returns the entity tag of an item (RFC 9110, 8.8.3): another body, another tag."""
    content = orjson.dumps(item.body, option=orjson.OPT_SORT_KEYS)
    return f'"{hashlib.sha256(content).hexdigest()[:16]}"'


def location(bound: BoundCall, item: Item) -> str | None:
    """Returns the URL of an item; None where it has no address."""
    path = getattr(bound.resource, "item_path", None)
    if path is None:
        return None
    is_flat = isinstance(bound.resource, ResourceCollection) and bound.resource.is_flat
    texts = iter((item.identifier,) if is_flat else (*item.parents, item.identifier))
    filled = PATH_PARAMETER.sub(lambda _: quote(text_of(next(texts)), safe=""), path)
    return f"{bound.call.base_url}{filled}"


def item_headers(bound: BoundCall, item: Item) -> dict[str, str]:
    """Returns the headers that an item has in every response with it."""
    headers = {"etag": etag(item)}
    address = location(bound, item)
    if address is not None:
        headers |= {"location": address, "content-location": address}
    return headers

"""Resolves the item or collection of a request, and writes responses in their declared form."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlsplit

import orjson

from understudy.collections.bodies import NO_CONTENT, response_schema, schema_at, sent_members
from understudy.collections.items import ItemMaker, ItemRecords, ItemShape, text_of
from understudy.collections.model import (
    Resource,
    ResourceModel,
    ResourceOperation,
    ResourceSingleton,
    Steps,
    item_at,
    value_at,
)
from understudy.collections.names import canonical
from understudy.errors import BadRequest, Headers, NotFound, PreconditionFailed
from understudy.limits import JSON_INTEGER
from understudy.mock.server.call import BODY, DocumentCall, HandlerResponse
from understudy.mock.server.declared_responses import sample_headers
from understudy.mock.server.document_responses import written_body
from understudy.mock.server.json_bodies import read_json
from understudy.mock.server.worlds import Baseline, World
from understudy.mock.store.items import Item
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Document, Node
from understudy.openapi.media_types import concrete, is_json, negotiated
from understudy.openapi.operations import DeclaredResponse
from understudy.openapi.sampler import Sampler
from understudy.openapi.schemas import Schemas, schemas_of

OVERRIDE = (
    "x-mock-state",
    "inferred; `understudy infer` explains it and --state-model corrects it",
)
"""Header that marks a response from inferred state, and names the way to correct it."""


class StatefulDocument:
    """A document with the state that was inferred from it."""

    def __init__(self, document: Document, model: ResourceModel) -> None:
        self.document = document
        self.model = model
        self.beginning: Baseline = {}
        self._shapes: dict[str, ItemShape] = {}
        self._schemas: Schemas | None = None

    def adopt(self, schemas: Schemas) -> None:
        """Reuses the validators of a request, so that no schema is compiled twice."""
        self._schemas = self._schemas or schemas

    def shape(self, resource: Resource) -> ItemShape:
        """Returns the shape of a resource's items; cached."""
        shape = self._shapes.get(resource.path)
        if shape is None:
            self._schemas = self._schemas or schemas_of(self.document)
            shape = ItemShape(resource, self._schemas)
            self._shapes[resource.path] = shape
        return shape

    def maker(self, resource: Resource, seed: int) -> ItemMaker:
        """Returns a maker of a resource's items."""
        return ItemMaker(self.shape(resource), resource.parents, seed)


class Address(NamedTuple):
    """The parents and the identifier that a request addresses.

    Attributes:
        parents: Identifiers of the parents, as texts, outermost first.
        values: Identifiers of the parents, in the types of the document.
        identifier: Identifier of the item, as text; None for a request to the whole collection.
        value: Identifier of the item, in the type of the document.
    """

    parents: tuple[str, ...]
    values: tuple[Any, ...]
    identifier: str | None = None
    value: Any = None


@dataclass(frozen=True, slots=True)
class BoundCall:
    """A call of an operation with state, with its resource."""

    call: DocumentCall
    stateful: StatefulDocument
    resource: Resource
    role: ResourceOperation

    @property
    def world(self) -> World:
        """The world that the request selected."""
        return self.call.world

    @property
    def records(self) -> ItemRecords:
        """The items of the selected world."""
        return ItemRecords(self.world, self.stateful.model)

    @property
    def shape(self) -> ItemShape:
        """The shape of the items."""
        return self.stateful.shape(self.resource)

    @property
    def maker(self) -> ItemMaker:
        """The maker of new items, by the seed of the world."""
        return self.stateful.maker(self.resource, self.world.identifiers.seed)

    @property
    def body(self) -> Any:
        """The parsed body; JSON is parsed even if the document declares no body. None without one."""
        call = self.call
        if call.operation.request_body is not None or not is_json(call.media_type):
            return call.arguments.get(BODY)
        try:
            return read_json(call.content)
        except BadRequest:  # the document declares no body, so an invalid one is ignored
            return None

    @property
    def scope(self) -> dict[str, Any]:
        """The members of an item that are fixed by parameters of the operation's path (``scope``)."""
        return {
            member: bounded(self.call.arguments[parameter])
            for parameter, member in self.role.scope.items()
            if member
        }

    @property
    def sent(self) -> dict[str, Any]:
        """The item in the request body, without files of a form."""
        return self._item(item_at(self.body, self.role.request_path))

    @property
    def sent_items(self) -> list[dict[str, Any]]:
        """The items in the request body: one item, or those of a list."""
        items = value_at(self.body, self.role.request_path) if self.role.takes_list else None
        return list(map(self._item, items)) if isinstance(items, list) else [self.sent]

    @property
    def named_items(self) -> list[Item]:
        """The items that a list in the query or the body names by their identifiers; others are noted."""
        path, parents, query = self.resource.path, self.address.parents, self.role.by_query
        named = (
            self.call.arguments.get(query) if query else value_at(self.body, self.role.request_path)
        )
        sent = named if isinstance(named, list) else ()
        values = (next(iter(it.values()), None) if isinstance(it, Mapping) else it for it in sent)
        found = {text_of(it): self.records.get(path, parents, text_of(it)) for it in values}
        missing = [name for name, item in found.items() if item is None]
        if missing:
            self.call.notes.append(f"{path} has no item {', '.join(map(repr, missing)):.200}")
        return [item for item in found.values() if item is not None]

    def _item(self, value: Any) -> dict[str, Any]:
        """Returns the members of an item that was sent, under their names in the item.

        Names are matched regardless of style (``petId``, ``pet_id``). Members of the item that the
        request does not declare are set by the server, and ignored.
        """
        if not isinstance(value, Mapping):
            return {}
        known = self.shape.members
        names = {canonical(name): name for name in known}
        declared = {*map(canonical, sent_members(self.shape.schemas, self.role))}
        own = names.keys() - declared - {canonical(self.shape.identifier or "")}
        if self.call.operation.request_body is None:
            value = {name: it for name, it in value.items() if canonical(str(name)) in names}
        if declared:
            value = {name: it for name, it in value.items() if canonical(str(name)) not in own}
        members = {
            str(name) if name in known else names.get(canonical(name), str(name)): member
            for name, member in value.items()
            if _is_json(member)
        }
        return {
            name: member if name in known else bounded(member) for name, member in members.items()
        }

    @property
    def address(self) -> Address:
        """The parents and the identifier in the path of the request."""
        if self.role.scope:
            return Address((), ())
        values = [self.call.arguments[name] for name in self.role.path_names]
        if self.resource.is_flat_at(self.role.operation.path):
            identifier = self._identified(text_of(values[0]), ())
            parents = self.records.parents_of(self.resource.path, identifier)
            return Address(parents, parents, identifier, values[0])
        above, below = values[: len(self.resource.parents)], values[len(self.resource.parents) :]
        parents, stored = tuple(map(text_of, above)), tuple(map(bounded, above))
        if isinstance(self.resource, ResourceSingleton):
            return Address(parents, stored, "")
        if below:
            identifier = self._identified(text_of(below[0]), parents)
            return Address(parents, stored, identifier, below[0])
        return Address(parents, stored)

    def _identified(self, text: str, parents: Sequence[str]) -> str:
        """Returns the identifier of the item that a text in the path names, by whichever member."""
        member = self.role.named_by
        listed = self.records.listed(self.resource.path, parents) if member else ()
        named = (it.identifier for it in listed if text_of(it.body.get(member)) == text)
        return next(named, text)

    def declares(self, status: int) -> bool:
        """Tells whether the document declares a status, its range or a default."""
        return self.role.operation.response(status) is not None

    def item(self) -> Item | None:
        """Returns the addressed item; None if a response is to be generated from the document.

        Raises:
            NotFound: The item is missing and the document declares a 404, or it was deleted.
        """
        address = self.address
        identifier = address.identifier
        if isinstance(self.resource, ResourceSingleton):
            item = self.single()
            if item is None:
                self.refuse_missing(address.parents, "")
            return item
        if identifier is None:  # the identifier is in the body: PUT /pets
            value = self.sent.get(self.shape.identifier or "")
            identifier = None if value is None else text_of(value)
        if identifier is None:
            return None
        item = self.records.get(self.resource.path, address.parents, identifier)
        if item is None:
            self.refuse_missing(address.parents, identifier)
        return item

    def single(self) -> Item | None:
        """Returns the singleton, generated unless it was changed; None if it was deleted."""
        parents, values, *_ = self.address
        path = self.resource.path
        item = self.records.get(path, parents, "")
        if item is not None or self.records.was_deleted(path, parents, ""):
            return item
        return Item.of("", parents, 1, self.maker.body(1, None, values, {}, None))

    def refuse_missing(self, parents: Sequence[str], identifier: str) -> None:
        """Raises an error for a missing item, or only notes it if the document declares no 404.

        Raises:
            NotFound: The document declares a 404, or the item was deleted and this is not another
                DELETE, which is idempotent (RFC 9110, 9.2.2).
        """
        path = self.resource.path
        was_deleted = self.records.was_deleted(path, parents, identifier)
        if (was_deleted and self.role.role != "delete") or self.declares(404):
            what = "was deleted" if was_deleted else "does not exist"
            name = f"The item {identifier!r} of {path}" if identifier else path
            msg = f"{name} {what}."
            raise NotFound(msg, code="not_found")
        self.call.notes.append(
            f"{path} has no item {identifier!r}, and the document declares no 404: "
            "the response is made up"
        )

    def expect_parents(self) -> None:
        """Expects the parents of the request to exist, as far as their collections are known.

        A missing parent may be a fixed word such as ``default``. So without a declared 404, items are
        created below it, and from then on requests below it are accepted.

        Raises:
            NotFound: A parent was deleted, or it does not exist, and the document declares a 404.
        """
        parents = self.address.parents
        if len(parents) < len(self.resource.parents):
            return  # a flat path does not name the parents, and the item does not exist
        for number, parent in enumerate(self.resource.parents):
            address = (parent.collection or "", parents[:number], parents[number])
            if parent.collection is None or self.records.get(*address) is not None:
                continue
            was_deleted = self.records.was_deleted(*address)
            if was_deleted or (
                self.declares(404) and not self.records.has_had(self.resource.path, parents)
            ):
                what = "was deleted" if was_deleted else "does not exist"
                msg = f"The item {parents[number]!r} of {parent.collection} {what}."
                raise NotFound(msg, code="not_found")


def bounded(value: Any) -> Any:
    """Returns a value in which integers of more than 64 bits are floats, as they cannot be stored.

    Declared members of a request need no such conversion: reading the body has limited them.
    """
    if isinstance(value, dict):
        return {name: bounded(member) for name, member in value.items()}
    if isinstance(value, list):
        return [bounded(item) for item in value]
    is_large = isinstance(value, int) and abs(value) > JSON_INTEGER.most
    return float(value) if is_large else value


def _is_json(value: Any) -> bool:
    """Tells whether a value is JSON, and not a file of a form."""
    if isinstance(value, list):
        return all(map(_is_json, value))
    return isinstance(value, str | int | float | bool | dict | None)


CREATED: Final = 201
_OK: Final = 200
_SUCCESSES = range(200, 300)
_COMPUTED: Final = frozenset({"location", "content-location", "etag", "link"})
"""Headers that are sent only with computed values, never with samples."""


def status_for(bound: BoundCall, *, is_created: bool = False) -> int:
    """Returns the status of success: 201 after a creation, if it is declared.

    If 201 shows neither content nor Location, another success with content is preferred.
    """
    responses = bound.role.operation.responses
    successes = sorted(int(it) for it in responses if it.isdecimal() and int(it) in _SUCCESSES)
    if is_created and CREATED in successes:
        is_shown = bound.role.role != "create" or _shows(responses[str(CREATED)])
        showing = [] if is_shown else [it for it in successes if responses[str(it)].content]
        return next(iter(showing), CREATED)
    return next((status for status in successes if is_created or status != CREATED), None) or next(
        iter(successes), _OK
    )


def _shows(declared: DeclaredResponse) -> bool:
    """Tells whether a response identifies a created item, by its content or by Location."""
    return bool(declared.content) or any(it.name.lower() == "location" for it in declared.headers)


def response(
    bound: BoundCall, status: int, value: Any, headers: Mapping[str, str] | None = None
) -> HandlerResponse:
    """Returns a response with an item, or a list of items, in the declared envelope.

    Args:
        bound: The call.
        status: A declared status.
        value: The members of the item, or the list; None for a response without an item.
        headers: Computed headers, of which only the declared ones are sent.
    """
    declared = bound.role.operation.response(status)
    if declared is None:
        return HandlerResponse(value, status, headers=(OVERRIDE,))
    sent = (*_headers(bound, declared, headers or {}), OVERRIDE)
    is_read = bound.role.role in {"list", "read"} and bound.role.response_path is not None
    if not declared.content and is_read:  # the document does not describe the content
        return HandlerResponse(_viewed(bound, None, value), status, headers=sent)
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
    """Returns the declared headers, with computed values or samples."""
    seed = bound.world.identifiers.seed
    names = {it.name.lower() for it in declared.headers}
    sampled = {
        name: text
        for name, text in sample_headers(declared, bound.call.schemas, seed)
        if name not in own and name not in _COMPUTED
    }
    if not declared.content and bound.role.role == "create":
        names.add("location")  # else the client could not find the item (RFC 9110, 15.3.2)
    schemas = {it.name.lower(): it.schema for it in declared.headers}
    computed = {
        name: _suited(bound, schemas.get(name), text) for name, text in own.items() if name in names
    }
    return tuple({**sampled, **computed}.items())


def _suited(bound: BoundCall, schema: Node | None, text: str) -> str:
    """Returns a computed header that its schema accepts, for a URL by cutting its beginning off."""
    accepts = None if schema is None else bound.call.schemas.validator(schema).is_valid
    if accepts is None or accepts(text):
        return text
    steps = urlsplit(text).path.split("/")
    ends = (f"/{'/'.join(steps[at:])}" for at in range(1, len(steps)))
    return next(filter(accepts, (*ends, steps[-1])), text)


def enveloped(bound: BoundCall, schema: Node | None, value: Any) -> Any:
    """Returns a body with a value at the place of the item, and samples around it."""
    steps = bound.role.response_path
    if schema is None:
        return value
    if steps is None or not _has_item(bound, schema):
        return Sampler(bound.call.schemas, bound.world.identifiers.seed).value(schema)
    return _within(bound, schema, value, steps)


def _within(bound: BoundCall, schema: Node | None, value: Any, steps: Steps) -> Any:
    """Returns a sample of a schema with a value at a place."""
    if not steps:
        return _viewed(bound, schema, value)
    sampled = None
    if schema is not None:
        sampled = Sampler(bound.call.schemas, bound.world.identifiers.seed).value(schema)
    first, *others = steps
    body = dict(sampled) if isinstance(sampled, dict) else {}
    own = bound.shape.identifier
    if own in body and isinstance(value, Mapping):  # {"id": 1, "pet": {…}}
        body[own] = value.get(own, body[own])
    below = schema_at(bound.shape.schemas, schema, (first,))
    return {**body, first: _within(bound, below, value, tuple(others))}


def _has_item(bound: BoundCall, schema: Node) -> bool:
    """Tells whether a response contains the item; some successes have only a message."""
    inferred = response_schema(bound.role.operation)
    if inferred is not None and schema.pointer == inferred.pointer:
        return True
    inner = schema_at(bound.shape.schemas, schema, bound.role.response_path or ())
    if inner is not None and "array" in bound.shape.schemas.types(inner):
        inner = schema_at(bound.shape.schemas, bound.shape.schemas.items(inner), bound.role.within)
    return bool(bound.shape.schemas.members(inner).keys() & bound.shape.members.keys())


def _viewed(bound: BoundCall, schema: Node | None, value: Any) -> Any:
    is_list = "array" in bound.shape.schemas.types(schema)
    if is_list:
        value = value if isinstance(value, list) else [value]
    elif isinstance(value, list) and bound.shape.schemas.members(schema):
        value = next(iter(value), {})  # several items were created, the response has only one
    if isinstance(value, list):
        items = None if schema is None else bound.shape.schemas.items(schema)
        return [_within(bound, items, item, bound.role.within) for item in value]
    viewed = view(bound.shape, schema, value)
    return viewed if schema is None else _fitting(bound, schema, viewed)


def _fitting(bound: BoundCall, schema: Node, body: dict[str, Any]) -> dict[str, Any]:
    """Returns an item adapted to the schema of a response.

    A list may declare members differently from the item's own schema; these are generated.
    """
    validator, members = bound.call.schemas.validator, bound.shape.schemas.members(schema)
    if validator(schema).is_valid(body):
        return body
    wrong = {n for n in body if n in members and not validator(members[n]).is_valid(body[n])}
    texts = {n: text_of(body[n]) for n in wrong if isinstance(body[n], int)}
    texts = {n: text for n, text in texts.items() if validator(members[n]).is_valid(text)}
    body, wrong = {**body, **texts}, wrong - texts.keys()  # numbers declared as strings here
    if validator(schema).is_valid(body):
        return body
    missing = {n for n in bound.shape.schemas.required_names(schema) if n not in body}
    sampled = Sampler(bound.call.schemas, bound.world.identifiers.seed).value(schema)
    for names in (wrong | missing, wrong | (sampled.keys() - body.keys())):
        made_up = {n: value for n, value in sampled.items() if n in names}
        fitted = {**body, **made_up}
        if validator(schema).is_valid(fitted):
            break
    else:
        return body
    note = f"made up, as the document declares them otherwise here: {', '.join(made_up)}"
    if note not in bound.call.notes:
        bound.call.notes.append(note)
    return fitted


def view(shape: ItemShape, schema: Node | None, body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the members of an item that a response shows, without write-only ones.

    Args:
        shape: The shape of the items.
        schema: The schema of the response, which may declare fewer members than the item has.
        body: The item.
    """
    declared = shape.schemas.members(schema)
    is_closed = shape.schemas.keyword(schema, "additionalProperties") is False
    own = {*shape.members, shape.identifier}
    return {
        name: value
        for name, value in body.items()
        if not (name in shape.members and shape.members[name].is_write_only)
        and (name in declared or not declared or not (is_closed or name in own))
    }


def etag(item: Item) -> str:
    """Returns the entity tag of an item (RFC 9110, 8.8.3), a hash of its body."""
    content = orjson.dumps(item.body, option=orjson.OPT_SORT_KEYS)
    number = int.from_bytes(hashlib.sha256(content).digest()[:6])
    return f'"{number}"'  # in digits, which most patterns of documents accept


def location(bound: BoundCall, item: Item) -> str | None:
    """Returns the URL of an item; None if no path leads to it."""
    path, is_flat = bound.resource.item_path, bound.resource.is_flat
    if path is None:
        return None
    texts = iter((item.identifier,) if is_flat else (*item.parents, item.identifier))
    filled = PATH_PARAMETER.sub(lambda _: quote(text_of(next(texts)), safe=""), path)
    return f"{bound.call.base_url}{filled}"


def item_headers(bound: BoundCall, item: Item) -> dict[str, str]:
    """Returns the computed headers of responses with an item."""
    headers = {"etag": etag(item)}
    address = location(bound, item)
    if address is not None:
        headers |= {"location": address, "content-location": address}
    return headers


_FAILED = 412
_TAG: Final = re.compile(rb'(W/)?"')
_NOT_MODIFIED = 304


def expect_match(bound: BoundCall, item: Item | None) -> None:
    """Expects the preconditions of a change to hold, if the document declares a 412 or ``If-Match``.

    Without a 412, only an entity tag is one (RFC 9110, 8.8.3), not a text that the document lets through.

    Raises:
        PreconditionFailed: ``If-Match`` names another state of the item, or the item exists despite
            ``If-None-Match: *``.
    """
    expected = bound.call.headers.get(b"if-match")
    if not bound.declares(_FAILED):
        names = {it.name.lower() for it in bound.role.operation.parameters}
        if "if-match" not in names or not _TAG.match(expected or b""):
            return
    if expected is not None and not (item is not None and _matches(expected, item)):
        current = "there is no item" if item is None else f"the item has {etag(item)}"
        msg = f"If-Match is {expected.decode('latin-1'):.80}, and {current}; read it again."
        raise PreconditionFailed(msg, code="precondition_failed")
    if item is not None and bound.call.headers.get(b"if-none-match") == b"*":
        msg = "If-None-Match is *, and the item exists already."
        raise PreconditionFailed(msg, code="precondition_failed")


def not_modified(bound: BoundCall, item: Item) -> HandlerResponse | None:
    """Returns a 304 response if it is declared and the client has this state of the item, or None."""
    seen = bound.call.headers.get(b"if-none-match")
    if seen is None or not bound.declares(_NOT_MODIFIED) or not _matches(seen, item):
        return None
    return HandlerResponse(None, _NOT_MODIFIED, headers=(("etag", etag(item)), OVERRIDE))


def _matches(header: bytes, item: Item) -> bool:
    """Tells whether a list of entity tags contains an item's, or is ``*``."""
    tags = [tag.strip().removeprefix("W/") for tag in header.decode("latin-1").split(",")]
    return tags == ["*"] or etag(item) in tags

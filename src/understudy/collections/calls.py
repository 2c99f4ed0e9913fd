"""Binds a request to the item or collection that it is about, and writes responses as the document declares them."""

import hashlib
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
from understudy.openapi.schemas import Schemas

OVERRIDE = (
    "x-mock-state",
    "inferred; `understudy infer` explains it and --state-model corrects it",
)
"""Marks a response that comes from inferred state, and names what changes it."""


class StatefulDocument:
    """A document with the state that was inferred from it.

    Args:
        document: The document.
        model: What has state.

    Attributes:
        beginning: The items that worlds begin with.
    """

    def __init__(self, document: Document, model: ResourceModel) -> None:
        self.document = document
        self.model = model
        self.beginning: Baseline = {}
        self._shapes: dict[str, ItemShape] = {}
        self._schemas: Schemas | None = None

    def adopt(self, schemas: Schemas) -> None:
        """Takes the document's validators that a request brings, so that none are compiled twice."""
        self._schemas = self._schemas or schemas

    def shape(self, resource: Resource) -> ItemShape:
        """Returns the shape of a collection's items, which is read at its first use."""
        shape = self._shapes.get(resource.path)
        if shape is None:
            self._schemas = self._schemas or Schemas(self.document)
            shape = ItemShape(resource, self._schemas)
            self._shapes[resource.path] = shape
        return shape

    def maker(self, resource: Resource, seed: int) -> ItemMaker:
        """Returns the maker of a collection's items."""
        return ItemMaker(self.shape(resource), resource.parents, seed)


class Address(NamedTuple):
    """The place of a request in a collection.

    Attributes:
        parents: The texts of the parameters of the collection's path, outermost first.
        values: The same as the document types them.
        identifier: The text of the item's identifier; None for a request of the whole collection.
        value: The same as the document types it.
    """

    parents: tuple[str, ...]
    values: tuple[Any, ...]
    identifier: str | None = None
    value: Any = None


@dataclass(frozen=True, slots=True)
class BoundCall:
    """One call of an operation with state.

    Attributes:
        call: The call.
        stateful: The document.
        resource: What the operation works on.
        role: The operation in its role.
    """

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
        """The items of that world."""
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
        """The parsed body, of JSON also where the document declares none; None without one."""
        call = self.call
        if call.operation.request_body is not None or not is_json(call.media_type):
            return call.arguments.get(BODY)
        try:
            return read_json(call.content)
        except BadRequest:  # which nothing was said of
            return None

    @property
    def scope(self) -> dict[str, Any]:
        """The members of an item that the path of the operation gives, beside the collection's."""
        return {
            member: self.call.arguments[parameter]
            for parameter, member in self.role.scope.items()
            if member
        }

    @property
    def sent(self) -> dict[str, Any]:
        """The item in the request body, with the members that JSON can express."""
        return self._item(item_at(self.body, self.role.request_path))

    @property
    def sent_items(self) -> list[dict[str, Any]]:
        """The items in the request body: one, or those of a list."""
        items = value_at(self.body, self.role.request_path) if self.role.takes_list else None
        return list(map(self._item, items)) if isinstance(items, list) else [self.sent]

    def _item(self, value: Any) -> dict[str, Any]:
        """Returns the members of an item that was sent.

        A member that only the style of its name tells from one of the item has the item's name. What an
        item has and the request does not declare is the server's, and not taken.
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
        """The place of the request in its collection."""
        if self.role.scope:
            return Address((), ())
        values = [self.call.arguments[name] for name in self.role.path_names]
        if self.resource.is_flat_at(self.role.operation.path):
            identifier = text_of(values[0])
            parents = self.records.parents_of(self.resource.path, identifier)
            return Address(parents, parents, identifier, values[0])
        above, below = values[: len(self.resource.parents)], values[len(self.resource.parents) :]
        parents = tuple(map(text_of, above))
        if isinstance(self.resource, ResourceSingleton):
            return Address(parents, tuple(above), "")
        if below:
            return Address(parents, tuple(above), text_of(below[0]), below[0])
        return Address(parents, tuple(above))

    def declares(self, status: int) -> bool:
        """Tells whether the document declares a status, its range or a default."""
        return self.role.operation.response(status) is not None

    def item(self) -> Item | None:
        """Returns the item that the request is about; None where a response is to be generated.

        Raises:
            NotFound: There is no such item, and the document says how that is reported, or the item
                existed and was deleted.
        """
        address = self.address
        identifier = address.identifier
        if isinstance(self.resource, ResourceSingleton):
            item = self.single()
            if item is None:
                self.refuse_missing(address.parents, "")
            return item
        if identifier is None:  # the body names it: PUT /pets
            value = self.sent.get(self.shape.identifier or "")
            identifier = None if value is None else text_of(value)
        if identifier is None:
            return None
        item = self.records.get(self.resource.path, address.parents, identifier)
        if item is None:
            self.refuse_missing(address.parents, identifier)
        return item

    def single(self) -> Item | None:
        """Returns a resource that exists once, made up until it is changed; None once deleted."""
        parents, values, *_ = self.address
        path = self.resource.path
        item = self.records.get(path, parents, "")
        if item is not None or self.records.was_deleted(path, parents, ""):
            return item
        return Item.of("", parents, 1, self.maker.body(1, None, values, {}, None))

    def refuse_missing(self, parents: Sequence[str], identifier: str) -> None:
        """Notes that an item is missing, where the document cannot say so.

        Raises:
            NotFound: The document can say so, or the item existed and was deleted: that is never
                responded to with an item, and only deleting it again succeeds (RFC 9110, 9.2.2).
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
        """Accepts a request whose parents exist, as far as their collections are known.

        Below a parent that does not exist, and is perhaps a word such as ``default``, items are created
        where the document has no word for a refusal. Then all that is done with them goes on.

        Raises:
            NotFound: One does not exist, and the document says how that is reported.
        """
        parents = self.address.parents
        if len(parents) < len(self.resource.parents):
            return  # of an item that does not exist, at a path that does not name them
        for number, parent in enumerate(self.resource.parents):
            if parent.collection is None or not (self.declares(404)):
                continue
            address = (parent.collection, parents[:number], parents[number])
            if self.records.get(*address) is not None:
                continue
            was_deleted = self.records.was_deleted(*address)
            if was_deleted or not self.records.has_had(self.resource.path, parents):
                msg = f"The item {parents[number]!r} of {parent.collection} does not exist."
                raise NotFound(msg, code="not_found")


def bounded(value: Any) -> Any:
    """Returns a value whose integers can be stored: one of more than 64 bits is kept as a float.

    Those of declared members of a request were bounded when its body was read.
    """
    if isinstance(value, dict):
        return {name: bounded(member) for name, member in value.items()}
    if isinstance(value, list):
        return [bounded(item) for item in value]
    is_large = isinstance(value, int) and abs(value) > JSON_INTEGER.most
    return float(value) if is_large else value


def _is_json(value: Any) -> bool:
    """Tells whether a member of a form is a text and not a file."""
    if isinstance(value, list):
        return all(map(_is_json, value))
    return isinstance(value, str | int | float | bool | dict | None)


CREATED: Final = 201
_OK: Final = 200
_SUCCESSES = range(200, 300)
_COMPUTED: Final = frozenset({"location", "content-location", "etag", "link"})
"""Headers that are sent with the value that is right here, or not at all."""


def status_for(bound: BoundCall, *, is_created: bool = False) -> int:
    """Returns the success to respond with: 201 for what was created, where it is declared.

    Another is preferred where that alone shows the item that a POST created.
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
    """Tells whether a response says what was created: by its content, or by the address."""
    return bool(declared.content) or any(it.name.lower() == "location" for it in declared.headers)


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
    is_read = bound.role.role in {"list", "read"} and bound.role.response_path is not None
    if not declared.content and is_read:  # the document leaves open what it has
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
    """Returns the declared headers: those that were computed, and samples of the others."""
    seed = bound.world.identifiers.seed
    names = {it.name.lower() for it in declared.headers}
    sampled = {
        name: text
        for name, text in sample_headers(declared, bound.call.schemas, seed)
        if name not in own and name not in _COMPUTED
    }
    if not declared.content and bound.role.role == "create":
        names.add("location")  # else nothing would say where the item is (RFC 9110, 15.3.2)
    schemas = {it.name.lower(): it.schema for it in declared.headers}
    computed = {
        name: _suited(bound, schemas.get(name), text) for name, text in own.items() if name in names
    }
    return tuple({**sampled, **computed}.items())


def _suited(bound: BoundCall, schema: Node | None, text: str) -> str:
    """Returns a computed header as its schema takes it: of an address, if need be, the end alone."""
    accepts = None if schema is None else bound.call.schemas.validator(schema).is_valid
    if accepts is None or accepts(text):
        return text
    steps = urlsplit(text).path.split("/")
    ends = (f"/{'/'.join(steps[at:])}" for at in range(1, len(steps)))
    return next(filter(accepts, (*ends, steps[-1])), text)


def enveloped(bound: BoundCall, schema: Node | None, value: Any) -> Any:
    """Returns a body that has a value at the place of the item, and samples around it."""
    steps = bound.role.response_path
    if schema is None:
        return value
    if steps is None or not _has_item(bound, schema):
        return Sampler(bound.call.schemas, bound.world.identifiers.seed).value(schema)
    return _within(bound, schema, value, steps)


def _within(bound: BoundCall, schema: Node | None, value: Any, steps: Steps) -> Any:
    """Returns a sample of a schema that has an item, or a list of items, at a place."""
    if not steps:
        return _viewed(bound, schema, value)
    sampled = None
    if schema is not None:
        sampled = Sampler(bound.call.schemas, bound.world.identifiers.seed).value(schema)
    first, *others = steps
    body = dict(sampled) if isinstance(sampled, dict) else {}
    below = schema_at(bound.shape.schemas, schema, (first,))
    return {**body, first: _within(bound, below, value, tuple(others))}


def _has_item(bound: BoundCall, schema: Node) -> bool:
    """Tells whether a response has the item; of several successes, one may tell only that it is one."""
    inferred = response_schema(bound.role.operation)
    if inferred is not None and schema.pointer == inferred.pointer:
        return True
    inner = schema_at(bound.shape.schemas, schema, bound.role.response_path or ())
    if inner is not None and "array" in bound.shape.schemas.types(inner):
        inner = schema_at(bound.shape.schemas, bound.shape.schemas.items(inner), bound.role.within)
    return bool(bound.shape.schemas.members(inner).keys() & bound.shape.members.keys())


def _viewed(bound: BoundCall, schema: Node | None, value: Any) -> Any:
    is_list = "array" in bound.shape.schemas.types(schema)
    if is_list and not isinstance(value, list):
        value = [value]
    elif isinstance(value, list) and bound.shape.schemas.members(schema):
        value = next(iter(value), {})  # a list was sent, and the response has one item
    if isinstance(value, list):
        items = None if schema is None else bound.shape.schemas.items(schema)
        return [_within(bound, items, item, bound.role.within) for item in value]
    viewed = view(bound.shape, schema, value)
    return viewed if schema is None else _fitting(bound, schema, viewed)


def _fitting(bound: BoundCall, schema: Node, body: dict[str, Any]) -> dict[str, Any]:
    """Returns an item in the form that a response declares.

    A list may declare members in another form than the item's own schema; these are made up.
    """
    validator, members = bound.call.schemas.validator, bound.shape.schemas.members(schema)
    if validator(schema).is_valid(body):
        return body
    wrong = {n for n in body if n in members and not validator(members[n]).is_valid(body[n])}
    texts = {n: text_of(body[n]) for n in wrong if isinstance(body[n], int)}
    texts = {n: text for n, text in texts.items() if validator(members[n]).is_valid(text)}
    body, wrong = {**body, **texts}, wrong - texts.keys()  # a number here, and there its text
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
    """Returns the members of an item that a response has: none that only requests have.

    Args:
        shape: Describes the items.
        schema: The schema of the response, which may have fewer members than the item.
        body: The item.
    """
    declared = shape.schemas.members(schema)
    is_closed = shape.schemas.keyword(schema, "additionalProperties") is False
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
    path, is_flat = bound.resource.item_path, bound.resource.is_flat
    if path is None:
        return None
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


_FAILED = 412
_NOT_MODIFIED = 304


def expect_match(bound: BoundCall, item: Item | None) -> None:
    """Accepts a request that changes the item which its client has seen.

    Raises:
        PreconditionFailed: ``If-Match`` names another state of it, or ``If-None-Match: *`` forbids
            one that exists.
    """
    if not bound.declares(_FAILED):
        return
    expected = bound.call.headers.get(b"if-match")
    if expected is not None and not (item is not None and _matches(expected, item)):
        current = "there is no item" if item is None else f"the item has {etag(item)}"
        msg = f"If-Match is {expected.decode('latin-1'):.80}, and {current}; read it again."
        raise PreconditionFailed(msg, code="precondition_failed")
    if item is not None and bound.call.headers.get(b"if-none-match") == b"*":
        msg = "If-None-Match is *, and the item exists already."
        raise PreconditionFailed(msg, code="precondition_failed")


def not_modified(bound: BoundCall, item: Item) -> HandlerResponse | None:
    """Returns 304 where it is declared and the client has this state of the item, else None."""
    seen = bound.call.headers.get(b"if-none-match")
    if seen is None or not bound.declares(_NOT_MODIFIED) or not _matches(seen, item):
        return None
    return HandlerResponse(None, _NOT_MODIFIED, headers=(("etag", etag(item)), OVERRIDE))


def _matches(header: bytes, item: Item) -> bool:
    """Tells whether a list of entity tags has the one of an item, or is ``*``."""
    tags = [tag.strip().removeprefix("W/") for tag in header.decode("latin-1").split(",")]
    return tags == ["*"] or etag(item) in tags

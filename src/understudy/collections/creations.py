"""Orders the creations that an item needs, and links the bodies of its requests to created items."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from understudy.cases.drafts import Draft, JsonLiteral, dumps
from understudy.cases.model import ITEMS, VARIABLE, CaseRequest, encoded_variable, variable
from understudy.collections import bodies
from understudy.collections.model import (
    ResourceCollection,
    ResourceModel,
    ResourceOperation,
    Steps,
    value_at,
)
from understudy.collections.names import words
from understudy.errors import StartupError
from understudy.openapi.loader import Document, Node
from understudy.openapi.parameter_writing import encoded
from understudy.openapi.schemas import schemas_of

_CHOSEN: Final = ("understudy-sequence", "understudy", 90_210_001, 90_001)
"""Identifiers for items whose identifier the client chooses; unlikely to exist in a service."""


_CREATING: Final = frozenset({"create", "replace"})


class NoSequence(StartupError):
    """Raised if a collection cannot be tested by a sequence; the text says why."""


class ItemName(NamedTuple):
    """The identifier of an item in later requests: a variable or a fixed value.

    Attributes:
        variable: The variable with the identifier that the server chooses; empty: use ``value``.
        value: The identifier that the client chose.
    """

    variable: str = ""
    value: Any = None

    @property
    def in_path(self) -> str:
        """The percent-encoded text of a path parameter."""
        return encoded_variable(self.variable) if self.variable else encoded(str(self.value))


@dataclass(frozen=True)
class Creation:
    """The creation of one item.

    Attributes:
        collection: The item's collection.
        by: The operation that creates it: POST on the collection, or PUT at the item.
        parents: The identifiers in its path, outermost first; None for a parameter whose items are
            not known.
        item: The identifier of the new item.
        references: Required member to the item that it refers to.
    """

    collection: ResourceCollection
    by: ResourceOperation
    parents: tuple[ItemName | None, ...]
    item: ItemName
    references: Mapping[str, ItemName]

    def places(self, role: ResourceOperation) -> dict[str, str]:
        """Returns parameter to text, for those that identify this item and its parents."""
        is_flat = self.collection.is_flat_at(role.operation.path)
        items = (self.item,) if is_flat else (*self.parents, self.item)
        pairs = zip(role.path_names, items, strict=False)
        return {name: item.in_path for name, item in pairs if item is not None}


def creations(
    collection: ResourceCollection, model: ResourceModel, document: Document
) -> list[Creation]:
    """Returns the creations of all items that an item needs, and of the item itself as the last.

    Raises:
        NoSequence: An item that it needs cannot be created.
    """
    order = _Order(model, document)
    order.add(collection)
    return list(order.made.values())


class _Order:
    """Collects creations by the path of their collection, each after those that it needs."""

    def __init__(self, model: ResourceModel, document: Document) -> None:
        self._model = model
        self._schemas = schemas_of(document).for_requests
        self._pending: list[str] = []
        self.made: dict[str, Creation] = {}

    def add(self, collection: ResourceCollection) -> ItemName:
        if collection.path in self.made:
            return self.made[collection.path].item
        if collection.path in self._pending:
            msg = f"its items need one another: {' and '.join(self._pending)}"
            raise NoSequence(msg)
        by = collection.operation("create") or collection.operation("replace")
        if by is None:
            msg = f"no operation creates an item of {collection.path}"
            raise NoSequence(msg)
        self._pending.append(collection.path)
        parents = tuple(self._parent(it.collection) for it in collection.parents)
        references = {
            name: self._existing(path)
            for name, path in collection.references.items()
            if name in self._required(by)
        }
        self._pending.pop()
        item = self._item_name(collection, by)
        self.made[collection.path] = Creation(collection, by, parents, item, references)
        return item

    def _parent(self, path: str | None) -> ItemName | None:
        collection = None if path is None else self._model.collection(path)
        if collection is None or not {it.role for it in collection.operations} & _CREATING:
            return None  # items that no operation creates, as in a catalogue, exist already
        return self.add(collection)

    def _existing(self, path: str) -> ItemName:
        collection = self._model.collection(path)
        if collection is None:
            msg = f"it needs an item of {path}, which has no state"
            raise NoSequence(msg)
        return self.add(collection)

    def _required(self, by: ResourceOperation) -> Sequence[str]:
        schema = bodies.item_schema(
            self._schemas, bodies.request_schema(by.operation), by.request_path
        )
        return () if schema is None else self._schemas.required_names(schema)

    def _item_name(self, collection: ResourceCollection, by: ResourceOperation) -> ItemName:
        if by.role == "create":
            used = sum(bool(it.item.variable) for it in self.made.values())
            if used == len(ITEMS):
                msg = f"it needs more than {used} other items"
                raise NoSequence(msg)
            return ItemName(ITEMS[used])
        identifying = bodies.identifying_schemas(self._schemas, collection)
        validators = [*map(self._schemas.validator, identifying)]
        for value in _CHOSEN:
            if all(it.is_valid(value) or it.is_valid(str(value)) for it in validators):
                return ItemName(value=value)
        msg = f"no identifier was found that {{{collection.parameter}}} takes"
        raise NoSequence(msg)


_SAME: Final = frozenset({None, "uuid", "int32", "int64", "double", "float"})
"""Formats that have one notation per value, unlike instants or URLs, which a server may rewrite."""

_CHOSEN_BY_SERVERS: Final = frozenset({"id", "uuid", "sid", "guid", "uid"})
"""Last words of identifiers that servers usually choose, unlike names and codes."""

Accepts = Callable[[Draft], bool]


@dataclass(frozen=True)
class StepBody:
    """The body of one operation on an item.

    Attributes:
        role: The operation.
        links: Member to the item that it must identify.
    """

    role: ResourceOperation
    links: Mapping[str, ItemName]

    def item(self, body: Any) -> dict[str, Any] | None:
        """Returns the item in a parsed body, or None."""
        item = value_at(body, self.role.request_path)
        return item if isinstance(item, dict) else None

    def linked(self, request: CaseRequest) -> CaseRequest:
        """Returns a request whose body identifies created items.

        A body that is not JSON, or is encoded in an unusual way, is left unchanged.
        """
        body = parsed(request)
        item = self.item(body)
        if not self.links or item is None or dumps(body).encode() != request.body:
            return request
        for name, link in self.links.items():
            if name in item:
                item[name] = _written(link, item[name])
        return request._replace(body=dumps(body).encode())


def _written(link: ItemName, sample: Any) -> Any:
    if not link.variable:
        return link.value
    text = variable(link.variable)
    return text if isinstance(sample, str) else JsonLiteral(text)


def parsed(request: CaseRequest) -> Any:
    """Returns the JSON body of a request, with 0 for each variable; None for other bodies."""
    try:
        return json.loads(VARIABLE.sub("0", (request.body or b"null").decode()))
    except ValueError:
        return None


class ItemBodies:
    """Reads and adapts the bodies of one collection's operations."""

    def __init__(
        self, document: Document, collection: ResourceCollection, creation: Creation
    ) -> None:
        self._schemas = schemas_of(document)
        self._collection = collection
        self._creation = creation

    def adapted(
        self, role: ResourceOperation, draft: Draft, accepts: Accepts
    ) -> tuple[Draft, StepBody]:
        """Returns a draft without optional links, and the body that fills the required ones.

        Optional are references to other items, and an identifier that the server chooses.

        Args:
            role: The operation.
            draft: The plain request.
            accepts: Tells whether the schema accepts the body of a draft.
        """
        identifier, links = self._collection.identifier, dict(self._creation.references)
        needless = {*self._collection.references} - {*links}
        if identifier is not None and role.role != "create":
            links[identifier] = self._creation.item
        elif identifier is not None and set(words(identifier)[-1:]) <= _CHOSEN_BY_SERVERS:
            needless.add(identifier)
        item = StepBody(role, {}).item(draft.json) if draft.has_json else None
        for name in sorted(needless & set(item or ())):
            shorter = draft.without_json((*role.request_path, name))
            draft = shorter if accepts(shorter) else draft
        return draft, StepBody(role, links)

    def comparable(self, role: ResourceOperation, item: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the members of a sent item that must be read back unchanged.

        These are texts, numbers and booleans that the document declares for request and item, in a
        format with one notation per value.
        """
        names = bodies.read_names(self._schemas, role, self._collection)
        sent, read = bodies.sent_members(self._schemas, role), self.item_members()
        return {
            name: value
            for name, value in item.items()
            if isinstance(value, str | int | float | bool)
            and names.get(name) == name
            and name not in self._collection.references
            and {self._schemas.keyword(it[name], "format") for it in (sent, read)} <= _SAME
            and self._schemas.validator(read[name]).is_valid(value)
        }

    def changed(self, role: ResourceOperation, draft: Draft, accepts: Accepts) -> Draft:
        """Returns a draft that changes a comparable member, if the schema allows another value."""
        item = StepBody(role, {}).item(draft.json) if draft.has_json else None
        for name, value in self.comparable(role, item or {}).items():
            enumeration = self._schemas.keyword(
                bodies.sent_members(self._schemas, role)[name], "enum"
            )
            for other in _others(value, enumeration):
                changed = draft.with_json((*role.request_path, name), other)
                if accepts(changed):
                    return changed
        return draft

    def item_members(self) -> Mapping[str, Node]:
        """Returns the members of an item in responses."""
        return self._schemas.members(self._collection.schema)

    def place(self, role: ResourceOperation) -> Steps | None:
        """Returns the place of the item in a response; None without one, or if it is in a list."""
        steps = role.response_path
        shown = bodies.schema_at(self._schemas, bodies.response_schema(role.operation), steps or ())
        return None if "array" in self._schemas.types(shown) else steps

    def place_around(self, role: ResourceOperation, identifier: str | None) -> Steps | None:
        """Returns the place of an identifier around the item in a response; None without one."""
        schema, steps = bodies.response_schema(role.operation), role.response_path or ()
        places = [steps[:at] for at in reversed(range(len(steps)))]
        shown = ((it, bodies.schema_at(self._schemas, schema, it)) for it in places)
        found = (it for it, node in shown if identifier in self._schemas.members(node))
        return next(((*it, identifier or "") for it in found), None)

    def shown_members(self, role: ResourceOperation) -> Mapping[str, Node]:
        """Returns the members of the items in a response; empty if they are not described."""
        schema = bodies.response_schema(role.operation)
        if schema is None or role.response_path is None:
            return {}
        return self._schemas.members(bodies.item_schema(self._schemas, schema, role.response_path))


def _others(value: Any, enumeration: Any) -> Iterator[Any]:
    """Yields other values of the same type."""
    if isinstance(enumeration, list):
        yield from (other for other in enumeration if type(other) is type(value) and other != value)
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        yield f"{value} changed"
        yield f"{value[:-1]}{'b' if value[-1:] == 'a' else 'a'}"
    else:
        yield from (value + 1, value - 1)

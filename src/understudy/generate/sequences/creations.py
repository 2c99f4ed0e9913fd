"""Orders what has to exist before an item can: the items of its path and those that it refers to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from understudy.errors import StartupError
from understudy.generate.cases import encoded_variable
from understudy.generate.sequence_steps import ITEMS
from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Node
from understudy.openapi.operations import Operation
from understudy.openapi.parameter_writing import encoded
from understudy.openapi.resources.model import (
    ResourceCollection,
    ResourceModel,
    ResourceOperation,
)
from understudy.openapi.schemas import Schemas

_CHOSEN: Final = ("understudy-sequence", "understudy", 90_210_001, 90_001)
"""Identifiers that a client may choose and that no service has by chance, the likeliest first."""


class NoSequence(StartupError):
    """A collection cannot be tried by a sequence; the text says why."""


class ItemName(NamedTuple):
    """The name of an item in later requests.

    Attributes:
        variable: The variable with the identifier that the server chose; empty for ``value``.
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
        parents: The names of the items in its path, outermost first; None for a parameter whose
            items are not known.
        item: The name of the new item.
        references: Required member to the item that it refers to.
    """

    collection: ResourceCollection
    by: ResourceOperation
    parents: tuple[ItemName | None, ...]
    item: ItemName
    references: Mapping[str, ItemName]

    def places(self, operation: Operation) -> dict[str, str]:
        """Returns the texts of an operation's path parameters that this item and its parents fill."""
        names = PATH_PARAMETER.findall(operation.path)
        is_flat = self.collection.is_flat_at(operation.path)
        items = (self.item,) if is_flat else (*self.parents, self.item)
        pairs = zip(names, items, strict=False)
        return {name: item.in_path for name, item in pairs if item is not None}


def creations(
    collection: ResourceCollection, model: ResourceModel, schemas: Schemas
) -> list[Creation]:
    """Returns the creations of an item and of all that it needs, the item itself last.

    Args:
        collection: The collection of the item.
        model: The resources of the document.
        schemas: The document's validators.

    Raises:
        NoSequence: Something that it needs cannot be created.
    """
    order = _Order(model, schemas)
    order.add(collection)
    return list(order.made.values())


class _Order:
    """Collects creations by the path of their collection; each comes after what it needs."""

    def __init__(self, model: ResourceModel, schemas: Schemas) -> None:
        self._model = model
        self._schemas = schemas
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
        return None if path is None else self._existing(path)

    def _existing(self, path: str) -> ItemName:
        collection = self._model.collection(path)
        if collection is None:
            msg = f"it needs an item of {path}, which has no state"
            raise NoSequence(msg)
        return self.add(collection)

    def _required(self, by: ResourceOperation) -> Sequence[str]:
        schema = sent_schema(by, self._schemas)
        return () if schema is None else self._schemas.required_names(schema)

    def _item_name(self, collection: ResourceCollection, by: ResourceOperation) -> ItemName:
        if by.role == "create":
            used = sum(bool(it.item.variable) for it in self.made.values())
            if used == len(ITEMS):
                msg = f"it needs more than {used} other items"
                raise NoSequence(msg)
            return ItemName(ITEMS[used])
        name = collection.parameter
        parameters = by.operation.parameters
        schema = next((it.schema for it in parameters if it.name == name), None)
        for value in _CHOSEN:
            if schema is None or self._schemas.validator(schema).is_valid(value):
                return ItemName(value=value)
        msg = f"no identifier was found that {{{name}}} takes"
        raise NoSequence(msg)


def sent_schema(operation: ResourceOperation, schemas: Schemas) -> Node | None:
    """Returns the schema of the item in an operation's JSON body, or None."""
    from_body = operation.operation.request_body
    content = {} if from_body is None else from_body.content
    schema = next((media.schema for media in content.values()), None)
    for step in operation.request_path:
        schema = schemas.property_schema(schema, step)
    return schema

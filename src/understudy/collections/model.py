"""The model that is inferred from a document: collections of items and singletons, with confidence.

The model refers to operations of the document and places in bodies. The mock keeps state by it, and
verify and generate make sequences of requests from it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Node
from understudy.openapi.operations import Operation

Role = Literal["list", "create", "read", "replace", "update", "delete", "action"]
"""The role of an operation: its effect on the items of a collection, or on a single resource."""

ROLES: Final[tuple[Role, ...]] = (
    *("list", "create", "read", "replace", "update", "delete", "action"),
)

CONFIDENT: Final = 0.7
"""Least confidence, from 0 to 1, with which a resource is used."""

RENEWED: Final = "<new>"
"""Stands for a value that the server makes anew whenever an action sets it."""

Steps = tuple[str, ...]
"""Path of member names into a body; empty for the whole body."""


def value_at(body: Any, steps: Steps) -> Any:
    """Returns the value at a place in a parsed body; None if absent."""
    for step in steps:
        body = body.get(step) if isinstance(body, Mapping) else None
    return body


def item_at(body: Any, steps: Steps | None) -> dict[str, Any] | None:
    """Returns the item at a place in a parsed body, also from a list of one; None if absent."""
    item = None if steps is None else value_at(body, steps)
    if isinstance(item, list) and len(item) == 1:
        item = item[0]
    return item if isinstance(item, dict) else None


@dataclass(frozen=True, slots=True)
class ResourceOperation:
    """An operation with its role in a resource.

    Attributes:
        role: The role.
        operation: The operation in the document.
        request_path: The place of the item in the request body.
        response_path: The place of the item, or of the list of items, in the body of the success;
            None if the body has no item.
        changes: Member to the value that an action sets.
        takes_list: Whether the request has a list: of items, each of which is created, or of
            identifiers, whose items are deleted.
        scope: Parameter of another path than the collection's to the member of an item with the same
            value: ``/customers/{customerId}/orders`` lists the orders with this ``customerId``.
        within: The place of the item in each element of a list.
        by_query: The query parameter that identifies the item, or the items of a list; empty: the
            path does, or the body.
        named_by: The member of an item whose value is in the path; empty: it is the identifier.
    """

    role: Role
    operation: Operation
    request_path: Steps = ()
    response_path: Steps | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    takes_list: bool = False
    scope: Mapping[str, str] = field(default_factory=dict)
    within: Steps = ()
    by_query: str = ""
    named_by: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The method in upper case and the path template, which identify the operation."""
        return self.operation.method, self.operation.path

    @property
    def path_names(self) -> list[str]:
        """The names of the parameters that identify the item and its parents, outermost first."""
        names = PATH_PARAMETER.findall(self.operation.path)
        return [*names, self.by_query] if self.by_query and not self.takes_list else names


@dataclass(frozen=True, slots=True)
class ResourceParent:
    """One parameter in the path of a collection.

    Attributes:
        parameter: Name of the path parameter.
        collection: The path of the collection whose items it identifies; None if that is not known,
            and the parameter only separates items.
    """

    parameter: str
    collection: str | None


MOST_CONFIDENT: Final = 0.99
"""Upper limit of the confidence of inferences, which are never certain."""


@dataclass(slots=True)
class Evidence:
    """Reasons for and against an inference, and the sum of their weights.

    Attributes:
        reasons: The reasons in words, in the order in which they were added.
    """

    reasons: list[str] = field(default_factory=list)
    _sum: float = 0.0

    def add(self, weight: float, reason: str) -> None:
        """Adds a reason; a negative weight speaks against the inference."""
        self._sum += weight
        self.reasons.append(reason)

    @property
    def confidence(self) -> float:
        """The confidence from 0 to 1: the sum of the weights, limited."""
        return round(min(max(self._sum, 0.0), MOST_CONFIDENT), 2)


@dataclass(frozen=True, slots=True)
class Resource:
    """A collection of items, or a singleton, that operations of a document read and change.

    Attributes:
        path: The path template of the collection or singleton.
        schema: The schema of an item in responses; None if the document has none.
        operations: The operations with their roles, in the order of the document.
        parents: The parameters of the path, outermost first.
        item_path: The path template of an item; None if items have no path.
        identifier: The member that identifies an item; None if only the path does.
        references: Member to the path of the collection whose items it identifies.
        unique: The members whose value no two items may share.
        stages: The member with the progress of a job, to its values in order; empty for other items.
        others: The operations whose paths name an item by another member (``named_by``); they are
            served, while sequences and judges use those that have the identifier.
        confidence: The confidence of the inference, from 0 to 1.
        reasons: The reasons for and against the inference.
    """

    path: str
    schema: Node | None
    operations: tuple[ResourceOperation, ...]
    parents: tuple[ResourceParent, ...] = ()
    item_path: str | None = None
    identifier: str | None = None
    references: Mapping[str, str] = field(default_factory=dict)
    unique: tuple[str, ...] = ()
    stages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    others: tuple[ResourceOperation, ...] = ()
    confidence: float = 1.0
    reasons: tuple[str, ...] = ()

    @property
    def is_certain(self) -> bool:
        """True if the confidence suffices to use the resource."""
        return self.confidence >= CONFIDENT

    def operation(self, role: Role) -> ResourceOperation | None:
        """Returns the first operation with a role, or None; no scope may limit it, nor a list of identifiers."""
        fitting = (it for it in self.operations if it.role == role and not it.scope)
        return next((it for it in fitting if role == "create" or not it.takes_list), None)

    @property
    def roles(self) -> frozenset[Role]:
        """The roles for which there is an operation."""
        return frozenset(role for role in ROLES if self.operation(role) is not None)

    @property
    def parameter(self) -> str | None:
        """The path parameter that identifies an item; None if items have no path."""
        return PATH_PARAMETER.findall(self.item_path)[-1] if self.item_path else None

    @property
    def is_flat(self) -> bool:
        """True if the path of an item does not name its parents, as ``/items/{itemId}``."""
        named = PATH_PARAMETER.findall(self.item_path or "")
        return bool(named) and len(named) <= len(self.parents)

    def is_across(self, role: ResourceOperation) -> bool:
        """Tells whether a list has the items of several parents, whose identifiers may repeat."""
        return not self.is_flat and len(role.path_names) < len(self.parents)

    def is_flat_at(self, path: str) -> bool:
        """Tells whether the path of an operation leads to an item without naming its parents."""
        named, head = PATH_PARAMETER.findall(path), path.partition("/{")[0]
        is_alone = path != self.path and head.endswith(f"/{self.path.rpartition('/')[2]}")
        is_twin = bool(self.parents) and len(named) == 1 and is_alone
        return is_twin or (self.is_flat and path.startswith(self.item_path or ""))


class ResourceCollection(Resource):
    """Items that are created, read and deleted by their identifier."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The last literal segment of the path, such as ``pets``."""
        literal = [part for part in self.path.split("/") if part and "{" not in part]
        return literal[-1].removesuffix(".json") if literal else self.path

    @property
    def can_create(self) -> bool:
        """True if an operation creates items."""
        return self.operation("create") is not None or self.operation("replace") is not None


class ResourceSingleton(Resource):
    """A resource that exists once, at its path; it is read and changed, but not created."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ResourceModel:
    """The resources of a document, as inferred or as stated in a file.

    Attributes:
        collections: The certain collections.
        singletons: The certain singletons.
        uncertain: Resources that stay stateless, as their confidence is too low.
    """

    collections: tuple[ResourceCollection, ...] = ()
    singletons: tuple[ResourceSingleton, ...] = ()
    uncertain: tuple[Resource, ...] = ()

    @property
    def resources(self) -> tuple[Resource, ...]:
        """All certain resources."""
        return self.collections + self.singletons

    def collection(self, path: str) -> ResourceCollection | None:
        """Returns the collection at a path template, or None."""
        return next((it for it in self.collections if it.path == path), None)

    def children(self, path: str) -> Iterator[Resource]:
        """Yields the resources whose nearest parent is an item of the collection."""
        for resource in self.resources:
            if resource.parents and resource.parents[-1].collection == path:
                yield resource

    def roles(self) -> Iterator[tuple[Resource, ResourceOperation]]:
        """Yields every certain resource with each of its operations."""
        for resource in self.resources:
            for operation in (*resource.others, *resource.operations):
                yield resource, operation

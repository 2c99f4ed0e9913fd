"""Describes the members of an item by their part in its life: who sets them, and when."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from understudy.openapi.loader import Document, Node
from understudy.openapi.resources.bodies import BodySchemas, request_schema
from understudy.openapi.resources.model import Resource, ResourceCollection
from understudy.openapi.resources.names import canonical
from understudy.openapi.schemas import Schemas

Moment = Literal["created", "updated"]

_CREATED: Final = (
    "created",
    "createdat",
    "createdon",
    "datecreated",
    "creationdate",
    "createdtime",
)
_UPDATED: Final = (
    *("updated", "updatedat", "updatedon", "modified", "modifiedat", "lastmodified"),
    *("lastupdated", "dateupdated", "datemodified", "updatedtime", "lastupdatedat"),
)
_ENDINGS: Final = ("date", "time", "timestamp")


@dataclass(frozen=True, slots=True)
class ItemMember:
    """One member of an item.

    Attributes:
        schema: Its schema.
        is_read_only: Whether only the server sets it.
        is_write_only: Whether only requests have it.
        is_required: Whether every item has it.
        is_sent: Whether the request that creates an item may have it.
        default: Its default, as a tuple of one; empty for none.
        moment: The moment of the item's life whose time it is; None for any other member.
    """

    schema: Node
    is_read_only: bool
    is_write_only: bool
    is_required: bool
    is_sent: bool
    default: tuple[Any, ...]
    moment: Moment | None


class ItemShape:
    """Describes the items of one collection, or a resource that exists once.

    Args:
        resource: The collection.
        document: The document that it was inferred from.
        schemas: The document's validators.

    Attributes:
        members: The members of an item by name.
    """

    def __init__(self, resource: Resource, document: Document, schemas: Schemas) -> None:
        self.resource = resource
        self.schemas = schemas
        self.bodies = BodySchemas(document)
        self.schema = resource.schema
        required = set(schemas.required_names(resource.schema)) if resource.schema else set()
        sent = self._sent_names()
        self.members: Mapping[str, ItemMember] = {
            name: self._member(name, node, is_required=name in required, is_sent=name in sent)
            for name, node in self.bodies.members(resource.schema).items()
        }

    @property
    def identifier(self) -> str | None:
        """The member that identifies an item; None where only its path does."""
        return self.resource.identifier if isinstance(self.resource, ResourceCollection) else None

    def _sent_names(self) -> set[str]:
        names: set[str] = set()
        for role in ("create", "replace", "update"):
            for it in self.resource.operations:
                if it.role == role and not names:
                    schema = request_schema(it.operation)
                    if it.takes_list and schema is not None:
                        schema = self.bodies.items(schema)
                    for step in it.request_path:
                        schema = self.bodies.members(schema).get(step)
                    names = set(self.bodies.members(schema))
        return names

    def _member(self, name: str, node: Node, *, is_required: bool, is_sent: bool) -> ItemMember:
        keyword = self.bodies.keyword
        default = keyword(node, "default")
        return ItemMember(
            schema=node,
            is_read_only=keyword(node, "readOnly") is True,
            is_write_only=keyword(node, "writeOnly") is True,
            is_required=is_required,
            is_sent=is_sent,
            default=() if default is None else (default,),
            moment=self._moment(name, node),
        )

    def _moment(self, name: str, node: Node) -> Moment | None:
        types = self.bodies.types(node)
        is_instant = self.bodies.keyword(node, "format") in {"date-time", "date"}
        if not (is_instant or types == {"integer"}):
            return None
        plain = canonical(name)
        stems = {plain, *(plain.removesuffix(ending) for ending in _ENDINGS)}
        if stems & set(_CREATED):
            return "created"
        return "updated" if stems & set(_UPDATED) else None

    def accepts(self, name: str, value: Any) -> bool:
        """Tells whether a member can have a value."""
        return self.schemas.validator(self.members[name].schema).is_valid(value)

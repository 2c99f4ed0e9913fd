"""Infers one collection from the operations at its paths, with the reasons for and against it."""

from collections.abc import Mapping
from typing import Final

from understudy.openapi.loader import Node
from understudy.openapi.operations import Operation
from understudy.openapi.resources.actions import action_changes
from understudy.openapi.resources.bodies import (
    BodySchemas,
    request_media,
    request_schema,
    response_schema,
    success,
)
from understudy.openapi.resources.evidence import Evidence
from understudy.openapi.resources.identifiers import (
    identifier_member,
    identifying_names,
    path_parameter_schema,
)
from understudy.openapi.resources.model import ResourceCollection, ResourceOperation, Role, Steps
from understudy.openapi.resources.names import canonical, is_plural
from understudy.openapi.resources.places import PathGroup

_SHARED: Final = 0.5
"""The least share of common members with which two schemas are of one thing."""

_JSON_PATCH: Final = "application/json-patch+json"


def draft_collection(place: PathGroup, schemas: BodySchemas) -> ResourceCollection | None:
    """Returns the collection at a place, however sure it is; None where nothing creates an item."""
    return _Draft(place, schemas).collection()


class _Draft:
    """Infers one collection from the operations at one place."""

    def __init__(self, place: PathGroup, schemas: BodySchemas) -> None:
        self._place = place
        self._schemas = schemas
        self._evidence = Evidence()
        self._operations: list[ResourceOperation] = []
        item = next(iter(place.items), None)
        self._item_path = item.path if item else None
        self._parameter = item.path.rpartition("{")[2].partition("}")[0] if item else ""
        self._name = [part for part in place.key.split("/") if part and "{" not in part][-1:]
        self._names = identifying_names(self._parameter or "id", "".join(self._name))
        self._schema = self._item_schema()
        self._members = schemas.members(self._schema)

    def collection(self) -> ResourceCollection | None:
        create = self._place.find("POST")
        upsert = self._place.find_item("PUT")
        if (create is None and upsert is None) or not self._name:
            return None
        self._add_create(create)
        self._add_list()
        identifier = self._identifier()
        for operation in self._place.items:
            self._add_item_operation(operation)
        self._add_replace_at_collection(identifier)
        self._add_actions()
        self._weigh()
        own = next(iter(self._place.own), None)
        return ResourceCollection(
            path=own.path if own else _above(self._item_path or self._place.key),
            item_path=self._item_path,
            identifier=identifier,
            schema=self._schema,
            operations=tuple(self._operations),
            confidence=self._evidence.confidence,
            reasons=tuple(self._evidence.reasons),
        )

    def _item_schema(self) -> Node | None:
        """Returns the schema of an item: as it is read, else as it is changed, created or listed."""
        find, find_item = self._place.find, self._place.find_item
        for operation in (find_item("GET"), find_item("PUT"), find_item("PATCH"), find("POST")):
            _, item = self._schemas.opened(response_schema(operation), self._names)
            if self._schemas.members(item):
                return item
        for _, items in self._schemas.arrays(response_schema(find("GET"))):
            return items
        for operation in (find("POST"), find_item("PUT")):
            _, item = self._schemas.opened(request_schema(operation), self._names)
            if self._schemas.members(item):
                return item
        return None

    def _identifier(self) -> str | None:
        typed = None
        for operation in self._place.items[:1]:
            typed = path_parameter_schema(operation, self._parameter)
        match = identifier_member(
            self._parameter or "id", self._name[0], self._members, self._schemas, typed
        )
        if match is not None:
            self._evidence.add(match.weight, match.reason)
            return match.name
        if self._place.find_item("PUT") is not None:
            self._evidence.add(0.15, f"items are put at the {{{self._parameter}}} of the client")
        else:
            self._evidence.add(-0.3, "no member identifies an item")
        return None

    def _add_create(self, create: Operation | None) -> None:
        if create is None:
            self._evidence.add(0.35, "PUT creates an item at its path")
            return
        media = request_media(create)
        if media is None:
            self._evidence.add(-0.5, f"POST {create.path} takes neither JSON nor a form")
            return
        self._evidence.add(0.4, f"POST {create.path} creates an item")
        steps, share = self._request(create)
        if share is None:
            self._evidence.add(0.05, "the schema of the created item names no members")
        elif share >= _SHARED:
            self._evidence.add(
                0.25, f"{share:.0%} of the members sent are in the item that is read"
            )
        else:
            self._evidence.add(-0.35, f"only {share:.0%} of the members sent are in the item")
        declared = success(create)
        if declared is not None and declared[0] == 201:  # noqa: PLR2004 - RFC 9110, 15.3.2: Created
            self._evidence.add(0.05, "it responds 201 Created")
        takes_list = media.schema is not None and "array" in self._schemas.types(media.schema)
        response = self._list_steps(create) if takes_list else self._response(create)
        self._operations.append(
            ResourceOperation("create", create, steps, response, takes_list=takes_list)
        )

    def _add_list(self) -> None:
        listing = self._place.find("GET")
        if listing is not None and self._list_steps(listing) is not None:
            self._evidence.add(0.1, f"GET {listing.path} lists the same items")
        listings = [listing] if listing else []
        for operation in listings + [it for it in self._place.searches if it is not listing]:
            steps = self._list_steps(operation)
            if steps is not None:
                self._operations.append(ResourceOperation("list", operation, (), steps))

    def _list_steps(self, operation: Operation) -> Steps | None:
        """Returns the place of the list of items in a response, or None."""
        for steps, items in self._schemas.arrays(response_schema(operation)):
            share = self._share(items)
            if share is not None and share >= _SHARED:
                return steps
        return None

    def _add_item_operation(self, operation: Operation) -> None:
        has_patch = self._place.find_item("PATCH") is not None
        roles: Mapping[str, Role] = {
            "GET": "read",
            "PUT": "replace",
            "PATCH": "update",
            "DELETE": "delete",
            **({} if has_patch else {"POST": "update"}),
        }
        role = roles.get(operation.method)
        if role is None:
            return
        response = self._response(operation)
        if role == "read" and response is None:
            return  # a picture or a text of the item
        steps: Steps = ()
        if role in {"replace", "update"}:
            media = request_media(operation)
            steps, share = self._request(operation)
            is_patch = operation.request_body and _JSON_PATCH in operation.request_body.content
            if media is None or (share is not None and share < _SHARED and not is_patch):
                return
        self._operations.append(ResourceOperation(role, operation, steps, response))

    def _add_replace_at_collection(self, identifier: str | None) -> None:
        """Adds ``PUT /pets`` and ``PATCH /pets``, whose body has the identifier."""
        roles: tuple[tuple[str, Role], ...] = (("PUT", "replace"), ("PATCH", "update"))
        for method, role in roles:
            operation = self._place.find(method)
            if operation is None or self._place.find_item(method) is not None or identifier is None:
                continue
            steps, share = self._request(operation)
            _, item = self._schemas.opened(request_schema(operation), self._names)
            if share and share >= _SHARED and identifier in self._schemas.members(item):
                response = self._response(operation)
                self._operations.append(ResourceOperation(role, operation, steps, response))

    def _add_actions(self) -> None:
        for verb, operation in self._place.actions:
            changes = action_changes(verb, self._members, self._schemas)
            if changes:
                response = self._response(operation)
                self._operations.append(
                    ResourceOperation("action", operation, (), response, changes)
                )

    def _weigh(self) -> None:
        roles = {it.role for it in self._operations}
        if not roles & {"create", "replace"}:
            self._evidence.add(
                -0.5, "no request has an item to create: PUT takes other members, or none"
            )
        if self._item_path is None:
            if "list" not in roles:
                self._evidence.add(-0.5, "nothing reads what is created")
            return
        if roles & {"read", "list"}:
            self._evidence.add(0.1, "an item that was created can be read")
        else:
            self._evidence.add(-0.3, "nothing reads what is created")
        if not roles & {"read", "replace", "update", "delete"}:
            self._evidence.add(-0.5, f"nothing is done at {self._item_path}")
        if is_plural(self._name[0]):
            self._evidence.add(0.05, f"{self._name[0]} is a plural")

    def _request(self, operation: Operation) -> tuple[Steps, float | None]:
        """Returns the place of the item in a request, and the share of members it has in common."""
        media = request_media(operation)
        if media is None or media.schema is None:
            return (), None
        schema = media.schema
        if "array" in self._schemas.types(schema):
            schema = self._schemas.items(schema) or schema
        steps, item = self._schemas.opened(schema, self._names)
        share = self._share(item)
        if (share or 0) < _SHARED:
            for name, member in self._schemas.members(schema).items():
                inner = self._share(member)
                if inner is not None and inner >= _SHARED:
                    return (name,), inner
        return steps, share

    def _response(self, operation: Operation) -> Steps | None:
        """Returns the place of the item in a response, or None where it has none."""
        schema = response_schema(operation)
        steps, item = self._schemas.opened(schema, self._names)
        share = self._share(item)
        if item is None or (share is not None and share < _SHARED):
            return None
        return steps if self._schemas.members(item) or not self._members else None

    def _share(self, schema: Node | None) -> float | None:
        """Returns the share of a schema's members that an item has too; None if it names none."""
        if schema is None or not self._members:
            return None
        own = {canonical(name) for name in self._members}
        other = {canonical(name) for name in self._schemas.members(schema)}
        return len(own & other) / len(other) if other else None


def _above(item_path: str) -> str:
    """Returns the path of the collection that an item's path is in."""
    return item_path.rstrip("/").rpartition("/")[0]

"""Finds operations that list or create items at other paths than their collection's, or delete several."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from understudy.collections.bodies import (
    ENDINGS,
    SHARED,
    PathGroup,
    arrays,
    identifier_member,
    identifying_names,
    opened,
    request_schema,
    response_schema,
    types_of,
)
from understudy.collections.model import ResourceCollection, ResourceOperation, Role, Steps
from understudy.collections.names import canonical, is_no_status, singular, stages, words
from understudy.openapi.loader import Node
from understudy.openapi.operations import Operation
from understudy.openapi.schemas import Schemas

_SCOPED: Final[Mapping[str, Role]] = {"GET": "list", "POST": "create"}
_BEGUN: Final = frozenset({"201", "202"})
"""Statuses of operations that may create an item of a collection at another path."""


def with_scoped(
    drafts: Sequence[ResourceCollection], declared: Sequence[Operation], schemas: Schemas
) -> list[ResourceCollection]:
    """Adds operations that list or create items at other paths: of a parent, of all, or by an action.

    ``/customers/{customerId}/orders`` lists orders, ``/repos`` lists the items at
    ``/repos/{owner}/{repo}``, and ``/videos/{id}/transcode`` creates a job if its response has the schema
    that ``/jobs/{id}`` reads.
    """
    drafts = _with_twins(list(_without_views(drafts, schemas)), schemas)
    taken = {operation.key for it in drafts if it.is_certain for operation in it.operations}
    near: dict[str, list[Operation]] = {}
    for operation in declared:
        if operation.method in _SCOPED and (operation.method, operation.path) not in taken:
            near.setdefault(_last(operation.path), []).append(operation)
            for _, shown in _shown(operation, schemas):
                near.setdefault(schemas.follow(shown).pointer, []).append(operation)
    scoped = []
    for draft in drafts:
        found: dict[tuple[str, str], ResourceOperation] = {}
        if draft.is_certain and draft.schema is not None:
            for key in (_last(draft.path), schemas.follow(draft.schema).pointer):
                roles = (_scoped(it, draft, schemas) for it in near.get(key, ()))
                found |= {it.key: it for it in roles if it is not None}
        operations = (*draft.operations, *found.values())
        stages_of = _stages(operations, draft.schema, schemas)
        scoped.append(replace(draft, operations=operations, stages=stages_of))
    return scoped


def _last(path: str) -> str:
    """Returns the last segment of a path."""
    return path.rstrip("/").rpartition("/")[2]


def _without_views(
    drafts: Sequence[ResourceCollection], schemas: Schemas
) -> Iterator[ResourceCollection]:
    """Yields all collections but those that only list or create the items of another one.

    Its items have longer keys, or a member that says below which parent they are.
    """
    alike: dict[str, list[ResourceCollection]] = {}
    for draft in drafts:
        if draft.schema is not None:
            alike.setdefault(schemas.follow(draft.schema).pointer, []).append(draft)
    for draft in drafts:
        pointer = "" if draft.schema is None else schemas.follow(draft.schema).pointer
        if not any(_is_view(draft, it, schemas) for it in alike.get(pointer, ())):
            yield draft


def _is_view(draft: ResourceCollection, whole: ResourceCollection, schemas: Schemas) -> bool:
    """Tells whether one of two collections of the same schema only has items of the other."""
    if draft.roles == {"list"} and whole.path.startswith(f"{draft.path.rstrip('/')}/{{"):
        return True
    is_flat = "{" not in whole.path and _last(whole.path) == _last(draft.path)
    if not (is_flat and whole.operation("create") and draft.roles <= {"list", "create"}):
        return False
    return draft.path.count("{") == 1 and all(
        all(_scope(it.operation, whole, schemas).values()) for it in draft.operations
    )


def _with_twins(
    drafts: Sequence[ResourceCollection], schemas: Schemas
) -> Sequence[ResourceCollection]:
    """Joins ``/orders/{id}``, which reads items, with ``/users/{uid}/orders``, which creates them."""
    joined = {it.path: it for it in drafts}
    creating: dict[tuple[str, str], list[ResourceCollection]] = {}
    for draft in drafts:
        is_below = draft.is_certain and draft.path.count("{") == 1
        if draft.schema is not None and is_below and draft.operation("create") is not None:
            key = _last(draft.path), schemas.follow(draft.schema).pointer
            creating.setdefault(key, []).append(draft)
    for flat in drafts:
        if flat.schema is None or "{" in flat.path or flat.operation("create") is not None:
            continue
        twins = creating.get((_last(flat.path), schemas.follow(flat.schema).pointer), ())
        if len(twins) == 1 and (flat.item_path or "").endswith("}"):
            (twin,) = twins
            operations = (*twin.operations, *flat.operations)
            item_path = twin.item_path or flat.item_path
            joined[twin.path] = replace(twin, operations=operations, item_path=item_path)
            del joined[flat.path]
    return list(joined.values())


def _shown(operation: Operation, schemas: Schemas) -> Iterator[tuple[Steps, Node]]:
    """Yields the place and the schema of the items that an operation lists, or of the created item."""
    schema = response_schema(operation)
    if operation.method == "GET":
        yield from arrays(schemas, schema)
    elif schema is not None:
        steps, item = single_item(schema, schemas)
        yield steps, item or schema


def _scoped(
    operation: Operation, collection: ResourceCollection, schemas: Schemas
) -> ResourceOperation | None:
    """Returns an operation of another path with its role in a collection; None if it has none there."""
    role, above = _SCOPED[operation.method], operation.path.rstrip("/")
    head, is_alone = above.rpartition("/")[0], "{" not in collection.path
    is_parents = head.endswith("}") and head.count("{") == 1 and is_alone
    is_parents = is_parents and _last(above) == _last(collection.path)
    is_of_all = role == "list" and f"{collection.path}/".startswith(f"{above}/{{")
    begins = role == "create" and is_alone and collection.operation("create") is None
    begins = begins and "{" in above and bool(_BEGUN & set(operation.responses))
    scope = {} if is_of_all else _scope(operation, collection, schemas)
    members = schemas.members(collection.schema).keys()
    for steps, shown in _shown(operation, schemas):
        own = schemas.members(shown).keys()
        is_alike = own and len(own & members) >= SHARED * len(own)
        is_named = role == "create" or any(scope.values())
        is_same = (
            schemas.follow(shown).pointer == schemas.follow(collection.schema or shown).pointer
        )
        if (is_parents and is_alike and is_named) or (is_same and (is_of_all or begins)):
            return ResourceOperation(role, operation, (), steps, scope=scope)
    return None


def _scope(
    operation: Operation, collection: ResourceCollection, schemas: Schemas
) -> dict[str, str]:
    """Maps the last parameter of a path to the member of an item with the same meaning, or to ``""``."""
    parent, _, parameter = operation.path.rpartition("}")[0].rpartition("/{")
    one = singular(parent.rpartition("/")[2])
    names = (canonical(parameter), one + canonical(parameter), f"{one}id", one)
    members = schemas.members(collection.schema)
    by_name = {canonical(name): name for name in members if name != collection.identifier}
    return {parameter: next((by_name[name] for name in names if name in by_name), "")}


def _stages(
    declared: Sequence[ResourceOperation], schema: Node | None, schemas: Schemas
) -> dict[str, tuple[str, ...]]:
    """Returns the status member of a job with its states, if a creation is declared as 202."""
    creations = (it.operation for it in declared if it.role == "create")
    members = schemas.members(schema)
    if any("202" in it.responses for it in creations):
        for name in sorted(members, key=is_no_status):
            found = stages(schemas.keyword(members[name], "enum") or ())
            if found:
                return {name: found}
    return {}


_MOST_MEMBERS: Final = 3
"""Largest number of members of an envelope: ``data``, and others such as ``meta`` and ``links``."""


def single_item(schema: Node | None, schemas: Schemas) -> tuple[tuple[str, ...], Node | None]:
    """Opens an envelope such as ``{data: {…}, meta: …}``, or one with a single member, ``{taxRate: {…}}``."""
    members = schemas.members(schema)
    objects = [name for name, member in members.items() if schemas.members(member)]
    is_envelope = len(objects) == 1 and objects[0] in {"data", "result", "response", "payload"}
    is_alone = len(objects) == len(members) == 1
    if is_alone or (is_envelope and len(members) <= _MOST_MEMBERS):
        return (objects[0],), members[objects[0]]
    return (), schema


def identifier_around(
    parameter: str, collection: str, place: PathGroup, schemas: Schemas, typed: Node | None
) -> tuple[str, float, str] | None:
    """Returns the identifier that responses have around an item without one, with weight and reason; or None.

    Such as ``{"bookingid": 1, "booking": {…}}`` of a creation, or ``[{"bookingid": 1}]`` of a list.

    Args:
        parameter: The path parameter.
        collection: The last segment of the collection's path.
        place: The operations of the collection.
        schemas: The schemas of the document.
        typed: The schema of the path parameter.
    """
    names = identifying_names(parameter, collection)
    created = opened(schemas, response_schema(place.find("POST")), names)[1]
    listed = [it for _, it in arrays(schemas, response_schema(place.find("GET")))]
    for shown in (created, *listed):
        match = identifier_member(parameter, collection, schemas.members(shown), schemas, typed)
        if match is not None and canonical(match[0]).endswith(ENDINGS):
            return match[0], match[1], f"the member {match[0]} around an item identifies it"
    return None


def deletion_of_several(
    schemas: Schemas, operation: Operation, identifier: str, names: Sequence[str]
) -> ResourceOperation | None:
    """Returns an operation that deletes the items of a list of identifiers; None if it has no such list.

    The list is in the body, or it is a query parameter that is required or the only one: ``?ids=a,b``.

    Args:
        schemas: The schemas of the document.
        operation: The operation.
        identifier: The member or parameter that identifies an item.
        names: Canonical names of members that may identify an item.
    """
    steps = _identifiers_place(schemas, request_schema(operation), (canonical(identifier), *names))
    if steps is not None:
        return ResourceOperation("delete", operation, steps, takes_list=True)
    query = [it for it in operation.parameters if it.location == "query"]
    for it in query:
        is_list = types_of(schemas, it.schema) == {"array"}
        is_named = singular(it.name) in names
        is_named &= singular(it.name).endswith(words(identifier)[-1:] or ("",))
        if is_list and is_named and (it.required or len(query) == 1):
            return ResourceOperation("delete", operation, takes_list=True, by_query=it.name)
    return None


def _identifiers_place(schemas: Schemas, schema: Node | None, names: Sequence[str]) -> Steps | None:
    """Returns the place of a list of identifiers in a request body; None without one."""
    members = schemas.members(schema)
    for name, node in {"": schema, **members}.items():
        items = schemas.items(node) if node and types_of(schemas, node) == {"array"} else None
        is_named = not name or len(members) == 1 or singular(name) in names
        own = {*map(canonical, schemas.members(items))}
        if items is not None and is_named and (len(own) == 1 or not own) and own <= {*names}:
            return (name,) if name else ()
    return None

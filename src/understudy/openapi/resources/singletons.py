"""Finds resources that exist once, such as ``/me/settings``: read and changed at one path."""

from collections.abc import Collection, Sequence

from understudy.openapi.loader import Node
from understudy.openapi.operations import Operation
from understudy.openapi.resources.bodies import BodySchemas, request_schema, response_schema
from understudy.openapi.resources.evidence import Evidence
from understudy.openapi.resources.model import ResourceOperation, ResourceSingleton, Role
from understudy.openapi.resources.places import collection_key

_ROLES: dict[str, Role] = {
    "GET": "read",
    "PUT": "replace",
    "PATCH": "update",
    "DELETE": "delete",
}


def find_singletons(
    declared: Sequence[Operation], taken: Collection[tuple[str, str]], schemas: BodySchemas
) -> list[ResourceSingleton]:
    """Returns the single resources, however sure they are.

    Args:
        declared: The operations of a document.
        taken: Method and path of those that belong to a collection.
        schemas: Reads the schemas of their bodies.
    """
    by_key: dict[str, dict[str, Operation]] = {}
    for operation in declared:
        key = collection_key(operation.path)
        if not key.endswith("{}") and (operation.method, operation.path) not in taken:
            by_key.setdefault(key, {})[operation.method] = operation
    candidates = (_singleton(methods, schemas) for methods in by_key.values())
    return [singleton for singleton in candidates if singleton is not None]


def _singleton(methods: dict[str, Operation], schemas: BodySchemas) -> ResourceSingleton | None:
    changing = [methods[method] for method in ("PUT", "PATCH") if method in methods]
    if "GET" not in methods or not changing or "POST" in methods:
        return None
    read = methods["GET"]
    steps, schema = _single_item(response_schema(read), schemas)
    members = schemas.members(schema)
    if schema is None or not members or any(True for _ in schemas.arrays(schema, depth=0)):
        return None
    evidence = Evidence()
    evidence.add(0.5, f"GET {read.path} reads one object")
    found: list[ResourceOperation] = [ResourceOperation("read", read, (), steps)]
    for operation in changing:
        body_steps, body = _single_item(request_schema(operation), schemas)
        sent = schemas.members(body)
        share = len(sent.keys() & members.keys()) / len(sent) if sent else 0.0
        if share < 0.5:  # noqa: PLR2004 - half of the members, as for collections
            evidence.add(-0.2, f"{operation.method} takes other members ({share:.0%} are read)")
            continue
        evidence.add(0.35, f"{operation.method} takes {share:.0%} of the members that are read")
        response, _ = _single_item(response_schema(operation), schemas)
        found.append(
            ResourceOperation(
                _ROLES[operation.method],
                operation,
                body_steps,
                response if response_schema(operation) else None,
            )
        )
    if "DELETE" in methods:
        found.append(ResourceOperation("delete", methods["DELETE"]))
    return ResourceSingleton(
        read.path, schema, tuple(found), (), evidence.confidence, tuple(evidence.reasons)
    )


def _single_item(schema: Node | None, schemas: BodySchemas) -> tuple[tuple[str, ...], Node | None]:
    """Opens an envelope with one member: ``{data: {…}}``."""
    members = schemas.members(schema)
    objects = [name for name, member in members.items() if schemas.members(member)]
    is_envelope = len(objects) == 1 and objects[0] in {"data", "result", "response", "payload"}
    if is_envelope and len(members) <= 3:  # noqa: PLR2004 - data, and what is beside it: meta, links
        return (objects[0],), members[objects[0]]
    return (), schema

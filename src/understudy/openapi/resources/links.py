"""Relates collections to one another: parents in paths, and members that refer to items."""

from collections.abc import Mapping, Sequence
from typing import Final

from understudy.openapi.grammar import PATH_PARAMETER
from understudy.openapi.loader import Node
from understudy.openapi.resources.bodies import BodySchemas
from understudy.openapi.resources.model import ResourceCollection, ResourceParent
from understudy.openapi.resources.names import canonical, singular
from understudy.openapi.resources.places import collection_key, item_collection

_UNIQUE: Final = frozenset({"name", "slug", "email", "username", "login", "handle", "emailaddress"})
"""Members that services usually want to be unique."""

_CONFLICT: Final = "409"


def parents_of(path: str, collections: Mapping[str, str]) -> tuple[ResourceParent, ...]:
    """Returns the parameters of a collection's path, outermost first.

    Args:
        path: Its path template.
        collections: The key of a collection to its path.
    """
    parents = []
    for match in PATH_PARAMETER.finditer(path):
        key = item_collection(path[: match.end()])
        parents.append(ResourceParent(match[1], collections.get(key) if key else None))
    return tuple(parents)


def references_of(
    members: Mapping[str, Node],
    identifier: str | None,
    collections: Mapping[str, ResourceCollection],
    schemas: BodySchemas,
) -> dict[str, str]:
    """Returns the members that identify items of other collections, with the collections' paths.

    Args:
        members: The members of an item.
        identifier: The one that identifies the item itself.
        collections: Every collection, by the name of a member that refers to it.
        schemas: Reads the types of members.
    """
    references = {}
    for name, member in members.items():
        target = collections.get(canonical(name))
        if target is None or name == identifier or target.identifier is None:
            continue
        own = schemas.types(schemas.members(target.schema).get(target.identifier))
        types = schemas.types(member)
        if types and own and types & own:
            references[name] = target.path
    return references


def by_referring_name(
    collections: Sequence[ResourceCollection],
) -> dict[str, ResourceCollection]:
    """Returns collections by the canonical name of a member that refers to an item: ``petid``."""
    return {
        singular(it.name) + canonical(it.identifier): it
        for it in reversed(collections)
        if it.identifier
    }


def unique_members(collection: ResourceCollection, members: Mapping[str, Node]) -> tuple[str, ...]:
    """Returns the members that must be unique, where the document declares a conflict for that."""
    create = collection.operation("create")
    if create is None or _CONFLICT not in create.operation.responses:
        return ()
    return tuple(
        name for name in members if canonical(name) in _UNIQUE and name != collection.identifier
    )


def paths_by_key(collections: Sequence[ResourceCollection]) -> dict[str, str]:
    """Returns the paths of collections by the key that the path of their items leads to.

    Without those whose items are at a path that does not name their parents: what is below such an
    item is kept apart by its identifier alone.
    """
    nested = [it for it in collections if it.item_path is None or _is_below(it)]
    return {
        (it.item_path and item_collection(it.item_path)) or collection_key(it.path): it.path
        for it in nested
    }


def _is_below(collection: ResourceCollection) -> bool:
    """Tells whether the path of an item is that of its collection and one parameter more."""
    own = len(PATH_PARAMETER.findall(collection.path))
    return len(PATH_PARAMETER.findall(collection.item_path or "")) > own

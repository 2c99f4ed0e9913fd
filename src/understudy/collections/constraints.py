"""Finds the members whose values other items constrain: unique ones, and references to items."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from understudy.collections.bodies import ENDINGS, sent_members, types_of
from understudy.collections.model import ResourceCollection
from understudy.collections.names import canonical, singular, words
from understudy.openapi.loader import Node
from understudy.openapi.pointers import steps_of
from understudy.openapi.schemas import Schemas

_UNIQUE: Final = frozenset({"name", "slug", "email", "username", "login", "handle", "emailaddress"})
"""Canonical names of members that are usually unique."""

_CONFLICT: Final = "409"
_TAKEN: Final = re.compile(
    r"\b(exists?|existing|taken|duplicates?|unique|in use|(of|with) (that|this|the same))\b", re.I
)

_IS_UNIQUE: Final = re.compile(
    r"\b((must|has to|should) be|is|are) unique\b|\bunique (in|within|across|among|per|to)\b", re.I
)
"""Phrases of a description that demand of a member that no two items have the same value."""


def unique_members(
    collection: ResourceCollection, members: Mapping[str, Node], schemas: Schemas
) -> tuple[str, ...]:
    """Returns the members that must be unique, if the document declares a conflict for creations.

    These are the members that its description names, or that are described as unique, or else those
    with usual names.
    """
    prose, create = conflict_prose(collection, schemas), collection.operation("create")
    if prose is None or create is None:
        return ()
    others = [it for it in members if it != collection.identifier]
    texts = [it for it in others if schemas.keyword(members[it], "enum") is None]
    sent = sent_members(schemas, create)
    named = [
        it
        for it in texts
        if canonical(it) in words(prose)
        or (it in sent and _IS_UNIQUE.search(described_at(sent[it].pointer, schemas)))
    ]
    return tuple(named or (it for it in others if canonical(it) in _UNIQUE))


def conflict_prose(collection: ResourceCollection, schemas: Schemas) -> str | None:
    """Returns the description of the conflict of a creation; None if none is declared.

    The text is empty if the description does not mention a value that another item has.
    """
    create = collection.operation("create")
    conflict = None if create is None else create.operation.responses.get(_CONFLICT)
    if conflict is None:
        return None
    prose = described_at(conflict.pointer, schemas)
    return prose if _TAKEN.search(prose) else ""


def described_at(pointer: str, schemas: Schemas) -> str:
    """Returns summary and description of the object at a pointer."""
    part = schemas.place(steps_of(pointer)).value
    return " ".join(str(part.get(it, "")) for it in ("summary", "description"))


def references_of(
    members: Mapping[str, Node],
    identifier: str | None,
    collections: Mapping[str, ResourceCollection],
    schemas: Schemas,
) -> dict[str, str]:
    """Returns the members that identify items of other collections, with the collections' paths.

    Args:
        members: The members of an item.
        identifier: The member that identifies the item itself.
        collections: Every collection, by the name of a member that refers to it.
        schemas: Reads the types of members.
    """
    references = {}
    for name, member in members.items():
        target = collections.get(canonical(name)) or _named_alone(
            name, member, collections, schemas
        )
        if target is None or name == identifier or target.identifier is None:
            continue
        own = types_of(schemas, schemas.members(target.schema).get(target.identifier))
        types = types_of(schemas, member)
        if types and own and types & own:
            references[name] = target.path
    return references


_ORDINALS: Final = frozenset({"order", "page", "version", "revision"})
"""Names of numbers that often are no identifiers, although a collection may have that name."""


def _named_alone(
    name: str,
    member: Node,
    collections: Mapping[str, ResourceCollection],
    schemas: Schemas,
) -> ResourceCollection | None:
    """Returns the collection of a member that is named like an item, and has an identifier: ``pet: 7``."""
    is_uuid = schemas.keyword(member, "format") == "uuid"
    is_number = types_of(schemas, member) == {"integer"} and canonical(name) not in _ORDINALS
    names = (f"{canonical(name)}{ending}" for ending in ENDINGS)
    found = next((collections[it] for it in names if it in collections), None)
    return found if is_uuid or is_number else None


def referring_names(
    collections: Sequence[ResourceCollection],
) -> dict[str, ResourceCollection]:
    """Returns collections by the canonical name of a member that refers to an item: ``petid``."""
    return {
        singular(it.name) + canonical(it.identifier): it
        for it in reversed(collections)
        if it.identifier
    }

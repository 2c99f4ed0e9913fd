"""Reads what a document says in words of a creation that conflicts with an item that is there."""

import re
from collections.abc import Mapping
from typing import Final

from understudy.collections.model import ResourceCollection
from understudy.collections.names import canonical, words
from understudy.openapi.loader import Node
from understudy.openapi.pointers import steps_of
from understudy.openapi.schemas import Schemas

_UNIQUE: Final = frozenset({"name", "slug", "email", "username", "login", "handle", "emailaddress"})
"""Members that services usually want to be unique."""

_CONFLICT: Final = "409"
_TAKEN: Final = re.compile(
    r"\b(exists?|existing|taken|duplicates?|unique|in use|(of|with) (that|this|the same))\b", re.I
)


def unique_members(
    collection: ResourceCollection, members: Mapping[str, Node], schemas: Schemas
) -> tuple[str, ...]:
    """Returns the members that must be unique, where the document declares a conflict for that.

    These are the ones that the description of the conflict names, or else those of usual names.
    """
    prose = conflict_prose(collection, schemas)
    if prose is None:
        return ()
    others = [it for it in members if it != collection.identifier]
    texts = [it for it in others if schemas.keyword(members[it], "enum") is None]
    named = [it for it in texts if canonical(it) in words(prose)]
    return tuple(named or (it for it in others if canonical(it) in _UNIQUE))


def conflict_prose(collection: ResourceCollection, schemas: Schemas) -> str | None:
    """Returns what a document says of the conflict of a creation; None where it declares none.

    The text is empty where it does not say that the conflict is about a value that another item has.
    """
    create = collection.operation("create")
    conflict = None if create is None else create.operation.responses.get(_CONFLICT)
    if conflict is None:
        return None
    prose = described_at(conflict.pointer, schemas)
    return prose if _TAKEN.search(prose) else ""


def described_at(pointer: str, schemas: Schemas) -> str:
    """Returns the summary and the description of a part of a document."""
    part = schemas.place(steps_of(pointer)).value
    return " ".join(str(part.get(it, "")) for it in ("summary", "description"))

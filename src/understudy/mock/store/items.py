"""Records for the items of inferred collections.

Each collection of the document in force has a separate kind of record, so that listing it does not
walk over other items. The names of these kinds share a prefix by which the state file knows them.
"""

from collections.abc import Iterable
from functools import lru_cache
from operator import attrgetter
from typing import Any
from urllib.parse import quote

import orjson
from msgspec import Struct

from understudy.limits import ITEM_BYTES, ITEMS, Count
from understudy.mock.server.worlds import Collection, World

ITEM_KIND = "items"
"""Prefix in the name of every kind of items; a space and the path of the collection follow."""


class Item(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """One item of an inferred collection, or a resource that exists once.

    Attributes:
        identifier: The text that identifies it in its path; empty for a single resource.
        parents: The texts of the parameters in the path of its collection, outermost first.
        number: Position in the order of creation, from 1.
        body: Members of the item, ``writeOnly`` ones included; never modified.
        size: Bytes of the body as JSON.
        begun: Unix time since which the item, a job, progresses by itself; 0 for other items.
    """

    identifier: str
    parents: tuple[str, ...]
    number: Count
    body: dict[str, Any]
    size: Count
    begun: float = 0.0

    @classmethod
    def of(
        cls, identifier: str, parents: Iterable[str], number: int, body: dict[str, Any]
    ) -> "Item":
        """Creates an item, and computes the size of its body."""
        return cls(identifier, tuple(parents), number, body, len(orjson.dumps(body)))


def key_of(parents: Iterable[str], identifier: str) -> str:
    """Returns the key of an item in its collection."""
    return "/".join(quote(text, safe="") for text in (*parents, identifier))


LAST_NUMBERS: Collection[int] = Collection("item_numbers", Count)
"""The greatest number that an item has had, by the path of its collection."""

DELETED_ITEMS: Collection[bool] = Collection("deleted_items", bool, is_transient=True)
"""Marks of deleted items, by the path of the collection, a space and the key of the item."""

ANY_ITEMS: Collection[Item] = Collection(ITEM_KIND, Item)
"""Represents the items of every collection in the list of all kinds of record."""


@lru_cache(maxsize=4096)  # as every request needs it
def items_of(path: str) -> Collection[Item]:
    """Returns the kind of record for the items of a collection, by the collection's path."""
    return Collection(f"{ITEM_KIND} {path}", Item)


def expect_room_for_item(world: World, paths: Iterable[str], size: int) -> None:
    """Checks that a world may store one more item.

    Args:
        world: The world.
        paths: The paths of all collections of the document.
        size: Bytes of the item.

    Raises:
        LimitExceeded: The world would have too many items, or too many bytes of them.
    """
    paths = tuple(paths)
    ITEMS.check(sum(world.changed(items_of(path)) for path in paths))
    ITEM_BYTES.check(sum(world.weight(items_of(path), attrgetter("size")) for path in paths) + size)

"""Defines the items of inferred collections as a world holds them.

Each collection of the document in force is a kind of record of its own, so that listing one walks
over no other. The names begin alike, by which the state file recognises them whatever the document.
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
"""Begins the name of every collection of items; a space and its path follow."""


class Item(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """One item of an inferred collection, or a resource that exists once.

    Attributes:
        identifier: The text that identifies it in its path; empty for a single resource.
        parents: The texts of the parameters in the path of its collection, outermost first.
        number: Its place in the order of creation, from 1.
        body: Its members, those that only requests have included; never changed.
        size: The bytes of its body as JSON.
        begun: The time, in seconds since 1970, since which a job goes on by itself; 0 for none.
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
        """Returns an item with the size that its body has as JSON."""
        return cls(identifier, tuple(parents), number, body, len(orjson.dumps(body)))


def key_of(parents: Iterable[str], identifier: str) -> str:
    """Returns the key of an item in its collection."""
    return "/".join(quote(text, safe="") for text in (*parents, identifier))


LAST_NUMBERS: Collection[int] = Collection("item_numbers", Count)
"""Path of a collection to the greatest number that an item of it has had."""

DELETED_ITEMS: Collection[bool] = Collection("deleted_items", bool, is_transient=True)
"""Path of a collection, a space and the key of an item that was deleted."""


ANY_ITEMS: Collection[Item] = Collection(ITEM_KIND, Item)
"""Stands for the items of every collection, in the list of all kinds of record."""


@lru_cache(maxsize=4096)  # one object for each path, made at every request otherwise
def items_of(path: str) -> Collection[Item]:
    """Returns the kind of record that a collection's items are, by the collection's path."""
    return Collection(f"{ITEM_KIND} {path}", Item)


def expect_room_for_item(world: World, paths: Iterable[str], size: int) -> None:
    """Accepts an item that a world is to keep.

    Args:
        world: The world.
        paths: The paths of all collections of the document.
        size: The bytes of the item.

    Raises:
        LimitExceeded: The world's items would be too many, or too large together.
    """
    paths = tuple(paths)
    ITEMS.check(sum(world.changed(items_of(path)) for path in paths))
    ITEM_BYTES.check(sum(world.weight(items_of(path), attrgetter("size")) for path in paths) + size)

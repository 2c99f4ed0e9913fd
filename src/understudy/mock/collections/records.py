"""Reads and changes the items of a world: the only module here that touches its records."""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from understudy.mock.server.worlds import World
from understudy.mock.store.items import (
    DELETED_ITEMS,
    LAST_NUMBERS,
    Item,
    expect_room_for_item,
    items_of,
    key_of,
)
from understudy.openapi.resources.model import Resource, ResourceCollection, ResourceModel


def text_of(value: Any) -> str:
    """Returns an identifier as it stands in a path: ``7`` for 7 and for 7.0."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # a parameter can be larger than orjson writes integers
    return value if isinstance(value, str) else orjson.dumps(value).decode()


class ItemRecords:
    """The items of one world.

    Args:
        world: The world.
        model: All that has state in the document.
    """

    def __init__(self, world: World, model: ResourceModel) -> None:
        self.world = world
        self._model = model

    def get(self, path: str, parents: Sequence[str], identifier: str) -> Item | None:
        """Returns an item of the collection at a path, or None."""
        return self.world.get(items_of(path), key_of(parents, identifier))

    def parents_of(self, path: str, identifier: str) -> tuple[str, ...]:
        """Returns the parents of the item with an identifier; empty where there is none."""
        return next((it.parents for it in self.all(path) if it.identifier == identifier), ())

    def listed(self, path: str, parents: Sequence[str]) -> list[Item]:
        """Returns the items below these parents, in the order of creation."""
        below = tuple(parents)
        items = (item for _, item in self.world.items(items_of(path)))
        return sorted((it for it in items if it.parents == below), key=lambda it: it.number)

    def all(self, path: str) -> Iterator[Item]:
        """Yields all items of a collection."""
        return (item for _, item in self.world.items(items_of(path)))

    def has(self, path: str, identifier: str) -> bool:
        """Tells whether any item of a collection has this identifier, below whatever parents."""
        if self.get(path, (), identifier) is not None:
            return True
        return any(item.identifier == identifier for item in self.all(path))

    def next_number(self, path: str) -> int:
        """Returns the number of the next item of a collection; no number is used twice."""
        number = (self.world.get(LAST_NUMBERS, path) or 0) + 1
        self.world.put(LAST_NUMBERS, path, number)
        return number

    def put(self, path: str, item: Item) -> None:
        """Adds an item, or replaces the one with its identifier.

        Raises:
            LimitExceeded: The world has too many items, or too large ones.
        """
        paths = (it.path for it in self._model.resources)
        expect_room_for_item(self.world, paths, item.size)
        self.world.put(items_of(path), key_of(item.parents, item.identifier), item)

    def was_deleted(self, path: str, parents: Sequence[str], identifier: str) -> bool:
        """Tells whether an item existed and was deleted, as far back as the world remembers."""
        key = f"{path} {key_of(parents, identifier)}"
        return self.world.get(DELETED_ITEMS, key) is not None

    def delete(self, resource: Resource, item: Item) -> dict[str, int]:
        """Deletes an item with all that is below it.

        Returns:
            The path of each collection below, and how many items of it were deleted.
        """
        key = key_of(item.parents, item.identifier)
        self.world.remove(items_of(resource.path), key)
        self.world.put(DELETED_ITEMS, f"{resource.path} {key}", True)  # noqa: FBT003 - the record
        if isinstance(resource, ResourceCollection) and resource.is_flat:
            key = key_of((), item.identifier)
            self.world.put(DELETED_ITEMS, f"{resource.path} {key}", True)  # noqa: FBT003 - the record
        deleted: dict[str, int] = {}
        if not isinstance(resource, ResourceCollection):
            return deleted
        parents = (*item.parents, item.identifier)
        for child in self._model.children(resource.path):
            below = self._below(child.path, parents)
            if below:
                deleted[child.path] = len(below)
            for inner in below:
                for path, count in self.delete(child, inner).items():
                    deleted[path] = deleted.get(path, 0) + count
        return deleted

    def _below(self, path: str, parents: Sequence[str]) -> list[Item]:
        above = tuple(parents)
        return [it for it in self.all(path) if it.parents[: len(above)] == above]

    def referring(self, path: str, member: str, identifier: Any) -> int:
        """Returns how many items of a collection have an identifier in a member."""
        return sum(item.body.get(member) == identifier for item in self.all(path))

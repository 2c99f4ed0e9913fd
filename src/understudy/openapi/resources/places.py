"""Groups the operations of a document by the collection that their paths are about."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from understudy.openapi.operations import Operation, path_shape
from understudy.openapi.resources.names import canonical, is_plural, singular

_ITEM: Final = re.compile(r"(?P<collection>.*)/\{[^{}/]*\}(?:\.json)?/?")
"""A path whose last segment is one parameter: it leads to an item of what is above it."""

_ACTION: Final = re.compile(r"(?P<item>.*/\{[^{}/]+\})(?:/|:)(?P<verb>[A-Za-z][\w-]*)(?:\.json)?/?")
"""A path that ends with a word below an item."""

_CREATING: Final = frozenset({"create", "add", "new", "insert"})
_LISTING: Final = frozenset({"list", "all", "search", "query", "find"})


def collection_key(path: str) -> str:
    """Returns a path by which the operations of one collection compare equal.

    Names of parameters, a slash at the end and ``.json`` do not count.
    """
    return path_shape(path).removesuffix("/").removesuffix(".json")


def item_collection(path: str) -> str | None:
    """Returns the key of the collection that a path leads to an item of, or None."""
    match = _ITEM.fullmatch(path)
    return collection_key(match["collection"]) if match and match["collection"] else None


def action_of(path: str) -> tuple[str, str] | None:
    """Returns the key of the item that a path is an action on, and the verb; None for other paths."""
    match = _ACTION.fullmatch(path)
    return (collection_key(match["item"]), match["verb"]) if match else None


@dataclass(slots=True)
class PathGroup:
    """The operations of what may be one collection.

    Attributes:
        key: The path of the collection, as ``collection_key`` has it.
        own: Operations at the path of the collection.
        items: Operations at the path of an item.
        actions: Operations below the path of an item, with their last segment.
        searches: GET operations at paths below the collection, such as ``/pets/findByStatus``.
    """

    key: str
    own: list[Operation] = field(default_factory=list)
    items: list[Operation] = field(default_factory=list)
    actions: list[tuple[str, Operation]] = field(default_factory=list)
    searches: list[Operation] = field(default_factory=list)

    def find(self, method: str) -> Operation | None:
        """Returns the operation of a method at the path of the collection, or None."""
        return next((it for it in self.own if it.method == method), None)

    def find_item(self, method: str) -> Operation | None:
        """Returns the operation of a method at the path of an item, or None."""
        return next((it for it in self.items if it.method == method), None)


def places(operations: Sequence[Operation]) -> dict[str, PathGroup]:
    """Returns every place that has an item path, or that may list and create, by its key."""
    by_key: dict[str, list[Operation]] = {}
    for operation in operations:
        by_key.setdefault(collection_key(operation.path), []).append(operation)
    grouped: dict[str, PathGroup] = {}
    for operation in operations:
        key = item_collection(operation.path)
        if key is not None:
            grouped.setdefault(key, PathGroup(key)).items.append(operation)
    for key, listed in by_key.items():
        methods = {operation.method for operation in listed}
        if {"GET", "POST"} <= methods and not key.endswith("{}"):
            grouped.setdefault(key, PathGroup(key))
    siblings = _Siblings(by_key)
    for place in grouped.values():
        _add_own(place, siblings, grouped)
    _join_flattened(grouped)
    flat = _by_items(grouped)
    for operation in operations:
        _add_action(operation, grouped, flat)
    return grouped


class _Siblings:
    """The operations of a document by their keys, and what stands beside and below each key.

    Documents have tens of thousands of paths, so no place looks through all of them.
    """

    def __init__(self, by_key: dict[str, list[Operation]]) -> None:
        self.by_key = by_key
        self._order = {key: number for number, key in enumerate(by_key)}
        self._below: dict[str, list[str]] = {}
        self._alike: dict[tuple[str, str], list[str]] = {}
        for key in by_key:
            head, _, last = key.rpartition("/")
            self._below.setdefault(head, []).append(key)
            self._alike.setdefault((head, singular(last)), []).append(key)

    def of(self, key: str) -> Iterator[tuple[str, str, list[Operation]]]:
        """Yields head, last segment and operations of the keys alike and below, in their order."""
        head, _, last = key.rpartition("/")
        related = [*self._alike.get((head, singular(last)), ()), *self._below.get(key, ())]
        for other in sorted(related, key=self._order.__getitem__):
            head, _, last = other.rpartition("/")
            yield head, last, self.by_key[other]


def _join_flattened(grouped: dict[str, PathGroup]) -> None:
    """Joins what is created at ``/orders/{id}/items`` with what is read at ``/items/{itemId}``.

    They are joined where nothing else is at ``/items``, and one nested path alone ends with it.
    """
    by_last: dict[str, list[PathGroup]] = {}
    for key, place in grouped.items():
        if key.rpartition("/")[0].endswith("}"):
            by_last.setdefault(key.rpartition("/")[2], []).append(place)
    for key, flat in list(grouped.items()):
        head, _, last = key.rpartition("/")
        below = (
            it
            for it in by_last.get(last, ())
            if it.key in grouped and it.key.startswith(f"{head}/")
        )
        nested = [it for it in below if it.find("POST") is not None and not it.items]
        if flat.items and not flat.own and len(nested) == 1:
            nested[0].items += grouped.pop(key).items


def _add_own(place: PathGroup, siblings: _Siblings, grouped: dict[str, PathGroup]) -> None:
    """Adds what is at the collection's path, and what of it is elsewhere: ``/pet`` and ``/pets``."""
    place.own += siblings.by_key.get(place.key, [])
    above, _, last = place.key.rpartition("/")
    if not last or "{" in last:
        return
    for head, other, operations in siblings.of(place.key):
        is_twin = head == above and other != last and is_plural(other) != is_plural(last)
        if is_twin and f"{head}/{other}" not in grouped:
            place.own += [it for it in operations if place.find(it.method) is None]
        if head == place.key:
            word = canonical(other)
            place.own += [
                it
                for it in operations
                if (it.method == "POST" and word in _CREATING and place.find("POST") is None)
                or (it.method == "GET" and word in _LISTING and place.find("GET") is None)
            ]
            place.searches += [it for it in operations if it.method == "GET" and "{" not in other]


def _by_items(grouped: dict[str, PathGroup]) -> dict[str | None, PathGroup]:
    """Returns the first place of each collection that the path of its items is of."""
    found: dict[str | None, PathGroup] = {}
    for place in grouped.values():
        if place.items:
            found.setdefault(item_collection(place.items[0].path), place)
    return found


def _add_action(
    operation: Operation, grouped: dict[str, PathGroup], flat: dict[str | None, PathGroup]
) -> None:
    if operation.method not in {"POST", "PUT", "PATCH"}:
        return
    action = action_of(operation.path)
    if action is None:
        return
    key = item_collection(action[0])
    place = None if key is None else grouped.get(key) or flat.get(key)
    if place is not None and collection_key(operation.path) not in grouped:
        place.actions.append((action[1], operation))

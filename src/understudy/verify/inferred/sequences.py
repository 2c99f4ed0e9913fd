"""Sends one fixed sequence to each resource: every rule that its operations can show is judged by it.

It is the cheapest judgement, some twenty requests for a collection; the state machine after it looks
for what only another order of requests shows.
"""

from collections.abc import Callable
from typing import Final

from understudy.openapi.resources.model import ResourceCollection, Role
from understudy.verify.inferred.collection_client import CollectionClient
from understudy.verify.inferred.context import InferredRun
from understudy.verify.inferred.items import KnownItem
from understudy.verify.inferred.parents import collection_client
from understudy.verify.permits import NotPermitted

COSTS: Final[dict[Role, int]] = {
    "create": 3,
    "list": 4,
    "read": 4,
    "update": 3,
    "replace": 3,
    "delete": 6,
}
"""Requests that each role adds to the sequence of a collection, roughly."""

_WHOLE: Final = 50
_FEW: Final = 2
_MOST_WALKED: Final = 12
"""Items of the longest list that is read again in pages of two."""


def source_of(path: str) -> str:
    """Returns the sender of the requests to a resource, for reports."""
    return f"inferred state of {path}"


def judge_collection(state: InferredRun, collection: ResourceCollection) -> None:
    """Creates, lists, reads, changes and deletes items of a collection.

    Raises:
        Refusal: The target does not permit it, or the service refused to create items.
    """
    client = collection_client(state, collection, source_of(collection.path))
    roles = {it.role for it in collection.operations}
    first, second, third = (client.create() for _ in range(3))
    if "read" in roles:
        for item in (first, first, second):
            client.read(item)
    if "list" in roles and len(client.list_items(_WHOLE)) <= _MOST_WALKED:
        client.list_items(_FEW)
    if state.other is not None and "read" in roles:
        client.read_as_other(state.other, first)
    _change(client, first, second)
    if "delete" in roles:
        _delete(client, third, (first, second))


def _change(client: CollectionClient, first: KnownItem, second: KnownItem) -> None:
    """Updates one item and replaces another; reads both after each change."""
    roles = {it.role for it in client.requests.collection.operations}
    for role, change, items in (
        ("update", client.update, (first, second)),
        ("replace", client.replace, (second, first)),
    ):
        if role in roles and _is_carried_out(change, items[0]) and "read" in roles:
            for item in items:
                client.read(item)


def _is_carried_out(change: Callable[[KnownItem], bool], item: KnownItem) -> bool:
    """Changes an item, if a valid change of it can be made; tells whether that succeeded."""
    try:
        return change(item)
    except NotPermitted:
        return False


def _delete(client: CollectionClient, item: KnownItem, others: tuple[KnownItem, ...]) -> None:
    """Deletes an item, reads it and the others, lists, and deletes it again."""
    roles = {it.role for it in client.requests.collection.operations}
    if not client.delete(item):
        return
    if "read" in roles:
        for each in (item, *others):
            client.read(each)
    if "list" in roles:
        client.list_items(_WHOLE)
    client.delete(item)

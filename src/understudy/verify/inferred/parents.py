"""Creates the items that others are below or refer to, or takes those that a list has."""

from typing import Any

from understudy.exchange.messages import Exchange
from understudy.openapi.resources.model import ResourceCollection
from understudy.verify.inferred.collection_client import CollectionClient
from understudy.verify.inferred.collection_requests import CollectionRequests
from understudy.verify.inferred.context import InferredRun
from understudy.verify.inferred.items import KnownItem
from understudy.verify.permits import NotPermitted

_DEEPEST = 3
"""Collections that depend on one another: deeper ones are not judged."""


def collection_client(
    state: InferredRun,
    collection: ResourceCollection,
    source: str,
    above: tuple[str, ...] = (),
) -> CollectionClient:
    """Returns a client of a collection, below parents that exist, and with items to refer to.

    Args:
        state: The inferred state of the run.
        collection: The collection.
        source: The sender, for reports.
        above: Paths of the collections that depend on this one.

    Raises:
        NotPermitted: A parent cannot be created.
    """
    if len(above) >= _DEEPEST:
        msg = f"{above[0]} depends on more than {_DEEPEST} other collections"
        raise NotPermitted(msg)
    chain = (*above, collection.path)
    steps: list[Exchange] = []
    parents: list[str] = []
    for number, parent in enumerate(collection.parents):
        target = state.model.collection(parent.collection) if parent.collection else None
        if target is None or target.path in chain:
            operation = collection.operations[0].operation
            parents.append(state.maker.path_text(operation, collection.parents[number].parameter))
        elif parents:
            requests = CollectionRequests(state.maker, target, tuple(parents))
            parents.append(_identifier(CollectionClient(state, requests, source), steps))
        else:
            parents.append(_identifier(collection_client(state, target, source, chain), steps))
    references: dict[str, Any] = {}
    for member, path in collection.references.items():
        target = state.model.collection(path)
        if target is not None and target.path not in chain and not target.parents:
            client = collection_client(state, target, source, chain)
            references[member] = _created(client, steps).value
    left_out = frozenset(collection.references) - references.keys()
    requests = CollectionRequests(state.maker, collection, tuple(parents), references, left_out)
    return CollectionClient(state, requests, source, tuple(steps))


def _identifier(client: CollectionClient, steps: list[Exchange]) -> str:
    """Creates an item, and returns the text that identifies it in a path."""
    return _created(client, steps).identifier


def _created(client: CollectionClient, steps: list[Exchange]) -> KnownItem:
    """Creates an item, and adds the exchanges that it takes."""
    item = client.create()
    steps += [*client.origin, *item.writes]
    return item

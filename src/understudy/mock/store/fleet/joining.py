"""Makes a mock a replica of a fleet."""

from collections.abc import Mapping
from importlib.metadata import version

from understudy.mock.engine.replicated_worlds import ReplicatedWorlds
from understudy.mock.engine.worlds import World
from understudy.mock.settings import Settings
from understudy.mock.store.collections import COLLECTIONS
from understudy.mock.store.fleet.address import store_address
from understudy.mock.store.fleet.shared_store import SharedWorldStore


def joined(
    default: World, url: str, settings: Settings, pinned: Mapping[str, str]
) -> tuple[ReplicatedWorlds, SharedWorldStore]:
    """Joins the fleet of a store; returns the worlds and the store.

    Args:
        default: The world at the plain base address, as it begins.
        url: The URL of the store.
        settings: The settings of the mock.
        pinned: What replicas must have in common, by name.

    Raises:
        StartupError: The store cannot be used, or the replica differs from the others.
    """
    worlds = ReplicatedWorlds(
        default, requires_name=settings.require_world, capacity=settings.journal
    )
    store = SharedWorldStore(
        store_address(url),
        COLLECTIONS,
        worlds,
        pinned,
        version=version("understudy"),
        capacity=settings.journal,
    )
    store.join()
    return worlds, store

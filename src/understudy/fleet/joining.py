"""Makes a mock a replica of a fleet."""

from collections.abc import Mapping
from typing import Final

from understudy.errors import StartupError
from understudy.fleet.connection import StoreRefusal, send_once
from understudy.fleet.membership import StoreAddress, store_address
from understudy.fleet.replicated_worlds import ReplicatedWorlds
from understudy.fleet.shared_store import SharedWorldStore
from understudy.installation import version
from understudy.mock.server.worlds import World
from understudy.mock.settings import Settings
from understudy.mock.store.collections import COLLECTIONS

_KEEPING: Final = "noeviction"
"""The policy of a store that deletes nothing by itself but what is over."""


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
        StartupError: The store cannot be used, it deletes what it should keep, or the replica
            differs from the others.
    """
    address = store_address(url)
    worlds = ReplicatedWorlds(
        default, requires_name=settings.require_world, capacity=settings.journal
    )
    store = SharedWorldStore(
        address,
        COLLECTIONS,
        worlds,
        pinned,
        version=version(),
        capacity=settings.journal,
    )
    store.join()
    _expect_no_eviction(address)
    return worlds, store


def _expect_no_eviction(address: StoreAddress) -> None:
    """Accepts a store that refuses writes where its memory is used up, or does not show what it does.

    Raises:
        StartupError: It deletes keys instead, and worlds with them.
    """
    try:
        about = send_once(address, ("INFO", "memory")).decode()
    except (OSError, StoreRefusal):  # no replica needs the right to ask
        return
    facts = dict(line.partition(":")[::2] for line in about.splitlines())
    policy = facts.get("maxmemory_policy", _KEEPING)
    if policy != _KEEPING:
        msg = (
            f"--state: The store at {address} deletes worlds when its memory is used up "
            f"(maxmemory-policy {policy}); set its maxmemory-policy to {_KEEPING}."
        )
        raise StartupError(msg)

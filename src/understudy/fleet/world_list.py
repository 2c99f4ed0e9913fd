"""Keeps the list of worlds and snapshots as a replica knows it."""

from collections.abc import Awaitable, Callable, Iterable, Sequence

from understudy.fleet.copies import Copies
from understudy.fleet.flat_replies import exercised_counts
from understudy.mock.server.replicated_worlds import ReplicatedWorlds
from understudy.mock.server.worlds import Snapshot


class WorldList:
    """The list of worlds and snapshots.

    Args:
        worlds: The copies of the worlds.
        copies: What is known of them.
        load: Returns a snapshot of the store by its name.

    Attributes:
        tag: Names the commit that the list is up to date with; empty until it is known.
    """

    def __init__(
        self,
        worlds: ReplicatedWorlds,
        copies: Copies,
        load: Callable[[str], Awaitable[Snapshot | None]],
    ) -> None:
        self.tag = b""
        self._worlds = worlds
        self._copies = copies
        self._load = load
        self._numbers: dict[str, int] = {}

    def forget(self) -> None:
        """Forgets everything, as the store is not the one that it was."""
        self.tag = b""
        self._numbers.clear()
        self._worlds.snapshots = {}

    def accepted(self, snapshots: Iterable[str], tag: bytes) -> None:
        """Takes that a request of this replica has changed the list."""
        self.tag = tag
        kept = self._worlds.snapshots
        for name in snapshots:
            self._numbers.pop(name, None)
            if name in kept:  # the newest is the last, as the store lists them
                kept[name] = kept.pop(name)

    async def take(
        self,
        tag: bytes | None,
        worlds: Sequence[bytes],
        snapshots: Sequence[bytes],
        exercised: Sequence[bytes],
    ) -> None:
        """Takes the list of the store.

        Args:
            tag: Names the commit that changed it last.
            worlds: The names of worlds, each followed by its place in the order they were made.
            snapshots: The names of snapshots, each followed by its number.
            exercised: Parts of the contract, each followed by how often deleted worlds used it.

        Raises:
            StoreUnavailable: The store does not respond.
        """
        listed = _numbered(worlds)
        for world in self._worlds.copies():
            if listed.get(world.name) != self._worlds.number(world.name):
                self._copies.forget(world.name)
        for name, number in listed.items():
            if self._worlds.number(name) is None:
                self._worlds.adopt(name, self._worlds.beginning(), number)
        self._worlds.take_ended(exercised_counts(exercised))
        await self._take_snapshots(_numbered(snapshots))
        self.tag = tag or b""

    async def _take_snapshots(self, numbers: dict[str, int]) -> None:
        """Loads the snapshots that are not the ones that are known here."""
        known, snapshots = self._worlds.snapshots, {}
        for name in sorted(numbers, key=numbers.__getitem__):
            is_known = name in known and self._numbers.get(name) == numbers[name]
            snapshot = known[name] if is_known else await self._load(name)
            if snapshot is not None:
                snapshots[name] = snapshot
        self._worlds.snapshots, self._numbers = snapshots, numbers


def _numbered(flat: Sequence[bytes]) -> dict[str, int]:
    return {name.decode(): int(at) for name, at in zip(flat[::2], flat[1::2], strict=True)}

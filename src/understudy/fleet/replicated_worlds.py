"""Keeps the copies that one process has of worlds which several processes share."""

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from operator import itemgetter
from typing import Protocol

from understudy.errors import StoreUnavailable
from understudy.mock.server.journal import CAPACITY, Exercised
from understudy.mock.server.world_selection import Worlds, WorldsPage
from understudy.mock.server.worlds import DEFAULT, Snapshot, World


class ReplicaStore(Protocol):
    """The store of a replica, as its worlds need it."""

    def worlds_used(self, worlds: Iterable[World]) -> None:
        """Takes that a request has used these worlds."""

    async def commit_now(self) -> None:
        """Commits the transaction of the request that is worked on, before its response is known."""

    async def refresh(self, world: World) -> None:
        """Brings the copy of a world up to date, with its journal.

        Raises:
            StoreUnavailable: The store does not respond.
        """


class ReplicatedWorlds(Worlds):
    """The worlds of a replica: copies, some of which have to be loaded before they are used.

    None of them ends by itself here, as only the store knows of the requests to other replicas.

    Attributes:
        uses: The store, which notes what is used and brings copies up to date.
    """

    def __init__(
        self, default: World, *, requires_name: bool = False, capacity: int = CAPACITY
    ) -> None:
        super().__init__(default, requires_name=requires_name, capacity=capacity)
        self.uses: ReplicaStore | None = None
        self._idle: dict[str, timedelta] = {}

    def get(self, name: str) -> World:
        """Returns a world.

        Raises:
            NotFound: It does not exist.
        """
        world = super().get(name)
        self._note_use((world,))
        return world

    def page(self, after: int, limit: int) -> WorldsPage:
        """Returns worlds in the order they were made, as ``Worlds.page`` does."""
        page = super().page(after, limit)
        self._note_use(page.worlds)
        return page

    async def let_go(self) -> None:
        """Commits what the request has read and changed; it changes nothing any more.

        Raises:
            Superseded: A world was not what it was taken for; the request is worked on again.
        """
        if self.uses is not None:
            await self.uses.commit_now()

    async def refresh(self, world: World) -> None:
        """Brings the copy of a world up to date; it stays as it is while the store does not respond."""
        if self.uses is not None:
            with suppress(StoreUnavailable):
                await self.uses.refresh(world)

    async def exercised(self) -> Counter[Exercised]:
        """Returns what was exercised in all worlds."""
        self._note_use(self)
        return await super().exercised()

    def take_ended(self, exercised: Counter[Exercised]) -> None:
        """Takes what was exercised in worlds that were deleted."""
        self._ended = exercised

    def idle(self, world: World) -> timedelta | None:
        """Returns how long a world lives without a request; None: until it is deleted."""
        return self._idle.get(world.name)

    def keep_idle(self, name: str, idle: timedelta | None) -> None:
        """Notes how long a world lives without a request."""
        self._idle.pop(name, None)
        if idle is not None:
            self._idle[name] = idle

    def adopt(self, name: str, beginning: Snapshot, number: int) -> World:
        """Returns a new copy of a world; an older one of that name has ended."""
        self.forget(name)
        world = self.default.sibling(name, self._capacity)
        world.store = self.store
        self._add(world, beginning, number)
        return world

    def renumber(self, name: str, number: int) -> None:
        """Takes the place in the order that the store has given a world."""
        world = self._worlds[name]
        self._in_order.remove((self._numbers[name], world))
        self._numbers[name] = number
        insort(self._in_order, (number, world), key=itemgetter(0))

    def number(self, name: str) -> int | None:
        """Returns the place of a world in the order they were made; None where it is not known."""
        return self._numbers.get(name)

    def forget(self, name: str) -> None:
        """Forgets the copy of a world that has ended."""
        world = self._worlds.get(name)
        if world is not None and name != DEFAULT:
            self._forget(world)
            self._idle.pop(name, None)

    def forget_all(self) -> None:
        """Forgets every copy, as these worlds have ended; generated names begin anew."""
        for world in self.copies():
            self.forget(world.name)
        self._count = 0

    def copies(self) -> Iterator[World]:
        """Yields every world that is known here, without noting its use."""
        yield from tuple(self._worlds.values())

    def copied(self, name: str) -> World | None:
        """Returns the copy of a world, or None, without noting its use."""
        return self._worlds.get(name)

    def _end(self, world: World) -> None:
        """Deletes a world; its copy is forgotten once the store has deleted it."""
        if self.store is not None:
            self.store.world_removed(world)

    def _free_name(self) -> str:
        """Returns a name that is free; the same one again until a world has it."""
        while f"w{self._count + 1}" in self._worlds:
            self._count += 1
        return f"w{self._count + 1}"

    def _begin_life(self, name: str, idle: timedelta) -> None:
        self.keep_idle(name, idle)

    def _note_use(self, worlds: Iterable[World]) -> None:
        if self.uses is not None:
            self.uses.worlds_used(worlds)

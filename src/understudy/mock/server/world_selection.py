"""The worlds of one mock, their lifetimes, and the lookup of the world that a request selects."""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice, takewhile
from operator import attrgetter
from typing import NamedTuple

from understudy.errors import BadRequest, Conflict, MockRefusal, NotFound, nearest
from understudy.limits import SNAPSHOTS, WORLDS
from understudy.mock.server.clock import machine_time
from understudy.mock.server.hosts import PRIVATE_PATHS
from understudy.mock.server.journal import CAPACITY, Exercised
from understudy.mock.server.worlds import (
    COOKIE,
    DEFAULT,
    PREFIX,
    Baseline,
    Snapshot,
    World,
    WorldSelection,
    WorldStore,
    is_world_name,
)

_ENDED_AT_ONCE = 100
"""Expired worlds that one request deletes at most, so that it need not delete thousands."""


class Lifetimes:
    """The idle timeouts of the worlds that expire.

    Worlds with the same timeout are ordered by their last requests, so that the expired ones are found
    without a look at all worlds.
    """

    def __init__(self) -> None:
        self._idle: dict[str, timedelta] = {}
        self._touched: dict[timedelta, OrderedDict[str, datetime]] = {}

    def begin(self, name: str, idle: timedelta, now: datetime) -> None:
        """Starts the idle timeout of a world."""
        self._idle[name] = idle
        self._touched.setdefault(idle, OrderedDict())[name] = now

    def __contains__(self, name: str) -> bool:
        """Tells whether a world has an idle timeout."""
        return name in self._idle

    def touch(self, name: str, now: datetime) -> None:
        """Restarts the idle timeout of a world, after a request."""
        touched = self._touched[self._idle[name]]
        touched[name] = now
        touched.move_to_end(name)

    def end(self, name: str) -> None:
        """Removes the idle timeout of a world, if it has one."""
        idle = self._idle.pop(name, None)
        if idle is not None:
            del self._touched[idle][name]
            if not self._touched[idle]:
                del self._touched[idle]

    def is_over(self, name: str, now: datetime) -> bool:
        """Tells whether a world has expired."""
        idle = self._idle.get(name)
        return idle is not None and now - self._touched[idle][name] >= idle

    def over(self, now: datetime) -> list[str]:
        """Returns the names of expired worlds, a hundred at most."""
        return list(islice(self._over(now), _ENDED_AT_ONCE))

    def _over(self, now: datetime) -> Iterator[str]:
        for touched in self._touched.values():
            yield from takewhile(lambda name: self.is_over(name, now), touched)


_SUMMED_AT_ONCE = 1000
"""Worlds whose journals are summed up before the event loop serves other requests."""


class WorldsPage(NamedTuple):
    """A page of worlds, in the order of their creation.

    Attributes:
        worlds: Worlds of the page.
        last: Number of the last world, after which the next page begins; None on the last page.
    """

    worlds: Sequence[World]
    last: int | None


class Worlds:
    """The worlds of one mock.

    Args:
        default: World at the base URL without a prefix; it is never deleted.
        requires_name: Whether every request must name its world.
        capacity: Number of exchanges that the journal of a new world keeps.

    Attributes:
        snapshots: Name to snapshot.
        started: Machine's time at the start of the mock, by which clients notice a restart.
        open_streams: Number of open event streams of the admin API.
        store: Persists the worlds; None: they are in memory only.
    """

    def __init__(
        self, default: World, *, requires_name: bool = False, capacity: int = CAPACITY
    ) -> None:
        self.default = default
        self.store: WorldStore | None = None
        self.started = machine_time()
        self.open_streams = 0
        self.capacity = capacity
        self.snapshots: dict[str, Snapshot] = {}
        default.beginning = default.snapshot()  # with the stubs that were loaded since it was made
        self._is_named = requires_name
        self._worlds = {default.name: default}
        self._lifetimes = Lifetimes()
        self._count = 0
        self._ended: Counter[Exercised] = Counter()

    def of(self, selected: WorldSelection) -> World:
        """Returns the world that a request selects.

        Raises:
            MockRefusal: The request names a world that does not exist, or must name one and does not.
        """
        name, path, is_certain = selected
        if name is None or not (is_certain or name in self._worlds):
            if self._is_named and not path.startswith(PRIVATE_PATHS):
                msg = (
                    "This mock requires every request to name its world: by the base address "
                    f"{PREFIX}NAME, the header X-Mock-World or the cookie {COOKIE}."
                )
                raise MockRefusal(400, "No world is named", msg)
            return self.default
        try:
            world = self.get(name)
        except NotFound as absent:
            raise MockRefusal(404, "No such world", absent.message) from absent
        if name in self._lifetimes:
            self._lifetimes.touch(name, machine_time())
        return world

    def get(self, name: str) -> World:
        """Returns a world by its name.

        Raises:
            NotFound: The world does not exist, or has expired.
        """
        if name in self._lifetimes and self._lifetimes.is_over(name, machine_time()):
            self._end(self._worlds[name])
        world = self._worlds.get(name)
        if world is None:
            hint = nearest(name, list(self._worlds)) or "."
            msg = f"There is no world {name!r}{hint} POST /__admin/worlds makes one."
            raise NotFound(msg)
        return world

    def find(self, name: str) -> World | None:
        """Returns a world by its name, even an expired one; None if absent."""
        return self._worlds.get(name)

    def __iter__(self) -> Iterator[World]:
        """Yields every world, the default one first."""
        return self._lasting(tuple(self._worlds.values()))

    def __len__(self) -> int:
        """Returns the number of worlds, including expired ones that are not yet deleted."""
        return len(self._worlds)

    def page(self, after: int, limit: int) -> WorldsPage:
        """Returns a page of worlds in the order of their creation, the default one first.

        Args:
            after: Number of the last world of the page before; -1 for the first page.
            limit: Number of worlds on a page.
        """
        self._end_idle()
        later = (world for world in self._worlds.values() if world.number > after)
        listed = sorted(later, key=attrgetter("number"))
        page = listed[:limit]
        return WorldsPage(list(self._lasting(page)), page[-1].number if listed[limit:] else None)

    def _lasting(self, worlds: Iterable[World]) -> Iterator[World]:
        now = machine_time()
        return (world for world in worlds if not self._lifetimes.is_over(world.name, now))

    def create(
        self,
        name: str | None,
        snapshot: Snapshot,
        *,
        idle: timedelta | None = None,
    ) -> World:
        """Creates a world.

        Args:
            name: Name of the world; None: generate one.
            snapshot: Initial state.
            idle: Time without a request after which the world expires; None: never.

        Raises:
            BadRequest: The name cannot be part of a URL.
            Conflict: A world of that name exists.
        """
        self._end_idle()
        WORLDS.check(len(self._worlds) + 1)
        if name is None:
            name = self._free_name()
        if not is_world_name(name):
            msg = f"name: {name!r} cannot be a world's; use up to 40 of a-z, 0-9 and -."
            raise BadRequest(msg)
        if name in self._worlds:
            msg = f"name: there is a world {name!r} already; choose another, or delete it."
            raise Conflict(msg)
        world = self.default.sibling(name, self.capacity)
        world.become(snapshot)
        world.history.restart(world.identifiers.count, world.settings, 0)
        world.beginning, world.idle = snapshot, idle
        # a shared store gives another number when it has the world
        world.number = next(reversed(self._worlds.values())).number + 1
        self._worlds[name] = world
        if idle is not None:
            self._begin_life(name, idle)
        if self.store is not None:
            world.store = self.store
            self.store.world_created(world)
        return world

    def _begin_life(self, name: str, idle: timedelta) -> None:
        self._lifetimes.begin(name, idle, machine_time())  # replicas override this

    def _free_name(self) -> str:
        while True:
            self._count += 1
            if f"w{self._count}" not in self._worlds:
                return f"w{self._count}"

    def remove(self, name: str) -> None:
        """Deletes a world.

        Raises:
            NotFound: The world does not exist.
            BadRequest: The default world cannot be deleted.
        """
        world = self.get(name)
        if world.name == DEFAULT:
            msg = "The default world cannot be deleted; POST /__admin/reset makes it new."
            raise BadRequest(msg)
        self._end(world)

    def refit(self, before: Baseline, after: Baseline) -> None:
        """Replaces the fixtures in every world and initial state that is based on the old ones."""
        for world in self._worlds.values():
            if world.baseline is before:
                world.baseline = after
            if world.beginning.baseline is before:
                world.beginning = world.beginning._replace(baseline=after)
        if self.store is not None:
            self.store.baseline_replaced(after)

    def keep_snapshot(self, name: str, snapshot: Snapshot) -> None:
        """Saves a snapshot under a name, and replaces an older one of that name."""
        if name not in self.snapshots:
            SNAPSHOTS.check(len(self.snapshots) + 1)
        self.snapshots[name] = snapshot
        if self.store is not None:
            self.store.snapshot_changed(name, snapshot)

    def drop_snapshot(self, name: str) -> None:
        """Deletes a snapshot.

        Raises:
            NotFound: No snapshot has this name.
        """
        self.snapshot(name)
        del self.snapshots[name]
        if self.store is not None:
            self.store.snapshot_changed(name, None)

    def snapshot(self, name: str) -> Snapshot:
        """Returns a snapshot by its name.

        Raises:
            NotFound: No snapshot has this name.
        """
        snapshot = self.snapshots.get(name)
        if snapshot is None:
            hint = nearest(name, list(self.snapshots)) or "."
            msg = f"There is no snapshot {name!r}{hint} POST /__admin/snapshots makes one."
            raise NotFound(msg)
        return snapshot

    async def let_go(self) -> None:
        """Unlocks the worlds of the current request; does nothing here, without a shared store."""

    async def refresh(self, world: World) -> None:
        """Loads changes by other processes; does nothing here, without a shared store."""

    async def exercised(self) -> Counter[Exercised]:
        """Returns how often each part of the contract was used, in all worlds and deleted ones.

        The event loop serves other requests in between, as there may be thousands of worlds.
        """
        seen = self._ended.copy()
        for number, world in enumerate(self):
            if number % _SUMMED_AT_ONCE == 0:
                await asyncio.sleep(0)
            seen.update(world.journal.exercised)
        return seen

    def _end_idle(self) -> None:
        """Deletes expired worlds, a hundred at most."""
        for name in self._lifetimes.over(machine_time()):
            self._end(self._worlds[name])

    def _end(self, world: World) -> None:
        self._ended += world.journal.exercised
        self._forget(world)
        if world.store is not None:
            world.store.world_removed(world)

    def _forget(self, world: World) -> None:
        world.is_ended = True
        del self._worlds[world.name]
        self._lifetimes.end(world.name)

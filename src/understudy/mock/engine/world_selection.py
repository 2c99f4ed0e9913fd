"""Keeps the worlds of one mock, and determines which one a request selects.

A world's own base address is enough for a client that can be configured. A header, a cookie or a
token that was minted in the world do for those that cannot, such as an unmodified page.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple

from understudy.errors import BadRequest, Conflict, MockRefusal, NotFound, nearest
from understudy.limits import SNAPSHOTS, WORLDS
from understudy.mock.engine.clock import machine_time
from understudy.mock.engine.journal import CAPACITY, Exercised
from understudy.mock.engine.worlds import (
    DEFAULT,
    MARK,
    PREFIX,
    Baseline,
    Snapshot,
    World,
    WorldStore,
)

HEADER = b"x-mock-world"
COOKIE = "mock_world"

_SWEEPING = timedelta(seconds=1)
"""The least time between two searches for expired worlds: there may be thousands."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


class WorldSelection(NamedTuple):
    """The world that a request selects.

    Attributes:
        name: The name of the world; None: the request names none.
        path: The path without the prefix of the world.
        is_certain: Whether it names a world beyond doubt; a token may only look like a world's.
    """

    name: str | None
    path: str
    is_certain: bool = True


def selection(path: str, headers: Mapping[bytes, bytes]) -> WorldSelection:
    """Returns the world that a request names: in its path, else a header, a cookie or a token."""
    if path.startswith(PREFIX):
        name, slash, rest = path.removeprefix(PREFIX).partition("/")
        return WorldSelection(name, slash + rest or "/")
    named = headers.get(HEADER)
    if named is not None:
        return WorldSelection(named.decode("latin-1").strip(), path)
    cookie = headers.get(b"cookie")
    if cookie is not None and COOKIE.encode() in cookie:
        return WorldSelection(_cookie(cookie.decode("latin-1")), path)
    authorization = headers.get(b"authorization", b"")
    if MARK.encode() in authorization:
        return WorldSelection(_minted(authorization.decode("latin-1")), path, is_certain=False)
    return WorldSelection(None, path)


def _cookie(text: str) -> str | None:
    try:
        cookie = SimpleCookie(text).get(COOKIE)
    except CookieError:
        return None
    return cookie.value if cookie else None


def _minted(authorization: str) -> str | None:
    name = authorization.rpartition(" ")[2].partition(MARK)[0]
    return name if _NAME.fullmatch(name) else None


class _Lifetime(NamedTuple):
    """The lifetime of a world without a request, and the time of its last request."""

    idle: timedelta | None
    touched: datetime

    def is_over(self, now: datetime) -> bool:
        """Tells whether its last request was too long ago."""
        return self.idle is not None and now >= self.touched + self.idle


class Worlds:
    """The worlds of one mock.

    Args:
        default: The world at the plain base address; it is never deleted.
        requires_name: Whether every request must name its world.
        capacity: Exchanges that the journal of a new world remembers.

    Attributes:
        snapshots: Name to snapshot.
        store: Persists the worlds; None: they are in memory only.
    """

    def __init__(
        self, default: World, *, requires_name: bool = False, capacity: int = CAPACITY
    ) -> None:
        self.default = default
        self.store: WorldStore | None = None
        self._capacity = capacity
        self.snapshots: dict[str, Snapshot] = {}
        self._beginnings = {default.name: default.snapshot()}
        self._is_named = requires_name
        self._worlds = {default.name: default}
        self._lifetimes: dict[str, _Lifetime] = {}
        self._count = 0
        self._swept = machine_time()
        self._ended: Counter[Exercised] = Counter()

    def of(self, path: str, headers: Mapping[bytes, bytes]) -> tuple[World, str]:
        """Returns the world that a request selects, and its path there.

        Raises:
            MockRefusal: It names a world that does not exist, or none where it must.
        """
        name, rest, is_certain = selection(path, headers)
        if name is None or not (is_certain or name in self._worlds):
            if self._is_named and not rest.startswith("/__admin"):
                msg = (
                    "This mock wants every request to name its world: by the base address "
                    f"{PREFIX}NAME, the header X-Mock-World or the cookie {COOKIE}."
                )
                raise MockRefusal(400, "No world is named", msg)
            return self.default, rest
        try:
            world = self.get(name)
        except NotFound as absent:
            raise MockRefusal(404, "No such world", absent.message) from absent
        if name in self._lifetimes:
            self._lifetimes[name] = self._lifetimes[name]._replace(touched=machine_time())
        return world, rest

    def get(self, name: str) -> World:
        """Returns a world.

        Raises:
            NotFound: It does not exist.
        """
        if name in self._lifetimes and self._lifetimes[name].is_over(machine_time()):
            self._end(self._worlds[name])
        world = self._worlds.get(name)
        if world is None:
            hint = nearest(name, list(self._worlds)) or "."
            msg = f"There is no world {name!r}{hint} POST /__admin/worlds makes one."
            raise NotFound(msg)
        return world

    def __contains__(self, name: str) -> bool:
        """Tells whether there is a world of this name."""
        return name in self._worlds

    def __iter__(self) -> Iterator[World]:
        """Yields every world, the default one first."""
        self._sweep()
        return iter(tuple(self._worlds.values()))

    def create(
        self,
        name: str | None,
        snapshot: Snapshot,
        *,
        idle: timedelta | None = None,
    ) -> World:
        """Creates a world.

        Args:
            name: Its name; None: one is generated.
            snapshot: Its initial state.
            idle: How long it lives without a request; None: until it is deleted.

        Raises:
            BadRequest: The name cannot be part of a URL.
            Conflict: There is a world of that name.
        """
        if machine_time() >= self._swept + _SWEEPING:
            self._sweep()
        WORLDS.check(len(self._worlds) + 1)
        if name is None:
            name = self._free_name()
        if not _NAME.fullmatch(name):
            msg = f"name: {name!r} cannot be a world's; use up to 40 of a-z, 0-9 and -."
            raise BadRequest(msg)
        if name in self._worlds:
            msg = f"name: there is a world {name!r} already; choose another, or delete it."
            raise Conflict(msg)
        world = self.default.sibling(name, self._capacity)
        world.become(snapshot)
        self._worlds[name] = world
        self._beginnings[name] = snapshot
        self._lifetimes[name] = _Lifetime(idle, machine_time())
        if self.store is not None:
            world.store = self.store
            self.store.world_created(world, snapshot, idle)
        return world

    def _free_name(self) -> str:
        while True:
            self._count += 1
            if f"w{self._count}" not in self._worlds:
                return f"w{self._count}"

    def remove(self, name: str) -> None:
        """Deletes a world.

        Raises:
            NotFound: It does not exist.
            BadRequest: It is the default one, which cannot be deleted.
        """
        world = self.get(name)
        if world.name == DEFAULT:
            msg = "The default world cannot be deleted; POST /__admin/reset makes it new."
            raise BadRequest(msg)
        self._end(world)

    def beginning(self, name: str = DEFAULT) -> Snapshot:
        """Returns the initial state of a world; that of the default one is the fixtures."""
        return self._beginnings[name]

    def refit(self, before: Baseline, after: Baseline) -> None:
        """Replaces the fixtures under every world that was built on them."""
        for world in self._worlds.values():
            if world.baseline is before:
                world.baseline = after
        for name, start in self._beginnings.items():
            if start.baseline is before:
                self._beginnings[name] = start._replace(baseline=after)
        if self.store is not None:
            self.store.baseline_replaced(after)

    def keep_snapshot(self, name: str, snapshot: Snapshot) -> None:
        """Saves a snapshot under a name; an older one is replaced."""
        if name not in self.snapshots:
            SNAPSHOTS.check(len(self.snapshots) + 1)
        self.snapshots[name] = snapshot
        if self.store is not None:
            self.store.snapshot_changed(name, snapshot)

    def drop_snapshot(self, name: str) -> None:
        """Deletes a snapshot.

        Raises:
            NotFound: No such name.
        """
        self.snapshot(name)
        del self.snapshots[name]
        if self.store is not None:
            self.store.snapshot_changed(name, None)

    def snapshot(self, name: str) -> Snapshot:
        """Returns a snapshot.

        Raises:
            NotFound: No such name.
        """
        snapshot = self.snapshots.get(name)
        if snapshot is None:
            hint = nearest(name, list(self.snapshots)) or "."
            msg = f"There is no snapshot {name!r}{hint} POST /__admin/snapshots makes one."
            raise NotFound(msg)
        return snapshot

    def exercised(self) -> Counter[Exercised]:
        """Returns what was exercised in all worlds, deleted ones included."""
        return sum((world.journal.exercised for world in self), self._ended.copy())

    def idle(self, world: World) -> timedelta | None:
        """Returns how long a world lives without a request; None: until it is deleted."""
        lifetime = self._lifetimes.get(world.name)
        return lifetime.idle if lifetime else None

    def _sweep(self) -> None:
        """Deletes the worlds whose last request was too long ago."""
        self._swept = machine_time()
        for name, lifetime in tuple(self._lifetimes.items()):
            if lifetime.is_over(self._swept):
                self._end(self._worlds[name])

    def _end(self, world: World) -> None:
        self._ended += world.journal.exercised
        world.is_ended = True
        del self._worlds[world.name]
        del self._lifetimes[world.name]
        del self._beginnings[world.name]
        if world.store is not None:
            world.store.world_removed(world)

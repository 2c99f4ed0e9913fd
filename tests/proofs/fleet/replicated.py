"""A mock that is three replicas on a real store, behind a proxy that sends each request to another one.

It stands where tests have a mock of one process. Every replica is whole: it has copies of the worlds
and a connection of its own, and what it knows of the others came through the store. Tests that look
into the mock's world see that of a fourth one, which serves nothing.
"""

import atexit
import weakref
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from itertools import count, cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, cast

import httpx
from starlette.types import Scope
from tests.house.documentation import ROOT
from tests.leftovers import kept_for_the_run
from tests.proofs.fleet.round_robin import LoopThread, RoundRobin
from tests.store_server import store_server

from understudy.cli.mock_edge_cases import MockEdgeCases
from understudy.fleet.connection import send_once
from understudy.fleet.copies import ReplicatedWorlds
from understudy.fleet.shared_store import SharedWorldStore
from understudy.mock.admin.context import EdgeCaseSource
from understudy.mock.app import Mock
from understudy.mock.server.clock import Clock
from understudy.mock.server.journaling import RequestListener
from understudy.mock.server.request_context import (
    HERE,
    Addresses,
    Peer,
    RequestContext,
    RequestHead,
)
from understudy.mock.server.transactions import Superseded
from understudy.mock.server.worlds import DEFAULT, World
from understudy.mock.settings import Settings
from understudy.store_address import StoreAddress

REPLICAS = 3

_DATABASES = 4096
"""Databases of the store: one for each mock that a run of tests makes."""

_STEERING: Scope = {
    "type": "http",
    "http_version": "1.1",
    "method": "PUT",
    "scheme": "http",
    "path": "/__admin/tests",
    "query_string": b"",
    "headers": [(b"host", b"127.0.0.1")],
    "client": ("127.0.0.1", 50_000),
}
"""Stands for the request with which a test changes the world."""

LOGIN = "understudy:a-password"
"""The user of the example in the guide, which replicas sign in as: it has to have all rights they need."""

Result = TypeVar("Result")


def acl_example() -> str:
    """Returns the command of the guide that makes the user."""
    page = (ROOT / "docs" / "how-to" / "fleet.md").read_text()
    (shown,) = (line for line in page.splitlines() if line.startswith("ACL SETUSER"))
    return shown


class _Environment:
    """What all mocks of this process share: the server of their stores, and the loop of replicas."""

    def __init__(self) -> None:
        with ExitStack() as stack:
            directory = stack.enter_context(TemporaryDirectory(prefix="fleet-"))
            options = ("--databases", str(_DATABASES))
            self._server = stack.enter_context(store_server(Path(directory), *options))
            self._server.send(*acl_example().split())
            self.replicas = LoopThread()
            stack.callback(self.replicas.close)
            atexit.register(stack.pop_all().close)
        self._numbers = count()

    def database(self) -> StoreAddress:
        """Returns an empty database of the server."""
        number = next(self._numbers) % _DATABASES
        address = StoreAddress("valkey", "127.0.0.1", self._server.port, number)
        send_once(address, ("FLUSHDB",))
        return address


@cache
def _environment() -> _Environment:
    with kept_for_the_run():
        return _Environment()


def shared_database() -> StoreAddress:
    """Returns an empty database of the server of this process; its user is ``LOGIN``."""
    return _environment().database()


class ReplicatedMock:
    """Replicas of one mock, in place of it.

    Args:
        settings: Those of the mock; one that has a state already, or reloads, is made as it is.
        record: As of ``Mock``.
        addresses: As of ``Mock``.

    Attributes:
        replicas: The mocks that serve, each with its own copies.
        resource: Serves the resource API's address by another one of them each time.
        authorization: Serves the authorization server's address likewise.
        world: The default world, as a mock sees it that serves nothing.
    """

    def __new__(cls, settings: Settings, *_others: Any, **_more: Any) -> Any:
        """Makes a mock of one process where several could not share what it keeps."""
        if settings.state is not None or settings.reload:
            return Mock(settings, *_others, **_more)
        return super().__new__(cls)

    def __init__(
        self,
        settings: Settings,
        record: RequestListener | None = None,
        addresses: Addresses = HERE,
    ) -> None:
        environment = _environment()
        self._address = shared_database()
        login = f"valkey://{LOGIN}@127.0.0.1:{self._address.port}/{self._address.database}"
        shared = replace(settings, state=login)
        self._thread = environment.replicas
        self.replicas = tuple(Mock(shared, record, addresses) for _ in range(REPLICAS))
        self._observer = Mock(shared, None, addresses)
        turns = cycle(self.replicas)
        self.resource = RoundRobin(self._thread, lambda: next(turns).resource)
        self.authorization = RoundRobin(self._thread, lambda: next(turns).authorization)
        self.world = ObservedWorld(self, self._observer.world)
        everyone = (*self.replicas, self._observer)
        weakref.finalize(self, abandon, self._thread, everyone)

    def __getattr__(self, name: str) -> Any:
        """Returns what is the same of every replica, such as its document."""
        return getattr(self._observer, name)

    @property
    def edge_cases(self) -> EdgeCaseSource | None:
        """Makes the edge cases that a replica offers, and sends them to this replica."""
        return self.replicas[0].edge_cases

    @edge_cases.setter
    def edge_cases(self, source: MockEdgeCases | None) -> None:
        for mock in self.replicas:
            mock.edge_cases = source and MockEdgeCases(mock, source._document)

    async def close(self) -> None:
        """Lets go of the connections to the store."""
        _close(self._thread, (*self.replicas, self._observer))

    def renew(self, clock: Clock | None) -> "ReplicatedMock":
        """Empties the store, so that all worlds begin anew, and returns this."""
        send_once(self._address, ("FLUSHDB",))
        self.refresh()  # joins again; the replicas do so at their next requests
        self.take_clock(clock or Clock())
        return self

    def take_clock(self, clock: Clock) -> None:
        """Has every replica go by the machine's time as this clock reads it."""
        for mock in (*self.replicas, self._observer):
            mock.world.clock = clock.copy()
        if clock.setting is not None:
            self.changed(partial(setattr, self._observer.world.clock, "setting", clock.setting))

    @property
    def worlds(self) -> Any:
        """All worlds, as the one that serves nothing sees them after it has listed them."""
        self._thread.run(self._list_worlds())
        return self._observer.worlds

    async def _list_worlds(self) -> None:
        transport = httpx.ASGITransport(self._observer.resource)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as session:
            await session.get("/__admin/worlds?limit=500")
        worlds = self._observer.worlds
        assert isinstance(worlds, ReplicatedWorlds)
        for world in worlds.copies():
            await worlds.refresh(world)

    def refresh(self) -> None:
        """Brings the world of the one that serves nothing up to date."""
        self._thread.run(self._observer.worlds.refresh(self._observer.world))

    def changed(self, change: Callable[[], Result]) -> Result:
        """Carries out a change of the world as one request does, and returns what comes of it."""
        return self._thread.run(self._changed(change))

    async def _changed(self, change: Callable[[], Result]) -> Result:
        world, store = self._observer.world, self._observer._store
        assert isinstance(store, SharedWorldStore)
        while True:
            await store.refresh(world)
            context = RequestContext.of(RequestHead.of(_STEERING), Peer.of(_STEERING), world)
            transaction = await store.begin(frozenset({DEFAULT}))
            try:
                result = change()
                transaction.add(context)
                await transaction.commit()
            except Superseded as reason:
                if reason.problem is not None:
                    raise reason.problem from None
            else:
                return result
            finally:
                transaction.end()


def replicated(settings: Settings, addresses: Addresses = HERE) -> Mock:
    """Returns replicas, for what takes a mock."""
    return cast("Mock", ReplicatedMock(settings, addresses=addresses))


def abandon(thread: LoopThread, mocks: Sequence[Mock]) -> None:
    """Closes mocks without waiting for it, as garbage is collected in the thread that closes them, too."""
    for mock in mocks:
        if thread.loop.is_running():
            thread.begin(mock.close())


def _close(thread: LoopThread, mocks: Sequence[Mock]) -> None:
    for mock in mocks:
        if thread.loop.is_running():
            thread.run(mock.close())


class ObservedWorld:
    """The default world of a fleet: what is read of it is up to date, what is called is committed.

    Args:
        fleet: The fleet.
        world: The copy of the one that serves nothing.
    """

    def __init__(self, fleet: ReplicatedMock, world: World) -> None:
        vars(self).update(_fleet=weakref.proxy(fleet), _world=world)

    def __getattr__(self, name: str) -> Any:
        """Returns an attribute of the world; a method is committed as a request is."""
        self._fleet.refresh()
        if name == "clock":
            return ObservedClock(self._fleet, self._world.clock)
        value = getattr(self._world, name)
        return _committed(self._fleet, value) if callable(value) else value

    def __setattr__(self, name: str, value: Any) -> None:
        """Changes an attribute of the world; a clock becomes that of every replica."""
        if name == "clock":
            self._fleet.take_clock(value)
        else:
            self._fleet.changed(partial(setattr, self._world, name, value))


class ObservedClock:
    """The clock of a fleet's default world."""

    def __init__(self, fleet: ReplicatedMock, clock: Clock) -> None:
        self._fleet = fleet
        self._clock = clock

    def now(self) -> Any:
        """Returns the world's time."""
        self._fleet.refresh()
        return self._clock.now()

    def __getattr__(self, name: str) -> Any:
        """Returns an attribute of the clock; a method is committed as a request is."""
        self._fleet.refresh()
        value = getattr(self._clock, name)
        return _committed(self._fleet, value) if callable(value) else value


def _committed(fleet: ReplicatedMock, method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *words, **options: fleet.changed(partial(method, *words, **options))

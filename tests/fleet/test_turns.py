"""Replicas take turns at a world that several of them change at once."""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from tests.direct_transport import DirectTransport
from tests.mock.admin.conftest import SITE, Driver
from tests.patient import PATIENCE
from tests.store_server import StoreServer

from understudy.fleet import link, shared_store
from understudy.fleet.connection import COMMIT, Script
from understudy.fleet.link import Turns
from understudy.fleet.shared_store import SharedWorldStore
from understudy.mock.app import Mock

Replicas = tuple[Driver, Driver]
PROFILE = f"{SITE}/v3/me/profile"
TURN, WAITING = "understudy:turn:default", "understudy:turns:default"


async def edited(mock: Mock, **changes: str) -> httpx.Response:
    async with httpx.AsyncClient(transport=DirectTransport(mock.resource)) as session:
        return await session.patch(
            PROFILE, json=changes, headers={"Authorization": "Bearer ada-full"}
        )


class Race:
    """Two replicas that edit one profile: the second one is first, and comes again meanwhile.

    Attributes:
        replies: What the store replied with to the commits, with the replica's place.
        again: The second edit of the second replica.
        leaves: Whether the second replica loses its connection while it waits for its turn.
    """

    def __init__(self, mocks: tuple[Mock, ...]) -> None:
        self.replies: list[tuple[int, str]] = []
        self.again: asyncio.Task[httpx.Response] | None = None
        self.leaves = False
        self.waits = asyncio.Event()
        self._mocks = mocks
        self._stores = [mock._store for mock in mocks]
        self._commits = 0

    async def before(self, place: int) -> None:
        """Has the second replica commit something before a commit of the first one."""
        if place == 1:
            return
        self._commits += 1
        if self._commits == 1:
            await edited(self._mocks[1], company="There")
        elif self._commits == 2:
            self.again = asyncio.create_task(edited(self._mocks[1], pronouns="they"))
            await self.waits.wait()
            if self.leaves:
                await self._mocks[1].close()

    async def run(self, place: int, store: SharedWorldStore, message: Mapping[str, Any]) -> Any:
        """Commits; notes the reply."""
        await self.before(place)
        reply = await run(store, message)
        self.replies.append((place, reply[0].decode()))
        if self.replies[-1] == (1, "waiting"):
            self.waits.set()
        return reply

    def place(self, store: SharedWorldStore) -> int:
        """Returns which of the replicas has this store."""
        return self._stores.index(store)

    async def lead(self, server: StoreServer) -> list[httpx.Response]:
        """Begins with the edit of the first replica; returns the last responses of both.

        It is over when no replica has a turn, or waits for one.
        """
        first = await edited(self._mocks[0], location="Here")
        assert self.again is not None
        both = [first, await self.again]
        async with asyncio.timeout(PATIENCE):
            while server.send("EXISTS", TURN, WAITING):
                await asyncio.sleep(0.001)
        for mock in self._mocks:
            await mock.close()
        return both


run = SharedWorldStore.run


@pytest.fixture
def race(replicas: Replicas, monkeypatch: pytest.MonkeyPatch) -> Race:
    for driver in replicas[::-1]:
        driver.get("/v3/profiles/ada")
        driver.end_store()
    race = Race(tuple(driver.mock for driver in replicas))

    async def noted(self: SharedWorldStore, message: Mapping[str, Any]) -> Any:
        if not message["changes"]:
            return await run(self, message)
        return await race.run(race.place(self), self, message)

    monkeypatch.setattr(SharedWorldStore, "run", noted)
    text = COMMIT.text.replace("= 50, 1000 --", "= 60000, 60000 --")
    assert text != COMMIT.text  # so that no turn ends by itself, however slow the machine is
    monkeypatch.setattr(shared_store, "COMMIT", Script(text, "0" * 40))
    return race


def test_a_replica_whose_commit_was_refused_has_its_turn_before_others(
    race: Race, replicas: Replicas, server: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "_PATIENCE", 60)
    responses = asyncio.run(race.lead(server))
    assert [response.status_code for response in responses] == [200, 200]
    assert race.replies == [(1, "done"), (0, "stale"), (1, "waiting"), (0, "done"), (1, "done")]
    profile = replicas[0].get("/v3/me/profile", token="ada-full").json()
    assert (profile["location"], profile["company"]) == ("Here", "There")
    assert profile["pronouns"] == "they"


def test_a_replica_that_is_gone_is_passed_over(
    race: Race, server: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "_PATIENCE", 0.01)
    race.leaves = True
    responses = asyncio.run(race.lead(server))
    assert [response.status_code for response in responses] == [200, 200]


def test_a_turn_of_a_replica_that_died_ends_by_itself(
    replicas: Replicas, server: StoreServer
) -> None:
    replicas[0].get("/v3/profiles/ada")
    server.send("SET", TURN, "another", "PX", 20)
    assert replicas[0].get("/v3/profiles/ada").status_code == 200


def test_a_turn_of_no_use_is_passed_on() -> None:
    passed: list[str] = []

    async def pass_on(name: str) -> None:
        passed.append(name)

    async def notified() -> None:
        unused = Turns("a", is_wanted=lambda _: False, pass_on=pass_on)
        unused.notify(b"*3\r\n$5\r\nother\r\n$1\r\nt\r\n*0\r\n")  # of which it knows nothing
        unused.expect("build-7", b"t")
        unused.notify(b"*3\r\n$7\r\nbuild-7\r\n$1\r\nt\r\n*0\r\n")
        while len(passed) < 2:
            await asyncio.sleep(0)

    asyncio.run(notified())
    assert passed == ["other", "build-7"]


def test_what_changed_before_another_state_of_a_copy_is_not_taken() -> None:
    async def waited(tag: bytes) -> object:
        mine = Turns("a", is_wanted=lambda _: True, pass_on=lambda _: asyncio.sleep(0))
        mine.expect("build-7", b"t")
        mine.notify(b"*3\r\n$7\r\nbuild-7\r\n$1\r\nt\r\n*1\r\n$4\r\nnews\r\n")
        return await mine.wait("build-7", tag)

    assert asyncio.run(waited(b"t")) == [b"news"]
    assert asyncio.run(waited(b"u")) is None

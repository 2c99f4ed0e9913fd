"""A replica keeps few copies of worlds, and loads a world again that it dropped."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

import httpx
import pytest
from tests.mock.admin.conftest import SITE, Driver

from understudy.fleet import copies
from understudy.fleet.copies import Copies, WorldList, WorldState
from understudy.limits import WORLD_COPIES
from understudy.mock.app import Mock

Replicas = tuple[Driver, Driver]
MOST = 3
NAMES = [f"w{number}" for number in range(1, 8)]


class Loads:
    """The copies that replicas have loaded from the store.

    Attributes:
        names: The worlds that were loaded, in order.
        copies: Those of each replica.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.copies: list[Copies] = []


@pytest.fixture(autouse=True)
def loads(monkeypatch: pytest.MonkeyPatch) -> Loads:
    """Lets replicas keep few copies, and notes what they load."""
    monkeypatch.setattr(copies, "WORLD_COPIES", WORLD_COPIES._replace(most=MOST))
    loads, update = Loads(), Copies.update

    def noted(self: Copies, reply: Sequence[Any]) -> None:
        state = WorldState(*reply)
        if state.whole is not None:
            loads.names.append(state.name.decode())
        loads.copies.append(self)
        update(self, reply)

    monkeypatch.setattr(Copies, "update", noted)
    return loads


@pytest.fixture
def changed(replicas: Replicas) -> Replicas:
    """Two replicas, of which the first has made more worlds than it keeps, and changed each."""
    one, _ = replicas
    for name in NAMES:
        one.admin("POST", "/worlds", {"name": name})
        patched(one, name, f"Place of {name}")
    return replicas


def patched(driver: Driver, world: str, location: str) -> None:
    path = f"/__world/{world}/v3/me/profile"
    response = driver.ask("PATCH", path, json={"location": location}, token="ada-full")
    assert response.status_code == 200


def location(driver: Driver, world: str) -> str:
    profile = driver.get(f"/__world/{world}/v3/me/profile", token="ada-full").json()
    return str(profile["location"])


def test_a_replica_keeps_the_copies_that_it_used_last(changed: Replicas, loads: Loads) -> None:
    one, _ = changed
    loads.names.clear()
    for name in ("w7", "w1", "w7", "w1"):
        location(one, name)
    assert loads.names == ["w1"]
    assert {it.excess for it in loads.copies} == {0}


def test_a_world_that_was_dropped_is_what_it_was(changed: Replicas) -> None:
    one, other = changed
    for driver in (one, other):
        assert [location(driver, name) for name in NAMES] == [f"Place of {name}" for name in NAMES]
    patched(other, "w1", "Elsewhere")
    assert location(one, "w1") == "Elsewhere"
    assert one.admin("GET", "/requests", world="w1")["meta"]["total"] == 5


def test_worlds_that_were_dropped_are_listed_and_have_their_names(changed: Replicas) -> None:
    one, _ = changed
    listed = [world["name"] for world in one.admin("GET", "/worlds")]
    assert listed == ["default", *NAMES]
    location(one, "w7")
    assert one.admin("POST", "/worlds")["name"] == "w8"
    assert one.ask("POST", "/__admin/worlds", json={"name": "w1"}).status_code == 409


def test_another_world_is_made_without_the_list_of_all_where_copies_were_dropped(
    changed: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists, update = [], WorldList.update

    async def noted(self: WorldList, *reply: Any) -> None:
        lists.append(reply)
        await update(self, *reply)

    monkeypatch.setattr(WorldList, "update", noted)
    for name in ("w8", "w9", "w10"):
        changed[0].admin("POST", "/worlds", {"name": name})
    assert not lists
    assert changed[1].admin("POST", "/worlds")["name"] == "w11"
    assert len(lists) == 1


def test_the_world_that_a_request_uses_is_kept(
    changed: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, drop = [], Copies.drop

    def noted(self: Copies, names: Collection[str], *, is_listed: bool) -> None:
        kept.append(set(names))
        drop(self, names, is_listed=is_listed)

    monkeypatch.setattr(Copies, "drop", noted)
    location(changed[0], "w1")
    location(changed[0], "w2")
    assert kept == [{"w1"}, {"w2"}]


def test_more_worlds_than_are_kept_may_be_used_at_once(
    changed: Replicas, mocks: tuple[Mock, Mock], loads: Loads
) -> None:
    async def at_once() -> list[int]:
        transport = httpx.ASGITransport(mocks[0].resource)
        async with httpx.AsyncClient(transport=transport, base_url=SITE) as session:
            paths = [f"/__world/{name}/v3/profiles/ada" for name in NAMES * 3]
            responses = await asyncio.gather(*map(session.get, [*paths, "/__admin/worlds"]))
        await mocks[0].close()
        return [response.status_code for response in responses]

    changed[0].end_store()  # as the connection is of another event loop
    assert set(asyncio.run(at_once())) == {200}
    for _ in NAMES:
        location(changed[0], "w1")
    assert {it.excess for it in loads.copies} == {0}

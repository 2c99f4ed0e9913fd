"""Replicas go by the time of the store, whatever the clocks of their machines show."""

import asyncio
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from tests.direct_transport import DirectTransport
from tests.mock.admin.conftest import SITE, Driver

from understudy.fleet.connection import StoreRefusal
from understudy.fleet.link import StoreClock
from understudy.fleet.shared_store import SharedWorldStore
from understudy.mock.app import Mock
from understudy.mock.server.clock import machine_time

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
SECONDS = int(NOON.timestamp())


async def looked_up(mock: Mock) -> httpx.Headers:
    async with httpx.AsyncClient(transport=DirectTransport(mock.resource)) as session:
        response = await session.get(f"{SITE}/v3/profiles/ada")
    await mock.close()
    return response.headers


@pytest.mark.usefixtures("replicas")
def test_a_window_is_one_though_the_machine_of_a_replica_is_hours_ahead(
    mocks: tuple[Mock, Mock], monkeypatch: pytest.MonkeyPatch
) -> None:
    for mock, ahead in zip(mocks, (timedelta(0), timedelta(hours=5)), strict=True):
        store = mock._store
        assert isinstance(store, SharedWorldStore)
        clock = StoreClock(lambda ahead=ahead: machine_time() + ahead)  # type: ignore[misc]  # as a default
        monkeypatch.setattr(store.link, "clock", clock)
        mock.world.clock = clock.of(None)
        asyncio.run(looked_up(mock))  # measures the difference
    first, second = (asyncio.run(looked_up(mock)) for mock in mocks)
    assert first["x-ratelimit-reset"] == second["x-ratelimit-reset"]
    left = [int(headers["x-ratelimit-remaining"]) for headers in (first, second)]
    assert left == [97, 96]


def test_the_difference_is_counted_from_the_middle_of_a_call() -> None:
    machine = iter([NOON, NOON + timedelta(seconds=2), NOON])
    clock = StoreClock(lambda: next(machine))
    clock.measure(clock.begin(), [str(SECONDS + 61).encode(), b"500000"])
    assert clock.now() == NOON + timedelta(minutes=1, seconds=0.5)


def test_the_difference_is_measured_again_after_a_minute_and_when_a_clock_was_set() -> None:
    machine = [NOON]
    clock = StoreClock(lambda: machine[0])
    assert clock.is_due
    clock.measure(clock.begin(), [str(SECONDS).encode(), b"0"])
    for ahead, is_due in ((0, False), (59, False), (61, True), (-61, True)):
        machine[0] = NOON + timedelta(seconds=ahead)
        assert clock.is_due is is_due


def test_a_world_that_a_replica_loads_goes_by_the_same_time(
    replicas: tuple[Driver, Driver],
) -> None:
    one, other = replicas
    one.admin("POST", "/worlds", {"name": "w"})
    other.get("/__world/w/v3/profiles/ada")
    loaded = other.mock.worlds.find("w")
    assert loaded is not None
    assert loaded.clock.now() == other.mock.world.clock.now()


@pytest.mark.parametrize("reply", [1, None, [], [b"x", b"0"], [b"9" * 30, b"0"], [b"1", b"9" * 30]])
def test_a_reply_that_is_not_a_time_is_refused(reply):
    clock = StoreClock()
    with pytest.raises(StoreRefusal, match="not a time"):
        clock.measure(clock.begin(), reply)

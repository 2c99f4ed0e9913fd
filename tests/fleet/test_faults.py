"""A fault delays, slows and cuts a response of a replica once its request is committed."""

import asyncio

import httpx
import pytest
from starlette.types import Receive
from tests.mock.admin.conftest import SITE, Driver

Replicas = tuple[Driver, Driver]
LOOKUP = "/v3/profiles/ada"


class Delays:
    """The delays of responses, which are over when the test says so."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.begun = asyncio.Event()
        self.over = asyncio.Event()

    async def wait(self, _receive: Receive, seconds: float) -> None:
        """Stands for the wait of a delayed response."""
        self.seconds.append(seconds)
        self.begun.set()
        await self.over.wait()


async def sent_meanwhile(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> list[httpx.Response]:
    """Sends a request that is delayed, and another one to the same world during the delay."""
    delays = Delays()
    monkeypatch.setattr("understudy.mock.server.transactions.wait", delays.wait)
    transport = httpx.ASGITransport(driver.mock.resource)
    async with httpx.AsyncClient(transport=transport, base_url=SITE) as session:
        delayed = asyncio.ensure_future(session.get(LOOKUP, headers={"Prefer": "delay=5"}))
        await delays.begun.wait()
        first = await session.get(LOOKUP)
        delays.over.set()
        responses = [first, await delayed]
    await driver.mock.close()
    assert delays.seconds == [5]
    return responses


def test_others_use_a_world_while_a_response_is_delayed(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    responses = asyncio.run(sent_meanwhile(replicas[0], monkeypatch))
    left = [int(response.headers["x-ratelimit-remaining"]) for response in responses]
    assert left == [98, 99]


def test_the_journal_has_all_that_is_sent_in_pieces(replicas: Replicas) -> None:
    one, other = replicas
    whole = one.get(LOOKUP).text
    one.admin("POST", "/faults", {"effect": "slow", "seconds": 0.001, "operation": "getProfile"})
    assert one.get(LOOKUP).text == whole
    assert other.admin("GET", "/requests/2")["response"]["body"] == whole

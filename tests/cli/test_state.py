"""A mock that is killed at any moment has lost nothing that it acknowledged."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random  # noqa: TID251 - when to kill is drawn from a seed
from urllib.parse import urlsplit

import httpx
import pytest
from tests.cli.conftest import PATIENCE, Running
from tests.proofs.attack.registers import Register, Site
from tests.proofs.attack.writes import REGISTERS

pytestmark = pytest.mark.usefixtures("unmeasured")

KILLS = int(os.environ.get("UNDERSTUDY_KILLS", "3"))
"""Three in a common run; ``make durability`` kills fifty times."""


@dataclass(slots=True)
class Ledger:
    """What became of the writes of one kind: the oracle of what the mock must hold.

    Attributes:
        register: The kind.
        world: The world that it has for itself.
        sent: Number of the last write that was sent.
        acknowledged: Number of the last write that was acknowledged.
        total: Writes that were acknowledged in all runs.
    """

    register: Register
    world: str
    sent: int = 0
    acknowledged: int = 0
    total: int = 0

    async def write(self, site: Site) -> None:
        """Writes until the mock is killed. Any other failure of a write fails the test."""
        while True:
            self.sent += 1
            try:
                await self.register.write(site, self.sent)
            except httpx.TransportError:
                return
            self.acknowledged = self.sent
            self.total += 1

    async def compare(self, site: Site) -> None:
        """Expects what was acknowledged, or the one write that was under way."""
        held = await self.register.read(site)
        possible = {self.register.holds(number) for number in (self.acknowledged, self.sent)}
        assert held in possible, (self.register.name, held, possible)
        self.sent = self.acknowledged = held


def sites(client: httpx.AsyncClient, running: Running, ledgers: list[Ledger]) -> list[Site]:
    parts = urlsplit(running.base_url)
    resource = f"{parts.scheme}://{parts.netloc}"
    return [Site(client, resource, running.auth_url, ledger.world) for ledger in ledgers]


async def write_until_killed(
    running: Running, ledgers: list[Ledger], writes: int, delay: float
) -> None:
    """Compares, writes every kind at once, and kills the mock after so many writes."""
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
        each = list(zip(ledgers, sites(client, running, ledgers), strict=True))
        for ledger, site in each:
            await ledger.compare(site)
        enough = writes + sum(ledger.total for ledger in ledgers)

        async def kill() -> None:
            while sum(ledger.total for ledger in ledgers) < enough:
                await asyncio.sleep(0.001)
            await asyncio.sleep(delay)
            running.process.kill()

        async with asyncio.TaskGroup() as group:
            group.create_task(kill())
            for ledger, site in each:
                group.create_task(ledger.write(site))
    running.process.wait()


async def make_worlds(running: Running, ledgers: list[Ledger]) -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
        for site in sites(client, running, ledgers):
            url = f"{site.resource}/__admin/worlds"
            (await client.post(url, json={"name": site.world})).raise_for_status()


def test_kill_9_loses_nothing_that_was_acknowledged(
    serve: Callable[..., Running], tmp_path: Path
) -> None:
    chance = Random(5)
    options = ("--state", str(tmp_path / "state"), "--choose", "rate-limits=off", "--log", "off")
    ledgers = [Ledger(register, f"r{number}") for number, register in enumerate(REGISTERS)]
    running = serve(*options)
    asyncio.run(make_worlds(running, ledgers))
    for _ in range(KILLS):
        writes, delay = (
            chance.randrange(2 * len(ledgers), 6 * len(ledgers)),
            chance.uniform(0, 0.05),
        )
        asyncio.run(write_until_killed(running, ledgers, writes, delay))
        running = serve(*options)

    async def compare() -> None:
        async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
            for ledger, site in zip(ledgers, sites(client, running, ledgers), strict=True):
                await ledger.compare(site)

    asyncio.run(compare())
    assert len(ledgers) >= 16
    assert min(ledger.total for ledger in ledgers) > 0, "a kind was never written"


def test_a_directory_in_use_is_said_in_one_line(
    serve: Callable[..., Running], tmp_path: Path
) -> None:
    serve("--state", str(tmp_path))
    with pytest.raises(AssertionError, match="Does another mock use it"):
        serve("--state", str(tmp_path))

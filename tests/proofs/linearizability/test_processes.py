"""What processes of a fleet respond could have been responded by one mock, whatever happens to them."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from math import inf
from pathlib import Path
from random import Random  # noqa: TID251 - of the tests' own seed
from typing import Any

import httpx
import pytest
from tests.cli.conftest import Running
from tests.cli.test_workers import workers
from tests.patient import PATIENCE
from tests.proofs.linearizability.checking import Operation, is_linearizable
from tests.proofs.linearizability.disturbing import Disturbance, UnreliableProxy, unreliable_proxy
from tests.store_server import store_server

from understudy.fleet.connection import COMMIT

HISTORIES = int(os.environ.get("UNDERSTUDY_HISTORIES", "2"))
"""Histories that are checked; ``make fleet`` checks more."""

CLIENTS, REQUESTS = 5, 10
ACCOUNTS = ("ada-full", "ben-full")


class Fleet:
    """Three processes on one store, and the proxy on their way to it."""

    def __init__(self, running: Running, proxy: UnreliableProxy) -> None:
        self.running = running
        self.proxy = proxy
        self.site = running.base_url.removesuffix("/v3")

    def workers(self) -> list[int]:
        return workers(self.running)


COMPARED = "id == known.id and tag == known.tag"

PLANTED = f"""
from understudy.fleet import scripts

text = scripts.COMMIT.text.replace("{COMPARED}", "id == known.id")
scripts.COMMIT = scripts.Script(text, "0" * 40)
"""
"""Has a process leave the comparison of tags out."""


@contextmanager
def serving(directory: Path, **environment: str) -> Iterator[Fleet]:
    with ExitStack() as stack:
        server = stack.enter_context(store_server(directory))
        proxy = stack.enter_context(unreliable_proxy(server.port, Random(0)))
        url = f"valkey://127.0.0.1:{proxy.port}/0"
        options = ("--state", url, "--workers", "3", "--log", "off", "--choose", "rate-limits=off")
        running = Running(directory, *options, **environment)
        stack.callback(running.stop)
        yield Fleet(running, proxy)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with serving(tmp_path_factory.mktemp("fleet")) as fleet:
        yield fleet


class Recorder:
    """Sends requests of several clients at once, each over a new connection, and records them."""

    def __init__(self, fleet: Fleet, seed: int) -> None:
        self.histories: dict[str, list[Operation]] = {account: [] for account in ACCOUNTS}
        self.initial: dict[str, str] = {}
        self.random = Random(seed)
        self.disturbance = Disturbance(fleet.proxy, fleet.workers, Random(seed + 1))
        self._site = fleet.site
        self._profile = f"{fleet.site}/__world/h{seed}/v3/me/profile"
        self._name = f"h{seed}"

    async def record(self) -> None:
        """Records a history of a new world, and at its end what the world has become."""
        limits = httpx.Limits(max_keepalive_connections=0)
        async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE, limits=limits) as session:
            await self._patiently(session, "POST", f"{self._site}/__admin/worlds", name=self._name)
            for account in ACCOUNTS:
                self.initial[account] = await self._read(session, account)
            disturbing = asyncio.create_task(self.disturbance.go_on())
            await asyncio.gather(*(self._client(session, name) for name in range(CLIENTS)))
            disturbing.cancel()
            with suppress(asyncio.CancelledError):
                await disturbing
            now = asyncio.get_running_loop().time
            for account in ACCOUNTS:
                begun = now()
                value = await self._read(session, account)
                self.histories[account].append(Operation(begun, now(), value, is_write=False))

    async def _read(self, session: httpx.AsyncClient, account: str) -> str:
        response = await self._patiently(session, "GET", self._profile, account)
        return str(response.json().get("location", ""))

    async def _patiently(
        self, session: httpx.AsyncClient, method: str, url: str, account: str = "", **body: Any
    ) -> httpx.Response:
        """Sends a request until it succeeds; one that makes a world may have done so before."""
        while True:
            with suppress(httpx.TransportError):
                response = await session.request(
                    method, url, json=body or None, headers=_headers(account)
                )
                if response.is_success or response.status_code == 409:
                    return response
                assert response.status_code == 503, response.text
            await asyncio.sleep(0.05)

    async def _client(self, session: httpx.AsyncClient, name: int) -> None:
        now = asyncio.get_running_loop().time
        for number in range(REQUESTS):
            account, value = self.random.choice(ACCOUNTS), f"{name}-{number}"
            is_write = self.random.random() < 0.5
            begun = now()
            try:
                response = await session.request(
                    "PATCH" if is_write else "GET",
                    self._profile,
                    json={"location": value} if is_write else None,
                    headers=_headers(account),
                )
            except httpx.TransportError:  # of a worker that was killed
                is_certain = False
            else:
                is_certain = response.is_success
                assert is_certain or response.status_code == 503, response.text
            if is_certain:
                value = response.json().get("location", "")
                self.histories[account].append(Operation(begun, now(), value, is_write))
            elif is_write:
                self.histories[account].append(Operation(begun, inf, value, is_write))


def _headers(account: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {account}"} if account else {}


def broken(recorder: Recorder) -> list[object]:
    """Records, and returns the histories that have no order, with what happened meanwhile."""
    asyncio.run(recorder.record())
    happened = recorder.disturbance.happened
    assert happened
    return [
        (happened, history)
        for account, history in recorder.histories.items()
        if not is_linearizable(history, recorder.initial[account])
    ]


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_history_of_processes_that_are_paused_killed_and_cut_off_is_linearizable(
    fleet: Fleet, seed: int
) -> None:
    assert broken(Recorder(fleet, seed)) == []


if (
    HISTORIES >= 20
):  # takes three more processes; make fleet has it, and test_histories.py one process

    def test_processes_that_compare_no_versions_are_found(tmp_path: Path) -> None:
        assert COMPARED in COMMIT.text
        (tmp_path / "sitecustomize.py").write_text(PLANTED)
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        with serving(tmp_path, PYTHONPATH=path) as fleet:
            assert any(broken(Recorder(fleet, seed)) for seed in range(20))

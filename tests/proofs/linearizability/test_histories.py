"""What replicas answer at the same time could have been answered by one mock, one after another."""

import asyncio
import os
from collections.abc import Iterator
from math import inf
from random import Random  # noqa: TID251 - of the tests' own seed

import httpx
import pytest
from tests.direct_transport import DirectTransport
from tests.mock.admin.conftest import SITE
from tests.proofs.linearizability.checking import Operation, is_linearizable
from tests.store_server import StoreServer, store_server

from understudy.fleet import shared_store
from understudy.fleet.connection import COMMIT, Script
from understudy.mock.app import Mock
from understudy.mock.settings import Settings

HISTORIES = int(os.environ.get("UNDERSTUDY_HISTORIES", "4"))
"""Histories that are checked; ``make fleet`` checks more."""

CLIENTS, REQUESTS = 4, 8
ACCOUNTS = ("ada-full", "ben-full")
PROFILE = f"{SITE}/v3/me/profile"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    with store_server(tmp_path_factory.mktemp("store")) as started:
        yield started


@pytest.fixture(scope="module")
def mocks(server: StoreServer) -> tuple[Mock, ...]:
    return tuple(Mock(Settings(state=server.url())) for _ in range(2))


class Recorder:
    """Sends requests of a few clients at once to all replicas, and records what comes of them."""

    def __init__(self, server: StoreServer, mocks: tuple[Mock, ...], seed: int) -> None:
        self.histories: dict[str, list[Operation]] = {account: [] for account in ACCOUNTS}
        self.initial: dict[str, str] = {}
        self._server = server
        self._mocks = mocks
        self._random = Random(seed)

    async def record(self, *, is_disturbed: bool) -> None:
        """Records a history; a disturbed one has connections cut, and the store pausing."""
        sessions = [
            httpx.AsyncClient(transport=entrance(mock.resource))
            for mock in self._mocks
            for entrance in (httpx.ASGITransport, DirectTransport)
        ]
        await sessions[0].post(f"{SITE}/__admin/reset")  # so that no limit is reached
        for account in ACCOUNTS:
            for session in sessions:
                response = await session.get(PROFILE, headers=_headers(account))
            self.initial[account] = response.json().get("location", "")
        clients = [self._client(name, sessions) for name in range(CLIENTS)]
        await asyncio.gather(*clients, *([self._disturb()] if is_disturbed else []))
        for session in sessions:
            await session.aclose()
        for mock in self._mocks:
            await mock.close()

    async def _client(self, name: int, sessions: list[httpx.AsyncClient]) -> None:
        for number in range(REQUESTS):
            account, session = self._random.choice(ACCOUNTS), self._random.choice(sessions)
            is_write = self._random.random() < 0.5
            value = f"{name}-{number}"
            begun = asyncio.get_running_loop().time()
            headers = _headers(account)
            if is_write:
                response = await session.patch(PROFILE, json={"location": value}, headers=headers)
            else:
                response = await session.get(PROFILE, headers=headers)
            ended = asyncio.get_running_loop().time()
            assert response.status_code in {200, 503}, response.text
            if response.is_success:
                value = response.json().get("location", "")
            elif is_write:
                ended = inf
            else:
                continue
            self.histories[account].append(Operation(begun, ended, value, is_write))

    async def _disturb(self) -> None:
        for _ in range(3):
            await asyncio.sleep(0)
            self._server.send("CLIENT", "PAUSE", 5)
            await asyncio.sleep(0.005)
            for kind in ("normal", "pubsub"):
                self._server.send("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")

    @property
    def is_linearizable(self) -> bool:
        """True if every account's history is."""
        return all(is_linearizable(self.histories[it], self.initial[it]) for it in ACCOUNTS)


def _headers(account: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {account}"}


def recorded(
    server: StoreServer, mocks: tuple[Mock, ...], seed: int, *, is_disturbed: bool
) -> Recorder:
    recorder = Recorder(server, mocks, seed)
    asyncio.run(recorder.record(is_disturbed=is_disturbed))
    return recorder


@pytest.mark.parametrize("seed", range(HISTORIES))
@pytest.mark.parametrize("is_disturbed", [False, True], ids=["quiet", "disturbed"])
def test_a_history_of_replicas_is_linearizable(
    server: StoreServer, mocks: tuple[Mock, ...], seed: int, *, is_disturbed: bool
) -> None:
    recorder = recorded(server, mocks, seed, is_disturbed=is_disturbed)
    assert sum(map(len, recorder.histories.values())) > CLIENTS
    assert recorder.is_linearizable, recorder.histories


def test_a_commit_that_compares_no_versions_is_found(
    server: StoreServer, mocks: tuple[Mock, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = "id == known.id and tag == known.tag"
    assert compared in COMMIT.text
    text = COMMIT.text.replace(compared, "id == known.id")
    monkeypatch.setattr(shared_store, "COMMIT", Script(text, "0" * 40))
    found = (recorded(server, mocks, seed, is_disturbed=False) for seed in range(20))
    assert not all(recorder.is_linearizable for recorder in found)


def test_a_stale_read_is_no_order() -> None:
    write = Operation(0, 1, "new", is_write=True)
    assert not is_linearizable([write, Operation(2, 3, "old", is_write=False)], "old")
    assert is_linearizable([write, Operation(0.5, 3, "old", is_write=False)], "old")


def test_a_write_of_which_nobody_knows_may_have_happened_or_not() -> None:
    lost = Operation(0, inf, "new", is_write=True)
    for value in ("old", "new"):
        assert is_linearizable([lost, Operation(2, 3, value, is_write=False)], "old")
    reads = [Operation(2, 3, "new", is_write=False), Operation(4, 5, "old", is_write=False)]
    assert not is_linearizable([lost, *reads], "old")


def test_a_read_of_what_nobody_wrote_is_no_order() -> None:
    assert not is_linearizable([Operation(0, 1, "other", is_write=False)], "old")

"""The two entrances of the mock respond alike, and the comparison sees where they would not."""

import asyncio
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.proofs.entrances.comparison import PET_STORE, SERVICE, Entrance, compare
from tests.proofs.entrances.traffic import Sent
from tests.store_server import StoreServer, store_server

from understudy.fleet.shared_store import SharedWorldStore
from understudy.mock.server import fast_path
from understudy.mock.settings import Settings

CONNECTIONS = int(os.environ.get("UNDERSTUDY_FUZZ", "400"))


@pytest.mark.parametrize(("seed", "settings"), [(1, SERVICE), (2, SERVICE), (1, PET_STORE)])
def test_both_entrances_respond_alike(seed: int, settings: Settings):
    result = asyncio.run(compare(CONNECTIONS, seed, settings))
    assert result.differences == []
    assert result.responses > CONNECTIONS


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    with store_server(tmp_path_factory.mktemp("store")) as started:
        yield started


@pytest.mark.parametrize("settings", [SERVICE, PET_STORE])
def test_a_mock_with_a_store_responds_as_one_without(server: StoreServer, settings: Settings):
    result = asyncio.run(compare(CONNECTIONS // 4, 1, settings, state=server.url()))
    assert result.differences == []
    assert result.responses > CONNECTIONS // 4


@pytest.mark.parametrize("settings", [SERVICE, PET_STORE])
def test_every_request_responds_and_changes_the_same_when_it_is_worked_on_twice(
    server: StoreServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    run, was_in_vain = SharedWorldStore.run, False

    async def run_at_second(self: SharedWorldStore, message: Mapping[str, Any]) -> Any:
        nonlocal was_in_vain
        if message["changes"] and not was_in_vain:
            was_in_vain = True
            return [b"stale", [], [], None]
        reply = await run(self, message)
        was_in_vain &= not message["changes"] or reply[0] != b"done"
        return reply

    monkeypatch.setattr(SharedWorldStore, "run", run_at_second)
    result = asyncio.run(compare(CONNECTIONS // 4, 2, settings, state=server.url()))
    assert result.differences == []


@pytest.mark.parametrize("name", ["expect_bounded_fields", "note_response"])
def test_a_condition_that_one_entrance_lacks_is_a_difference(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fast_path, name, lambda *_: None)
    assert asyncio.run(compare(CONNECTIONS, 1, most=1)).differences


def test_requests_beyond_those_of_one_turn_are_answered_in_their_order():
    requests = [b"GET /v3/profiles/ada?n=%d HTTP/1.1\r\nHost: a\r\n\r\n" % n for n in range(90)]
    entrance = Entrance(is_direct=True)
    wire = asyncio.run(entrance.send(Sent((b"".join(requests),), is_authorization=False)))
    assert wire.written.count(b"HTTP/1.1 200 OK") == 90
    left = [int(text) for text in re.findall(rb"x-ratelimit-remaining: (\d+)", wire.written)]
    assert left == list(range(99, 9, -1))
    assert [entry.query for entry in entrance.entries] == [b"n=%d" % n for n in range(90)]

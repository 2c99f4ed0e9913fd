"""Requests that wait for one world are committed together, and respond as if each were alone."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import pytest
from tests.direct_transport import DirectTransport
from tests.mock.admin.conftest import SITE, Driver
from tests.store_server import StoreServer

from understudy.fleet.shared_store import SharedWorldStore
from understudy.mock.app import Mock

Replicas = tuple[Driver, Driver]
PROFILE = "/v3/me/profile"
ADA = {"Authorization": "Bearer ada-full"}


class Commits:
    """The groups that a store was to commit.

    Attributes:
        sizes: How many requests each had.
        other: A replica that commits something before the first of them; None for none.
    """

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.other: Mock | None = None

    async def note(self, message: Mapping[str, Any]) -> None:
        """Notes what is to be committed."""
        if not message["changes"]:
            return
        self.sizes.append(len(message["changes"][0]["requests"]))
        other, self.other = self.other, None
        if other is not None:
            transport = httpx.ASGITransport(other.resource)
            async with httpx.AsyncClient(transport=transport, base_url=SITE) as session:
                await session.patch(PROFILE, json={"company": "There"}, headers=ADA)
            await other.close()


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> Commits:
    commits, run = Commits(), SharedWorldStore.run

    async def noted(self: SharedWorldStore, message: Mapping[str, Any]) -> Any:
        await commits.note(message)
        return await run(self, message)

    monkeypatch.setattr(SharedWorldStore, "run", noted)
    return commits


@pytest.fixture
def one(replicas: Replicas) -> Mock:
    """A replica whose copy of the default world is up to date, and which is not connected."""
    for driver in replicas[::-1]:
        driver.get("/v3/profiles/ada")
        driver.end_store()
    return replicas[0].mock


def sent_at_once(mock: Mock, requests: Sequence[httpx.Request]) -> list[httpx.Response]:
    async def sent() -> list[httpx.Response]:
        transport = DirectTransport(mock.resource)
        async with httpx.AsyncClient(transport=transport) as session:
            responses = await asyncio.gather(*map(session.send, requests))
        await mock.close()
        return list(responses)

    return asyncio.run(sent())


def lookups(count: int) -> list[httpx.Request]:
    return [httpx.Request("GET", f"{SITE}/v3/profiles/ada?n={number}") for number in range(count)]


def edit(place: str) -> httpx.Request:
    return httpx.Request("PATCH", f"{SITE}{PROFILE}", json={"location": place}, headers=ADA)


def test_requests_that_wait_for_a_world_are_committed_together(one: Mock, commits: Commits) -> None:
    commits.sizes.clear()
    responses = sent_at_once(one, lookups(20))
    assert [response.status_code for response in responses] == [200] * 20
    assert sum(commits.sizes) == 20
    assert len(commits.sizes) < 5
    left = [int(response.headers["x-ratelimit-remaining"]) for response in responses]
    assert left == list(range(97, 77, -1))


def test_each_request_of_a_group_has_its_place_in_every_journal(
    one: Mock, replicas: Replicas
) -> None:
    sent_at_once(one, lookups(5))
    listed = [driver.admin("GET", "/requests")["requests"] for driver in replicas]
    assert [entry["id"] for entry in listed[0]] == list(range(7, 0, -1))
    assert [entry["request"]["url"] for entry in listed[0][:5]] == [
        f"/v3/profiles/ada?n={number}" for number in (4, 3, 2, 1, 0)
    ]
    assert listed[0] == listed[1]


def test_each_change_of_a_group_is_attributed_to_its_request(one: Mock, replicas: Replicas) -> None:
    sent_at_once(one, [edit("First"), *lookups(1), edit("Second")])
    assert replicas[1].get(PROFILE, token="ada-full").json()["location"] == "Second"
    changes = [driver.admin("GET", "/changes") for driver in replicas]
    assert [change["request"] for change in changes[0]["changes"][:2]] == [5, 3]
    assert changes[0] == changes[1]
    replicas[1].admin("POST", "/changes/rewind", {"request": 5})
    assert replicas[0].get(PROFILE, token="ada-full").json()["location"] == "First"


def test_a_group_is_worked_on_again_where_another_replica_was_first(
    one: Mock, replicas: Replicas, commits: Commits
) -> None:
    commits.sizes.clear()
    commits.other = replicas[1].mock
    responses = sent_at_once(one, [*lookups(3), edit("Here"), *lookups(2)])
    assert [response.status_code for response in responses] == [200] * 6
    assert commits.sizes == [6, 1, 6]
    profile = replicas[1].get(PROFILE, token="ada-full").json()
    assert (profile["location"], profile["company"]) == ("Here", "There")


def test_a_request_that_only_the_stack_can_respond_to_leaves_its_group(one: Mock) -> None:
    page = httpx.Request("GET", f"{SITE}/")
    unknown = httpx.Request("GET", f"{SITE}/v3/nothing")
    responses = sent_at_once(one, [*lookups(2), page, unknown, *lookups(2)])
    assert [response.status_code for response in responses] == [200, 200, 200, 404, 200, 200]


def test_every_request_of_a_group_is_refused_by_a_store_that_takes_no_writes(
    one: Mock, replicas: Replicas, server: StoreServer
) -> None:
    server.send("REPLICAOF", "127.0.0.1", "1")
    responses = sent_at_once(one, [*lookups(2), edit("Lost")])
    server.send("REPLICAOF", "NO", "ONE")
    assert [response.status_code for response in responses] == [503] * 3
    assert {response.json()["code"] for response in responses} == {"store_unavailable"}
    assert replicas[1].get(PROFILE, token="ada-full").json()["location"] != "Lost"

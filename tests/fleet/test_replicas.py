"""Whichever replica is asked, it says the same, and what may happen once happens once."""

import asyncio
import json
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from tests.mock.admin.conftest import AUTHORIZATION, SITE, Driver

from understudy.mock.app import Mock

Replicas = tuple[Driver, Driver]
CALLBACK = "http://127.0.0.1:5000/callback"
CLIENT = {"client_id": "server-app", "redirect_uri": CALLBACK}


def code_from(driver: Driver) -> str:
    query = {**CLIENT, "response_type": "code", "scope": "auth", "state": "s"}
    response = driver.get(f"{AUTHORIZATION}/oauth2/authorize", params=query)
    return parse_qs(urlsplit(response.headers["location"]).query)["code"][0]


def exchange(driver: Driver, code: str) -> httpx.Response:
    form = {**CLIENT, "client_secret": "server-app-secret", "code": code}
    url = f"{AUTHORIZATION}/oauth2/token"
    return driver.ask("POST", url, data={**form, "grant_type": "authorization_code"})


async def sent_at_once(
    mocks: tuple[Mock, Mock], count: int, method: str, path: str, **options: object
) -> list[httpx.Response]:
    """Sends the same request to both replicas in turn, before any response has come."""
    sessions = [
        httpx.AsyncClient(transport=httpx.ASGITransport(mock.resource), base_url=SITE)
        for mock in mocks
    ]
    requests = [sessions[n % 2].request(method, path, **options) for n in range(count)]  # type: ignore[arg-type]  # as httpx takes them
    responses = await asyncio.gather(*requests)
    for session, mock in zip(sessions, mocks, strict=True):
        await session.aclose()
        await mock.close()
    return list(responses)


def test_a_write_is_read_through_the_other_replica(replicas: Replicas) -> None:
    one, other = replicas
    one.ask("PATCH", "/v3/me/profile", json={"location": "Kept"}, token="ada-full")
    assert other.get("/v3/me/profile", token="ada-full").json()["location"] == "Kept"


def test_a_write_is_made_on_top_of_what_the_other_replica_wrote(replicas: Replicas) -> None:
    one, other = replicas
    one.ask("PATCH", "/v3/me/profile", json={"location": "Here"}, token="ada-full")
    other.ask("PATCH", "/v3/me/profile", json={"company": "There"}, token="ada-full")
    profile = one.get("/v3/me/profile", token="ada-full").json()
    assert (profile["location"], profile["company"]) == ("Here", "There")


def test_a_code_is_exchanged_once(replicas: Replicas) -> None:
    one, other = replicas
    code = code_from(one)
    assert exchange(other, code).status_code == 200
    assert exchange(one, code).status_code == 400


def test_a_token_of_one_replica_is_valid_at_the_other_until_it_is_revoked(
    replicas: Replicas,
) -> None:
    one, other = replicas
    token = exchange(one, code_from(other)).json()["access_token"]
    assert other.get("/v3/me/profile", token=token).status_code != 401
    other.admin("DELETE", f"/tokens?token={token.replace('#', '%23').replace('&', '%26')}")
    assert one.get("/v3/me/profile", token=token).status_code == 401


def test_no_identifier_is_given_twice(replicas: Replicas) -> None:
    tokens = [
        driver.admin("POST", "/tokens", {"person": "ada"})["token"] for driver in replicas * 5
    ]
    assert len(set(tokens)) == 10


def test_requests_at_once_count_exactly(mocks: tuple[Mock, Mock], replicas: Replicas) -> None:
    replicas[0].admin("PUT", "/limits/anonymous", {"limit": 10})
    for driver in replicas:
        driver.end_store()
    responses = asyncio.run(sent_at_once(mocks, 16, "GET", "/v3/profiles/ada"))
    assert sorted(response.status_code for response in responses) == [200] * 10 + [429] * 6
    counts = [it.headers["x-ratelimit-remaining"] for it in responses if it.is_success]
    assert sorted(map(int, counts)) == list(range(10))


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/faults", {"status": 503}),
        ("/stubs", {"response": {"status": 503}, "allow_invalid": True}),
    ],
)
def test_a_fault_or_a_stub_answers_as_often_as_it_says(
    mocks: tuple[Mock, Mock], replicas: Replicas, path: str, answer: dict[str, Any]
) -> None:
    replicas[0].admin("POST", path, {"operation": "getProfile", "times": 5, **answer})
    for driver in replicas:
        driver.end_store()
    responses = asyncio.run(sent_at_once(mocks, 12, "GET", "/v3/profiles/ada"))
    assert [response.status_code for response in responses].count(503) == 5


def test_the_journal_is_complete_and_in_one_order(
    mocks: tuple[Mock, Mock], replicas: Replicas
) -> None:
    for driver in replicas:
        driver.end_store()
    asyncio.run(sent_at_once(mocks, 10, "GET", "/v3/profiles/ada"))
    listed = [driver.admin("GET", "/requests")["requests"] for driver in replicas]
    assert [entry["id"] for entry in listed[0]] == list(range(10, 0, -1))
    assert listed[0] == listed[1]


def test_an_exchange_is_explained_by_the_other_replica(replicas: Replicas) -> None:
    one, other = replicas
    one.ask("PATCH", "/v3/me/profile", json={"location": 7}, token="ada-full")
    assert one.admin("GET", "/requests/1") == other.admin("GET", "/requests/1")
    assert other.admin("GET", "/requests/1")["explanation"]["refusal"]["breach"]["actual"] == 7


def test_a_journal_that_was_emptied_is_empty_everywhere(replicas: Replicas) -> None:
    one, other = replicas
    one.get("/v3/profiles/ada")
    other.admin("DELETE", "/requests")
    other.get("/v3/profiles/ben")
    assert [it["id"] for it in one.admin("GET", "/requests")["requests"]] == [2]


def test_clock_choices_limits_and_faults_are_one(replicas: Replicas) -> None:
    one, other = replicas
    one.admin("PUT", "/clock", {"now": "2030-01-01T00:00:00Z", "frozen": True})
    other.admin("PATCH", "/choices", {"private-profile-lookup": "404"})
    one.admin("PUT", "/limits/ada", {"limit": 3, "used": 1})
    other.admin("POST", "/faults", {"operation": "getQrCode", "status": 503})
    for path in ("/clock", "/choices", "/limits", "/faults"):
        assert one.admin("GET", path) == other.admin("GET", path)
    assert one.admin("GET", "/clock")["now"] == "2030-01-01T00:00:00.000Z"
    assert one.get("/v3/qr-code/ada").status_code == 503


def test_a_reset_undoes_what_any_replica_did(replicas: Replicas) -> None:
    one, other = replicas
    before = one.get("/v3/me/profile", token="ada-full").json()
    one.ask("PATCH", "/v3/me/profile", json={"location": "Changed"}, token="ada-full")
    other.admin("POST", "/reset")
    assert one.get("/v3/me/profile", token="ada-full").json() == before
    assert one.admin("GET", "/requests")["requests"][0]["id"] == 3


def test_a_world_is_made_used_and_deleted_through_either(replicas: Replicas) -> None:
    one, other = replicas
    one.admin("POST", "/worlds", {"name": "w", "people": ["ada"], "seed": 4})
    other.ask("PATCH", "/__world/w/v3/me/profile", json={"location": "Kept"}, token="ada-full")
    path = "/__world/w/v3/me/profile"
    assert one.get(path, token="ada-full").json()["location"] == "Kept"
    assert other.get("/__world/w/v3/profiles/ben").status_code == 404
    assert one.admin("GET", "/worlds") == other.admin("GET", "/worlds")
    one.admin("DELETE", "/worlds/w")
    assert other.get("/__world/w/v3/profiles/ada").status_code == 404
    assert [world["name"] for world in other.admin("GET", "/worlds")] == ["default"]


def test_names_are_given_to_worlds_once(replicas: Replicas) -> None:
    names = [driver.admin("POST", "/worlds", {})["name"] for driver in replicas * 2]
    assert sorted(names) == ["w1", "w2", "w3", "w4"]
    refused = replicas[1].ask("POST", "/__admin/worlds", json={"name": "w1"})
    assert refused.status_code == 409


def test_a_world_of_the_same_name_is_another_one(replicas: Replicas) -> None:
    one, other = replicas
    one.admin("POST", "/worlds", {"name": "w"})
    one.ask("PATCH", "/__world/w/v3/me/profile", json={"location": "Old"}, token="ada-full")
    other.get("/__world/w/v3/profiles/ada")
    one.admin("DELETE", "/worlds/w")
    one.admin("POST", "/worlds", {"name": "w"})
    profile = other.get("/__world/w/v3/me/profile", token="ada-full").json()
    assert profile["location"] != "Old"
    assert other.admin("GET", "/requests", world="w")["meta"]["total"] == 1


def test_a_snapshot_is_kept_restored_and_deleted_through_either(replicas: Replicas) -> None:
    one, other = replicas
    one.ask("PATCH", "/v3/me/profile", json={"location": "Then"}, token="ada-full")
    one.admin("POST", "/snapshots", {"name": "then"})
    other.ask("PATCH", "/v3/me/profile", json={"location": "Now"}, token="ada-full")
    other.admin("POST", "/snapshots/then/restore")
    assert one.get("/v3/me/profile", token="ada-full").json()["location"] == "Then"
    other.admin("DELETE", "/snapshots/then")
    assert one.admin("GET", "/snapshots") == []


def test_what_a_replica_refuses_leaves_nothing_behind(replicas: Replicas) -> None:
    one, other = replicas
    one.admin("POST", "/snapshots", {"name": "kept"})
    assert other.ask("POST", "/__admin/worlds", json={"snapshot": "lost"}).status_code == 404
    assert other.admin("GET", "/worlds") == one.admin("GET", "/worlds")


def test_changes_are_listed_and_rewound_through_either(replicas: Replicas) -> None:
    one, other = replicas
    one.admin("GET", "/requests")
    other.get("/v3/profiles/ada")
    one.ask("PATCH", "/v3/me/profile", json={"location": "Undone"}, token="ada-full")
    assert one.admin("GET", "/changes") == other.admin("GET", "/changes")
    other.admin("POST", "/changes/rewind", {"request": 2})
    assert one.get("/v3/me/profile", token="ada-full").json()["location"] != "Undone"


@pytest.mark.parametrize("count", [300])
def test_a_replica_that_is_far_behind_loads_the_whole_world(replicas: Replicas, count: int) -> None:
    one, other = replicas
    other.get("/v3/profiles/ada")
    for number in range(count):
        one.admin("PUT", "/limits/ada", {"limit": number + 1})
    assert other.admin("GET", "/limits")[0]["limit"] == count


async def sent_slowly(mock: Mock, at_last: asyncio.Event) -> bytes:
    """Asks for a token, with a body that comes once ``at_last`` is set."""
    said = b""
    body = b'{"person": "ada"}'

    async def receive() -> dict[str, object]:
        await at_last.wait()
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal said
        said += message.get("body", b"")

    headers = {"host": "127.0.0.1:8080", "content-type": "application/json"}
    headers["content-length"] = str(len(body))
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/__admin/tokens",
        "query_string": b"",
        "headers": [(name.encode(), text.encode()) for name, text in headers.items()],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8080),
        "scheme": "http",
    }
    await mock.resource(scope, receive, send)
    return said


def test_a_slow_client_keeps_nobody_waiting_and_undoes_nothing(
    mocks: tuple[Mock, Mock], replicas: Replicas
) -> None:
    for driver in replicas:
        driver.get("/v3/profiles/ada")
        driver.end_store()

    async def together() -> list[bytes]:
        at_last, at_once = asyncio.Event(), asyncio.Event()
        at_once.set()
        slow = asyncio.ensure_future(sent_slowly(mocks[0], at_last))
        await asyncio.sleep(0)
        first = await sent_slowly(mocks[0], at_once)
        at_last.set()
        said = [first, await slow, await sent_slowly(mocks[0], at_once)]
        await mocks[0].close()
        return said

    tokens = [json.loads(each)["token"] for each in asyncio.run(together())]
    assert len(set(tokens)) == 3

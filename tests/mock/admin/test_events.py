"""The event stream: what happens in a world, row by row or sampled, with exact counts."""

import asyncio
import json
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
from tests.mock.admin.conftest import Driver

from understudy.limits import EVENT_STREAMS
from understudy.mock.admin.context import AdminContext
from understudy.mock.admin.events import PAGE, ROWS, WorldWatch, stream_events
from understudy.mock.server.call import Call
from understudy.mock.server.clock import written
from understudy.mock.server.request_context import Peer, RequestHead, RequestTarget

THOUSANDS = 5_000
NAMED = {"User-Agent": "app/1", "X-Mock-Client": "checkout test"}


def read(events: Iterable[bytes]) -> list[tuple[str, Any]]:
    """Returns names and data of events."""
    texts = [event.decode().rstrip("\n").split("\n") for event in events]
    fields = [dict(line.split(": ", 1) for line in lines) for lines in texts]
    return [(event["event"], json.loads(event["data"])) for event in fields]


def watching(driver: Driver, after: int | None = None) -> WorldWatch:
    """Returns a watch of the default world that has begun."""
    watch = WorldWatch(driver.mock.world, driver.mock.worlds, after)
    list(watch.begin())
    return watch


def numbers(data: Any) -> list[int]:
    return [row["id"] for row in data["requests"]]


def test_nothing_is_reported_where_nothing_happened(driver: Driver) -> None:
    assert list(watching(driver).look()) == []


def test_a_request_is_reported_as_the_journal_lists_it_without_bodies(driver: Driver) -> None:
    watch = watching(driver)
    driver.get("/v3/profiles/ada?token=secret", headers=NAMED)
    [(name, data)] = read(watch.look())
    [listed] = driver.admin("GET", "/requests")["requests"]
    [row] = data["requests"]
    assert name == "requests"
    assert row["request"].pop("label") == "checkout test"
    assert row["request"].pop("userAgent") == listed["request"]["headers"]["user-agent"]
    assert row["request"].items() <= listed["request"].items()
    assert row.pop("response") == {"status": listed["response"]["status"]}
    assert "secret" not in row.pop("request")["url"]
    assert row.pop("switches") == []
    assert row.items() <= listed.items()


def test_a_request_is_reported_with_the_turned_switches_that_decided_it(driver: Driver) -> None:
    driver.admin("PATCH", "/choices", {"private-profile-lookup": "404", "email-hashes": "md5-too"})
    watch = WorldWatch(driver.mock.world, driver.mock.worlds)
    list(watch.begin())
    driver.get("/v3/profiles/ada")
    driver.get("/v3/me/avatars", token="ada-full")
    [(_, data)] = read(watch.look())
    assert [row["switches"] for row in data["requests"]] == [
        ["email-hashes=md5-too", "private-profile-lookup=404"],
        [],
    ]


def test_of_many_requests_the_newest_are_shown_and_all_are_counted(driver: Driver) -> None:
    watch = watching(driver)
    for _ in range(ROWS + 15):
        driver.get("/v3/profiles/ada")
    [(_, data)] = read(watch.look())
    assert numbers(data) == list(range(16, ROWS + 16))
    assert (data["total"], data["skipped"]) == (ROWS + 15, 15)


def test_thousands_of_requests_between_two_looks_are_one_small_event(driver: Driver) -> None:
    watch = watching(driver)
    head = RequestHead(
        "GET", RequestTarget("/v3/profiles/ada", b""), [(b"host", b"127.0.0.1:8080")]
    )
    peer = Peer("127.0.0.1", ("127.0.0.1", 8080), "http")
    for _ in range(THOUSANDS):
        assert driver.mock.resource.site.respond(head, peer, b"") is not None
    [event] = watch.look()
    [(_, data)] = read([event])
    assert (data["total"], data["skipped"]) == (THOUSANDS, THOUSANDS - ROWS)
    assert len(numbers(data)) == ROWS
    assert len(event) < ROWS * 1000


def test_counts_stay_exact_beyond_what_the_journal_remembers(driver: Driver) -> None:
    driver.get("/v3/profiles/ada")
    [context] = driver.mock.world.journal
    watch = watching(driver)
    counted = 0
    for burst in (1, 999, 3_000, ROWS):
        for _ in range(burst):
            driver.mock.world.journal.add(context)
        [(_, data)] = read(watch.look())
        counted += data["skipped"] + len(data["requests"])
        assert len(data["requests"]) <= ROWS
    assert counted == data["total"] - 1 == 4_000 + ROWS


@pytest.mark.parametrize(
    ("method", "path", "body", "name"),
    [
        ("PUT", "/clock", {"frozen": True}, "clock"),
        ("POST", "/faults", {"status": 503}, "faults"),
        ("PATCH", "/choices", {"rate-limits": "off"}, "choices"),
        ("PUT", "/limits/ada", {"limit": 3}, "limits"),
        ("POST", "/tokens", {"person": "ada"}, "changes"),
        ("POST", "/worlds", None, "worlds"),
        ("POST", "/reset", None, "changes"),
        ("DELETE", "/requests", None, "forgotten"),
    ],
)
def test_each_change_of_the_world_is_reported_once(driver, method, path, body, name) -> None:
    driver.get("/v3/profiles/ada")
    watch = watching(driver)
    driver.admin(method, path, body)
    assert name in [event for event, _ in read(watch.look())]
    assert list(watch.look()) == []


def test_a_fault_is_reported_again_when_it_strikes(driver: Driver) -> None:
    driver.admin("POST", "/faults", {"id": "down", "status": 503})
    watch = watching(driver)
    driver.get("/v3/profiles/ada")
    events = dict(read(watch.look()))
    assert events["faults"]["down"]["struck"] == 1


def test_another_world_is_not_reported(driver: Driver) -> None:
    driver.admin("POST", "/worlds", {"name": "other"})
    watch = watching(driver)
    driver.get("/__world/other/v3/profiles/ada")
    driver.admin("POST", "/tokens", {"person": "ada"}, world="other")
    assert list(watch.look()) == []


def test_a_watch_is_over_when_its_world_ends(driver: Driver) -> None:
    driver.admin("POST", "/worlds", {"name": "short"})
    watch = WorldWatch(driver.mock.worlds.get("short"), driver.mock.worlds)
    list(watch.begin())
    driver.admin("DELETE", "/worlds/short")
    assert read(watch.look()) == [("ended", {"world": "short"})]
    assert watch.is_over


def test_a_stream_may_begin_with_everything_that_is_remembered(driver: Driver) -> None:
    driver.get("/v3/profiles/ada")
    [context] = driver.mock.world.journal
    for _ in range(PAGE + 10):
        driver.mock.world.journal.add(context)
    watch = WorldWatch(driver.mock.world, driver.mock.worlds, 0)
    (_, start), (_, first), (_, second) = read(watch.begin())
    assert start["total"] == PAGE + 11
    assert (len(first["requests"]), len(second["requests"])) == (PAGE, 11)
    assert second["total"] == PAGE + 11


def chunks(driver: Driver, count: int, **arguments: Any) -> list[bytes]:
    """Returns the first chunks of a stream, and closes it."""

    async def reading() -> list[bytes]:
        call = Call(driver.mock.world, "http://127.0.0.1", {})
        admin = AdminContext(driver.mock.worlds, (), lambda: None, {}, ())
        body = stream_events(admin, call, **arguments).body
        seen = [await anext(body) for _ in range(count)]
        assert driver.mock.worlds.open_streams == 1
        await body.aclose()
        return seen

    return asyncio.run(reading())


def test_a_stream_continues_after_the_last_event(driver: Driver) -> None:
    for _ in range(3):
        driver.get("/v3/profiles/ada")
    started = written(driver.mock.worlds.started)
    _, event = chunks(driver, 2, last_event_id=f"{started}/2")
    [(_, data)] = read([event])
    assert numbers(data) == [3]
    assert event.startswith(f"id: {started}/3\n".encode())


def test_a_stream_begins_anew_after_a_restart(driver: Driver) -> None:
    driver.get("/v3/profiles/ada")
    before = written(driver.mock.worlds.started - timedelta(seconds=1))
    start, event = chunks(driver, 2, last_event_id=f"{before}/700")
    assert numbers(read([event])[0][1]) == [1]
    assert f'"started":"{before}"'.encode() not in start


def test_a_closed_stream_leaves_nothing_open(driver: Driver) -> None:
    chunks(driver, 1)
    assert driver.mock.worlds.open_streams == 0
    assert driver.mock.world.journal.listeners == []


def test_an_id_that_no_event_has_is_refused(driver: Driver) -> None:
    status, reason = driver.refused("GET", "/events", headers={"Last-Event-ID": "x/y"})
    assert status == 400
    assert "Last-Event-ID" in reason


def test_streams_beyond_the_limit_are_refused(driver: Driver) -> None:
    driver.mock.worlds.open_streams = EVENT_STREAMS.most
    status, reason = driver.refused("GET", "/events")
    assert status == 503
    assert "event streams" in reason

"""A store that fails is said in one response, nothing stale is, and the replica recovers by itself."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.fleet.test_replicas import code_from, exchange
from tests.mock.admin.conftest import Driver, Time
from tests.store_server import StoreServer, store_server

from understudy.mock.settings import Settings

Replicas = tuple[Driver, Driver]
ZIP = {"Content-Type": "application/zip"}


@pytest.fixture
def durable(tmp_path: Path) -> Iterator[tuple[StoreServer, Driver]]:
    """A replica, and a store that has written each change to its file before it says so."""
    options = ("--appendonly", "yes", "--appendfsync", "always")
    with store_server(tmp_path, *options) as server:
        driver = Driver(Settings(state=server.url()), Time())
        yield server, driver
        driver.end_store()
        driver.close()


def patched(driver: Driver, location: str) -> httpx.Response:
    return driver.ask("PATCH", "/v3/me/profile", json={"location": location}, token="ada-full")


def location(driver: Driver) -> str:
    profile = driver.get("/v3/me/profile", token="ada-full").json()
    return str(profile["location"])


def test_a_store_that_is_gone_is_503_in_the_shape_of_the_api(
    durable: tuple[StoreServer, Driver],
) -> None:
    server, driver = durable
    assert patched(driver, "Kept").status_code == 200
    server.stop()
    response = driver.get("/v3/profiles/ada")
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")
    assert response.json()["code"] == "store_unavailable"
    assert "does not respond" in response.json()["error"]
    assert patched(driver, "Lost").status_code == 503
    assert driver.get("/__admin/health").status_code == 200
    server.start_again()
    assert location(driver) == "Kept"


def test_a_store_that_was_killed_has_every_write_that_was_answered(
    durable: tuple[StoreServer, Driver],
) -> None:
    server, driver = durable
    for number in range(5):
        assert patched(driver, f"Place {number}").status_code == 200
        server.stop()
        server.start_again()
        driver.get("/__admin/health")  # lets the event loop hear that the connection is lost
        assert location(driver) == f"Place {number}"


def test_a_store_that_was_emptied_begins_anew(server: StoreServer, replicas: Replicas) -> None:
    one, other = replicas
    before = location(one)
    patched(one, "Gone")
    one.admin("POST", "/worlds", {"name": "w"})
    assert location(other) == "Gone"
    server.send("FLUSHALL")
    assert location(other) == location(one) == before
    assert one.get("/__world/w/v3/profiles/ada").status_code == 404
    assert other.admin("GET", "/requests")["meta"]["total"] == 3


def test_a_default_world_with_another_identity_is_still_the_one_that_is_served(
    server: StoreServer, replicas: Replicas
) -> None:
    one, other = replicas
    patched(one, "Before")
    assert location(other) == "Before"
    server.send("HSET", "understudy:world:default:about", "id", "another")
    patched(one, "After")
    assert location(other) == "After"
    for driver in replicas:
        assert [it["name"] for it in driver.get("/__admin/worlds").json()] == ["default"]
        assert driver.admin("GET", "/requests")["meta"]["total"] == 4


def test_a_change_that_cannot_be_read_leaves_a_world_that_takes_changes(
    server: StoreServer, replicas: Replicas
) -> None:
    one, other = replicas
    assert location(other) != "Kept"
    patched(one, "Kept")
    changes = "understudy:world:default:changes"
    newest = server.send("LINDEX", changes, -1)
    server.send("LSET", changes, -1, newest[:32] + b"garbage")
    assert other.get("/v3/me/profile", token="ada-full").status_code == 503
    server.send("LSET", changes, -1, newest)
    assert patched(other, "After").status_code == 200
    assert location(one) == location(other) == "After"


def test_generated_names_begin_anew_with_a_store_that_was_emptied(
    server: StoreServer, replicas: Replicas
) -> None:
    one, _ = replicas
    names = []
    for _ in range(2):
        names += [one.admin("POST", "/worlds")["name"], one.admin("POST", "/worlds")["name"]]
        server.send("FLUSHALL")
    assert names == ["w1", "w2", "w1", "w2"]


def test_a_full_store_refuses_and_undoes_the_change(
    server: StoreServer, replicas: Replicas, caplog
) -> None:
    one, other = replicas
    patched(one, "Before")
    server.send("CONFIG", "SET", "maxmemory", "1")
    refused = patched(one, "After")
    server.send("CONFIG", "SET", "maxmemory", "0")
    assert (refused.status_code, refused.json()["code"]) == (507, "insufficient_storage")
    assert "Its memory is used up" in refused.json()["error"]
    assert caplog.messages[-1].endswith("Until then requests get 507.")
    assert location(one) == location(other) == "Before"


def test_a_full_store_takes_a_reset_and_refuses_what_makes_a_world_larger(
    server: StoreServer, replicas: Replicas
) -> None:
    one, other = replicas
    patched(one, "Kept")
    one.admin("POST", "/snapshots", {"name": "mine"})
    capsule = one.get("/__admin/capsule").content
    patched(one, "Now")
    server.send("CONFIG", "SET", "maxmemory", "1")
    restored = one.ask("POST", "/__admin/snapshots/mine/restore")
    opened = one.ask("POST", "/__admin/capsule", content=capsule, headers=ZIP)
    server.send("CONFIG", "SET", "maxmemory", "0")
    assert (restored.status_code, opened.status_code) == (507, 507)
    assert location(one) == location(other) == "Now"
    server.send("CONFIG", "SET", "maxmemory", "1")
    assert one.ask("POST", "/__admin/reset").status_code == 200
    server.send("CONFIG", "SET", "maxmemory", "0")
    assert location(one) == location(other) != "Now"


def test_a_code_that_a_full_store_could_not_exchange_is_still_good(
    server: StoreServer, replicas: Replicas
) -> None:
    one, other = replicas
    code = code_from(one)
    server.send("CONFIG", "SET", "maxmemory", "1")
    assert exchange(one, code).status_code == 507
    server.send("CONFIG", "SET", "maxmemory", "0")
    assert exchange(other, code).status_code == 200


def test_a_store_that_takes_no_writes_is_503(server: StoreServer, replicas: Replicas) -> None:
    one, _ = replicas
    patched(one, "Before")
    server.send("REPLICAOF", "127.0.0.1", "1")
    refused = patched(one, "After")
    server.send("REPLICAOF", "NO", "ONE")
    assert refused.status_code == 503
    assert (
        "refuses: READONLY You can't write against a read only replica" in refused.json()["error"]
    )
    assert ". It is a replica that takes no writes; name the primary." in refused.json()["error"]
    assert location(one) == "Before"


@pytest.mark.parametrize("kind", ["normal", "pubsub"])
def test_a_connection_that_is_cut_is_opened_again(
    server: StoreServer, replicas: Replicas, kind: str
) -> None:
    one, _ = replicas
    patched(one, "Kept")
    assert server.send("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes") > 0
    statuses = [one.get("/v3/me/profile", token="ada-full").status_code for _ in range(2)]
    assert statuses[-1] == 200
    assert server.send("PUBSUB", "CHANNELS") != []
    assert location(one) == "Kept"


def test_scripts_that_the_store_forgot_are_sent_again(
    server: StoreServer, replicas: Replicas
) -> None:
    one, _ = replicas
    patched(one, "Kept")
    server.send("SCRIPT", "FLUSH")
    assert location(one) == "Kept"


def test_an_idle_world_ends_by_the_store_itself(server: StoreServer, replicas: Replicas) -> None:
    one, other = replicas
    one.admin("POST", "/worlds", {"name": "w", "idle_seconds": 60})
    other.get("/__world/w/v3/profiles/ada")
    keys = server.send("KEYS", "understudy:world:w:*")
    assert {0 < server.send("PTTL", key) <= 60_000 for key in keys} == {True}
    server.send("PEXPIRE", "understudy:world:w:about", 0)
    assert one.get("/__world/w/v3/profiles/ada").status_code == 404
    assert other.get("/__world/w/v3/profiles/ada").status_code == 404


GARBAGE = ("", "x", "\x81" * 40, "-1", "9" * 400)


@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_in_any_field_of_the_store_is_503_and_never_a_failure(
    server: StoreServer, replicas: Replicas, garbage: str
) -> None:
    one, other = replicas
    patched(one, "Before")
    one.admin("POST", "/worlds", {"name": "w"})
    one.admin("POST", "/snapshots", {"name": "kept"})
    statuses = set()
    for key in server.send("KEYS", "understudy:*"):
        if server.send("TYPE", key) != b"hash":
            continue
        for field in server.send("HKEYS", key):
            before = server.send("HGET", key, field)
            server.send("HSET", key, field, garbage)
            patched(one, "Meanwhile")
            for path in ("/__admin/ready", "/__admin/worlds", "/__world/w/v3/profiles/ada"):
                statuses.add(other.get(path).status_code)
            server.send("HSET", key, field, before)
    assert statuses <= {200, 404, 503}
    assert 503 in statuses
    server.send("FLUSHALL")
    assert other.get("/__admin/ready").json() == {"status": "ready"}


def test_a_replica_without_its_store_is_healthy_and_not_ready(
    durable: tuple[StoreServer, Driver],
) -> None:
    server, driver = durable
    assert driver.get("/__admin/ready").status_code == 200
    server.stop()
    assert driver.get("/__admin/health").status_code == 200
    assert driver.get("/__admin/ready").status_code == 503
    server.start_again()

"""What is used of rate limits is a row for each window, which lasts as long as the window."""

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest
from tests.mock.admin.conftest import START

from understudy.mock.server.windows import Window
from understudy.mock.store.sqlite import FILE, SqliteStore


def test_a_counted_request_writes_as_much_beside_10_000_windows_as_beside_none(
    started, tmp_path: Path
) -> None:
    driver = started()
    world = driver.mock.world
    world.windows.update({f"address {n}": Window(world.clock.now(), 1) for n in range(10_000)})
    world.note_windows(world.windows)
    driver.get("/v3/profiles/ada")
    log = tmp_path / f"{FILE}-wal"
    before = log.stat().st_size
    driver.get("/v3/profiles/ada")
    page = 24 + 4096  # with its header in the log
    assert before > 100 * page
    assert 0 < log.stat().st_size - before <= 2 * page
    assert len(started().mock.world.windows) == 10_001


def test_closed_windows_leave_the_database_while_others_open(started) -> None:
    driver = started()
    for address in ("10.0.0.1", "10.0.0.2"):
        driver.get("/v3/profiles/ada", client=(address, 1))
    driver.admin("POST", "/clock/advance", {"seconds": 3600})
    driver.get("/v3/profiles/ada", client=("10.0.0.3", 1))
    assert list(started().mock.world.windows) == ["address 10.0.0.3"]


def test_windows_come_back_in_the_order_they_opened(started) -> None:
    driver, hosts = started(), ("10.0.0.9", "10.0.0.1", "10.0.0.5")
    for host in hosts:
        driver.get("/v3/profiles/ada", client=(host, 1))
        driver.admin("POST", "/clock/advance", {"seconds": 1})
    assert list(started().mock.world.windows) == [f"address {host}" for host in hosts]


def test_what_counts_in_a_world_that_has_ended_is_no_row_of_its_successor(started) -> None:
    driver = started()
    driver.admin("POST", "/worlds", {"name": "w"})
    ended = driver.mock.worlds.get("w")
    driver.admin("DELETE", "/worlds/w")
    driver.admin("POST", "/worlds", {"name": "w"})
    ended.note_windows(("ada", *ended.windows.keep("ada", Window(START, 5))))
    ended.note_fault_use()
    driver.admin("POST", "/snapshots", {"name": "commits"})
    assert started().mock.worlds.get("w").windows == {}


def test_worlds_that_are_due_to_end_do_not_hinder_the_undoing_of_a_write(
    started, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, names = started(), [f"w{number}" for number in range(8)]
    for name in names:
        driver.admin("POST", "/worlds", {"name": name, "idle_seconds": 60})

    def fail(_store: SqliteStore) -> None:
        msg = "database or disk is full"
        raise sqlite3.OperationalError(msg)

    monkeypatch.setattr(SqliteStore, "_write", fail)
    for name in names:
        driver.get(f"/__world/{name}/v3/profiles/ada")
    later = START + timedelta(days=9_000)
    monkeypatch.setattr("understudy.mock.server.world_selection.machine_time", lambda: later)
    edit = {"location": "Lost"}
    assert driver.ask("PATCH", "/v3/me/profile", json=edit, token="ada-full").status_code == 507
    assert driver.get("/v3/me/profile", token="ada-full").json()["location"] != "Lost"

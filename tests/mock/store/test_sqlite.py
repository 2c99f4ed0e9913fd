"""What is kept in the database comes back, and what is no such database is refused."""

import sqlite3
from pathlib import Path

import pytest
from tests.mock.admin.conftest import AUTHORIZATION, Driver, Time

from understudy.errors import StartupError
from understudy.mock.authserver.throttling import FAILURES
from understudy.mock.settings import Settings
from understudy.mock.store.sqlite import FILE, SqliteStore


@pytest.fixture
def started(tmp_path: Path):
    """Starts a mock on the same directory, after the one before it has let go."""
    drivers: list[Driver] = []

    def start() -> Driver:
        if drivers:
            end(drivers[-1])
        drivers.append(Driver(Settings(state=tmp_path), Time()))
        return drivers[-1]

    def end(driver: Driver) -> None:
        store = driver.mock.worlds.store
        assert isinstance(store, SqliteStore)
        store.close()
        driver.close()

    yield start
    end(drivers[-1])


def test_everything_that_was_answered_is_there_again(started) -> None:
    driver = started()
    driver.admin("POST", "/worlds", {"name": "w", "people": ["ada"], "seed": 4})
    me = "/__world/w/v3/me/profile"
    driver.ask("PATCH", me, json={"location": "Kept"}, token="ada-full")
    token = driver.admin("POST", "/tokens", {"person": "ada"}, world="w")["token"]
    driver.admin("PUT", "/clock", {"now": "2030-01-01T00:00:00Z", "frozen": True}, world="w")
    driver.admin("POST", "/faults", {"operation": "getQrCode", "status": 503}, world="w")
    driver.admin("PATCH", "/choices", {"private-profile-lookup": "404"}, world="w")
    driver.admin("POST", "/snapshots", {"name": "kept"}, world="w")
    driver.get("/v3/profiles/ada")

    again = started()
    assert again.get(me, token=token).json()["location"] == "Kept"
    assert again.get("/__world/w/v3/profiles/ben").status_code == 404
    assert again.admin("GET", "/clock", world="w")["now"] == "2030-01-01T00:00:00.000Z"
    assert again.get("/__world/w/v3/qr-code/ada").status_code == 503
    assert again.admin("GET", "/snapshots")[0]["name"] == "kept"
    assert again.get("/v3/profiles/ada").headers["x-ratelimit-remaining"] == "98"
    assert again.admin("POST", "/tokens", {"person": "ada"}, world="w")["token"] != token
    assert again.admin("POST", "/reset", world="w")["changes"] == 0


def test_what_was_removed_stays_removed(started) -> None:
    driver = started()
    driver.admin("POST", "/worlds", {"name": "w"})
    driver.admin("DELETE", "/worlds/w")
    driver.admin("DELETE", "/tokens?token=ben-full")
    driver.admin("POST", "/snapshots", {"name": "s"})
    driver.admin("DELETE", "/snapshots/s")
    again = started()
    assert [world["name"] for world in again.admin("GET", "/worlds")] == ["default"]
    assert again.get("/v3/me/profile", token="ben-full").status_code == 401
    assert again.admin("GET", "/snapshots") == []


def test_a_restart_takes_no_wrong_guess_back(started) -> None:
    form = {"grant_type": "password", "client_id": "server-app", "client_secret": "wrong"}

    def guess(driver: Driver) -> int:
        return driver.ask("POST", f"{AUTHORIZATION}/oauth2/token", data=form).status_code

    first = started()
    assert [guess(first) for _ in range(FAILURES)] == [401] * FAILURES
    assert guess(started()) == 429


def test_worlds_that_are_made_later_get_other_names(started) -> None:
    started().admin("POST", "/worlds")
    assert started().admin("POST", "/worlds")["name"] == "w2"


def test_two_mocks_cannot_keep_their_worlds_in_one_place(started, tmp_path: Path) -> None:
    started()
    with pytest.raises(StartupError, match="Does another mock use it"):
        SqliteStore(tmp_path, (), {})


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("a letter to a friend " * 100)
    with pytest.raises(StartupError, match="is no database"):
        SqliteStore(tmp_path, (), {})


def test_a_database_of_another_version_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("PRAGMA user_version = 77")
    database.close()
    with pytest.raises(StartupError, match="another version"):
        SqliteStore(tmp_path, (), {})


def test_a_directory_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StartupError, match="--state"):
        SqliteStore(tmp_path / "file" / "state", (), {})

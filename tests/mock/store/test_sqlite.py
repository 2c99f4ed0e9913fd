"""What is kept in the database comes back, and what is no such database is refused."""

import json
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.mock.admin.conftest import AUTHORIZATION, START, Driver, Time
from tests.mock.store.conftest import end_store, written

from understudy.errors import StartupError
from understudy.mock.authserver.accounts import FAILURES
from understudy.mock.settings import Settings
from understudy.mock.store.sqlite import FILE, SqliteStore
from understudy.mock.store.tokens import TOKENS, Token


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


def test_what_is_restored_is_no_change_of_the_first_request(started) -> None:
    me = "/v3/me/profile"
    started().ask("PATCH", me, json={"location": "Kept"}, token="ada-full")
    again = started()
    again.get("/v3/profiles/ada")
    assert again.admin("GET", "/changes") == {"changes": [], "total": 0, "reaches": 1}
    again.ask("PATCH", me, json={"location": "Other"}, token="ada-full")
    again.admin("POST", "/changes/rewind", {"request": 2})
    assert again.get("/v3/profiles/ada").json()["location"] == "Kept"


def test_what_was_removed_stays_removed(started) -> None:
    driver = started()
    driver.admin("POST", "/worlds", {"name": "w"})
    driver.admin("DELETE", "/worlds/w")
    driver.admin("DELETE", "/tokens?token=ben-full")
    driver.admin("POST", "/snapshots", {"name": "s"})
    driver.admin("DELETE", "/snapshots/s")
    driver.get("/v3/profiles/ada")
    driver.admin("DELETE", "/limits/anonymous")
    again = started()
    assert again.mock.world.windows == {}
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
        SqliteStore(tmp_path, {})


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("a letter to a friend " * 100)
    with pytest.raises(StartupError, match="is not a database"):
        SqliteStore(tmp_path, {})


def test_a_database_of_another_version_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        database.execute("PRAGMA user_version = 77")
    database.close()
    with pytest.raises(StartupError, match="another version"):
        SqliteStore(tmp_path, {})


def test_a_directory_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StartupError, match="--state"):
        SqliteStore(tmp_path / "file" / "state", {})


@pytest.fixture
def damaged(started, tmp_path: Path):
    """Two worlds were kept, and then a row was damaged."""

    def damage(statement: str, *values: object) -> None:
        driver = started()
        for name in ("sound", "broken"):
            driver.admin("POST", "/worlds", {"name": name})
            path = f"/__world/{name}/v3/me/profile"
            driver.ask("PATCH", path, json={"location": name}, token="ada-full")
        end_store(driver)
        written(tmp_path, statement, *values)

    return damage


DAMAGES = {
    "settings that are none": ("UPDATE worlds SET settings = ? WHERE name = 'broken'", b"\xc1"),
    "a float for a seed": (
        "UPDATE worlds SET settings = ? WHERE name = 'broken'",
        msgspec.msgpack.encode({"clock": None, "seed": 7.5, "issued": 0}),
    ),
    "a record that is none": ("UPDATE records SET record = ? WHERE world = 'broken'", b"garbage"),
    "an unknown collection": ("INSERT INTO records VALUES ('broken', 'sheep', 'a', ?)", b"\xa1a"),
    "a world of no name": ("UPDATE worlds SET name = ? WHERE name = 'broken'", "No Name"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_row_is_named_in_one_line(damaged, tmp_path: Path, damage) -> None:
    damaged(*damage)
    with pytest.raises(StartupError, match="cannot be read, first") as refusal:
        Driver(Settings(state=tmp_path), Time())
    assert "\n" not in str(refusal.value)
    assert "broken" in str(refusal.value) or "No Name" in str(refusal.value)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_repair_starts_the_sound_worlds_and_deletes_nothing(
    damaged, tmp_path: Path, damage
) -> None:
    damaged(*damage)
    for number in range(2):
        driver = Driver(Settings(state=tmp_path, state_repair=number == 0), Time())
        place = driver.get("/__world/sound/v3/me/profile", token="ada-full").json()["location"]
        assert place == "sound"
        end_store(driver)
        driver.close()
    lines = (tmp_path / "worlds.broken-1.jsonl").read_text().splitlines()
    assert all(json.loads(line)["reason"] for line in lines)


def test_a_file_that_is_no_database_is_set_aside_by_a_repair(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("a letter to a friend " * 100)
    SqliteStore(tmp_path, {}, is_repair=True).close()
    assert (tmp_path / "worlds.broken-1.sqlite").read_text().startswith("a letter")


def test_the_database_of_another_program_is_refused(tmp_path: Path) -> None:
    written(tmp_path, "CREATE TABLE worlds (size INTEGER)")
    with pytest.raises(
        StartupError, match="not a database of understudy: it has the tables worlds"
    ):
        SqliteStore(tmp_path, {})


@pytest.fixture
def full(started, monkeypatch) -> Driver:
    """A mock whose disk has just become full."""
    driver: Driver = started()
    driver.admin("POST", "/worlds", {"name": "w"})

    def fail(_store: SqliteStore) -> None:
        msg = "database or disk is full"
        raise sqlite3.OperationalError(msg)

    monkeypatch.setattr(SqliteStore, "_write", fail)
    return driver


def test_a_change_that_cannot_be_kept_is_507_and_undone(full: Driver) -> None:
    before = full.get("/v3/me/profile", token="ada-full").json()
    refused = full.ask("PATCH", "/v3/me/profile", json={"location": "Lost"}, token="ada-full")
    assert (refused.status_code, refused.json()["code"]) == (507, "insufficient_storage")
    assert full.get("/v3/me/profile", token="ada-full").json() == before


def test_reads_go_on_while_nothing_can_be_kept(full: Driver) -> None:
    assert full.get("/v3/profiles/ada").status_code == 200
    assert full.get("/__world/w/v3/profiles/ada").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/worlds", {"name": "new"}),
        ("DELETE", "/worlds/w", None),
        ("POST", "/snapshots", {"name": "s"}),
        ("POST", "/reset", None),
    ],
)
def test_worlds_and_snapshots_stay_as_they_were_while_nothing_can_be_kept(
    full: Driver, method: str, path: str, body
) -> None:
    assert full.refused(method, path, body)[0] == 507
    assert [world["name"] for world in full.admin("GET", "/worlds")] == ["default", "w"]
    assert full.admin("GET", "/snapshots") == []


def test_a_record_that_could_not_be_read_back_is_refused_before_it_is_stored(started) -> None:
    world = started().mock.worlds.default
    unreadable = Token("t", "ada", scopes=(7,))  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ValueError, match="str"):
        world.put(TOKENS, "t", unreadable)
    assert world.get(TOKENS, "t") is None


@given(
    seed=st.integers(-(2**53), 2**53),
    used=st.integers(0, 10**9),
    limit=st.integers(0, 10**9),
    days=st.integers(-19_000, 2_000_000),
)
@settings(
    max_examples=4,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_whatever_is_accepted_is_there_after_a_restart(started, seed, used, limit, days) -> None:
    driver = started()
    instant = (START + timedelta(days=days)).isoformat()
    world = driver.admin("POST", "/worlds", {"seed": float(seed)})
    driver.admin(
        "PUT", "/limits/ada", {"used": float(used), "limit": float(limit)}, world=world["name"]
    )
    driver.admin("PUT", "/clock", {"now": instant, "frozen": True}, world=world["name"])
    kept = driver.admin("GET", f"/worlds/{world['name']}")
    assert started().admin("GET", f"/worlds/{world['name']}") == kept


def test_a_change_is_refused_once_the_directory_is_gone(started, tmp_path: Path) -> None:
    driver = started()
    elsewhere = tmp_path.rename(tmp_path.with_name(f"{tmp_path.name}-elsewhere"))
    refused = driver.ask("PATCH", "/v3/me/profile", json={"location": "Lost"}, token="ada-full")
    assert (refused.status_code, "deleted or replaced" in refused.json()["error"]) == (507, True)
    assert driver.get("/v3/me/profile", token="ada-full").json()["location"] != "Lost"
    unready = driver.get("/__admin/ready")
    assert (unready.status_code, "deleted or replaced" in unready.json()["detail"]) == (503, True)
    elsewhere.rename(tmp_path)
    assert driver.get("/__admin/ready").status_code == 200
    kept = driver.ask("PATCH", "/v3/me/profile", json={"location": "Kept"}, token="ada-full")
    assert kept.status_code == 200


@pytest.mark.parametrize("is_missing", [True, False])
def test_a_log_without_its_database_is_refused_and_set_aside_by_a_repair(
    tmp_path: Path, is_missing: bool
) -> None:
    if not is_missing:
        (tmp_path / FILE).touch()
    log = tmp_path / f"{FILE}-wal"
    log.write_bytes(b"worlds")
    with pytest.raises(StartupError, match=r"empty or missing.*Restore both files"):
        SqliteStore(tmp_path, {})
    assert log.read_bytes() == b"worlds"
    SqliteStore(tmp_path, {}, is_repair=True).close()
    assert (tmp_path / "worlds.broken-1.sqlite-wal").read_bytes() == b"worlds"


def test_a_copy_of_the_database_without_its_log_is_refused(tmp_path: Path) -> None:
    running, copied = tmp_path / "running", tmp_path / "copied"
    store = SqliteStore(running, {})
    copied.mkdir()
    (copied / FILE).write_bytes((running / FILE).read_bytes())
    store.close()
    with pytest.raises(StartupError, match=r"sqlite-wal is empty or missing.*Restore both files"):
        SqliteStore(copied, {})
    SqliteStore(copied, {}, is_repair=True).close()
    SqliteStore(copied, {}).close()

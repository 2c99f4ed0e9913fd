"""The history of a world: what requests changed, rewinding, and the difference of two moments."""

import pytest
from tests.mock.admin.conftest import Driver
from tests.mock.service.test_image_processing import picture

from understudy.limits import HISTORY_BYTES
from understudy.mock.server import journal


def locate(driver: Driver, where: str) -> None:
    """Changes a member of a profile."""
    answer = driver.ask("PATCH", "/v3/me/profile", json={"location": where}, token="ada-full")
    assert answer.status_code == 200


def location(driver: Driver) -> str:
    place: str = driver.get("/v3/profiles/ada").json()["location"]
    return place


@pytest.fixture
def edited(driver: Driver) -> Driver:
    """A world in which requests 1 and 3 changed a profile."""
    locate(driver, "One")
    driver.get("/v3/profiles/ben")
    locate(driver, "Three")
    return driver


def test_each_request_that_changed_something_is_listed(edited: Driver) -> None:
    listed = edited.admin("GET", "/changes")
    assert [entry["request"] for entry in listed["changes"]] == [3, 1]
    entry = listed["changes"][0]
    assert entry["call"] == "PATCH /v3/me/profile"
    assert {"collection": "people", "key": "ada", "change": "put"} in entry["records"]
    assert (listed["total"], listed["reaches"]) == (2, 1)


@pytest.mark.parametrize("fork", [{}, {"fork": "default"}], ids=["new", "forked"])
def test_the_history_of_a_new_world_does_not_begin_with_a_lookup(edited: Driver, fork) -> None:
    edited.admin("POST", "/worlds", {"name": "fresh", **fork})
    edited.get("/__world/fresh/v3/profiles/ben")
    assert edited.get("/__world/fresh/__admin/changes").json()["changes"] == []


def test_calls_of_the_admin_api_are_listed_without_a_number(edited: Driver) -> None:
    edited.admin("PUT", "/clock", {"frozen": True})
    [entry] = edited.admin("GET", "/changes?limit=1")["changes"]
    assert (entry["request"], entry["after"], entry["settings"]) == (None, 3, True)
    assert entry["call"] == "PUT /__admin/clock"


@pytest.mark.parametrize(
    ("number", "where"), [(1, "Port Lindry"), (2, "One"), (3, "One"), (4, "Three")]
)
def test_a_world_is_rewound_to_before_a_request(edited: Driver, number: int, where: str) -> None:
    edited.get("/v3/profiles/ben")
    edited.admin("POST", "/changes/rewind", {"request": number})
    assert location(edited) == where


def test_a_rewinding_can_be_undone(edited: Driver) -> None:
    edited.admin("POST", "/changes/rewind", {"request": 1})
    assert location(edited) == "Port Lindry"  # request 4
    edited.admin("POST", "/changes/rewind", {"request": 3})
    assert location(edited) == "One"


def test_rewinding_restores_settings_and_what_the_next_token_is(driver: Driver) -> None:
    driver.get("/v3/profiles/ada")
    before = driver.mock.world.snapshot()
    first = driver.admin("POST", "/tokens", {"person": "ada"})["token"]
    driver.admin("PUT", "/limits/ada", {"limit": 3})
    driver.admin("POST", "/faults", {"status": 503, "operation": "listAvatars"})
    driver.admin("PATCH", "/choices", {"rate-limits": "off"})
    driver.admin("PUT", "/clock", {"frozen": True})
    driver.admin("POST", "/changes/rewind", {"request": 1})
    after = driver.mock.world.snapshot()
    assert after._replace(windows={}, overlay={}) == before._replace(windows={}, overlay={})
    assert driver.ask("GET", "/v3/me/profile", token=first).status_code == 401
    assert driver.admin("POST", "/tokens", {"person": "ada"})["token"] == first


def test_rewinding_gives_back_what_was_used_of_a_rate_limit(driver: Driver) -> None:
    first = driver.get("/v3/profiles/ada").headers
    second = driver.get("/v3/profiles/ada").headers
    driver.get("/v3/profiles/ada")
    driver.admin("POST", "/changes/rewind", {"request": 2})
    again = driver.get("/v3/profiles/ada").headers
    names = [name for name in first if name.startswith("x-ratelimit")]
    assert [again[name] for name in names] == [second[name] for name in names]
    assert first["x-ratelimit-remaining"] != second["x-ratelimit-remaining"]


def test_a_reset_can_be_rewound(edited: Driver) -> None:
    edited.admin("POST", "/reset")
    edited.admin("POST", "/changes/rewind", {"request": 3})
    assert location(edited) == "One"


def test_an_uploaded_picture_goes_with_its_request(driver: Driver) -> None:
    files = {"image": ("new.png", picture(), "image/png")}
    before = len(driver.ask("GET", "/v3/me/avatars", token="ada-full").json())
    assert driver.ask("POST", "/v3/me/avatars", files=files, token="ada-full").is_success
    driver.admin("POST", "/changes/rewind", {"request": 2})
    assert len(driver.ask("GET", "/v3/me/avatars", token="ada-full").json()) == before


def test_the_difference_of_two_moments_shows_records_and_settings(edited: Driver) -> None:
    edited.admin("PATCH", "/choices", {"rate-limits": "off"})
    found = edited.admin("GET", "/changes/difference?before=1")
    [person] = [it for it in found["records"] if it["collection"] == "people"]
    assert person["before"]["profile"]["location"] == "Port Lindry"
    assert person["after"]["profile"]["location"] == "Three"
    assert found["settings"] == [{"name": "choices", "before": {}, "after": {"rate-limits": "off"}}]
    middle = edited.admin("GET", "/changes/difference?before=2&until=3")
    assert middle == {"records": [], "settings": []}


def test_a_request_that_never_was_cannot_be_rewound_to(edited: Driver) -> None:
    status, reason = edited.refused("POST", "/changes/rewind", {"request": 9})
    assert (status, "the last one is 3" in reason) == (404, True)


def test_what_the_history_forgot_is_said(edited: Driver, monkeypatch) -> None:
    monkeypatch.setattr(journal, "MOST_ENTRIES", 1)
    locate(edited, "Four")
    assert edited.admin("GET", "/changes")["reaches"] == 4
    status, reason = edited.refused("POST", "/changes/rewind", {"request": 3})
    assert (status, "begins after request 3" in reason) == (409, True)
    edited.admin("POST", "/changes/rewind", {"request": 4})
    assert location(edited) == "Three"


def test_the_history_keeps_no_more_bytes_than_its_limit(edited: Driver, monkeypatch) -> None:
    monkeypatch.setattr(journal, "HISTORY_BYTES", HISTORY_BYTES._replace(most=1_200))
    locate(edited, "Four")
    assert edited.admin("GET", "/changes")["total"] == 1


def test_a_world_has_no_changes_of_another(edited: Driver) -> None:
    edited.admin("POST", "/worlds", {"name": "other"})
    assert edited.admin("GET", "/changes", world="other")["changes"] == []
    assert edited.get("/__world/other/__admin/changes").status_code == 200


def test_a_fork_begins_with_what_a_world_is_now_and_goes_its_own_way(edited: Driver) -> None:
    edited.admin("POST", "/worlds", {"name": "copy", "fork": "default"})
    assert edited.get("/__world/copy/v3/profiles/ada").json()["location"] == "Three"
    edited.admin("POST", "/reset")
    assert edited.get("/__world/copy/v3/profiles/ada").json()["location"] == "Three"


def test_a_fork_has_no_other_people_than_its_model(edited: Driver) -> None:
    body = {"fork": "default", "people": ["ada"]}
    status, reason = edited.refused("POST", "/worlds", body)
    assert (status, reason.startswith("people: a fork has its own people")) == (400, True)


def test_no_versions_of_a_record_of_very_many_parts_are_kept(edited: Driver, monkeypatch) -> None:
    monkeypatch.setattr(journal, "MOST_PARTS", 1)  # ada has two avatars
    locate(edited, "Four")
    listed = edited.admin("GET", "/changes")
    assert (listed["changes"], listed["reaches"]) == ([], 5)
    assert edited.refused("POST", "/changes/rewind", {"request": 4})[0] == 409
    monkeypatch.undo()
    locate(edited, "Five")
    edited.admin("POST", "/changes/rewind", {"request": 5})
    assert location(edited) == "Four"


def test_members_that_were_never_set_are_left_out_of_the_difference(edited: Driver) -> None:
    found = edited.admin("GET", "/changes/difference?before=1")
    assert "UNSET" not in str(found)

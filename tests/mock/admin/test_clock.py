"""The clock of a world, and what follows it."""

import pytest
from tests.mock.admin.conftest import Driver

WEEKS = 14 * 24 * 3600


def test_a_frozen_clock_stands_still_and_moves_on_demand(driver: Driver, time) -> None:
    said = driver.admin("PUT", "/clock", {"now": "2026-01-01T00:00:00Z", "frozen": True})
    assert said == {"now": "2026-01-01T00:00:00.000Z", "frozen": True, "rate": 0.0}
    time.advance(time.now - time.now.replace(hour=0))
    assert driver.admin("GET", "/clock")["now"] == "2026-01-01T00:00:00.000Z"
    assert (
        driver.admin("POST", "/clock/advance", {"seconds": 90})["now"] == "2026-01-01T00:01:30.000Z"
    )


def test_a_clock_runs_at_a_rate_and_goes_back_to_the_machines_time(driver: Driver, time) -> None:
    driver.admin("PUT", "/clock", {"now": "2026-01-01T00:00:00Z", "rate": 60})
    time.advance(time.now.replace(minute=1) - time.now)
    assert driver.admin("GET", "/clock")["now"] == "2026-01-01T01:00:00.000Z"
    assert driver.admin("DELETE", "/clock")["now"] == "2026-06-01T09:01:00.000Z"


def test_tokens_end_by_the_worlds_clock(driver: Driver) -> None:
    token = driver.admin("POST", "/tokens", {"person": "ada", "expires_in": WEEKS})["token"]
    driver.admin("POST", "/clock/advance", {"seconds": WEEKS - 1})
    assert driver.get("/v3/me/profile", token=token).status_code == 200
    driver.admin("POST", "/clock/advance", {"seconds": 1})
    assert driver.get("/v3/me/profile", token=token).status_code == 401


def test_the_hour_of_a_rate_limit_ends_by_the_worlds_clock(driver: Driver) -> None:
    driver.admin("PUT", "/limits/anonymous", {"used": 100})
    assert driver.get("/v3/profiles/ada").status_code == 429
    driver.admin("POST", "/clock/advance", {"seconds": 3600})
    assert driver.get("/v3/profiles/ada").status_code == 200


def test_dates_in_answers_follow_the_worlds_clock(driver: Driver) -> None:
    driver.admin("PUT", "/clock", {"now": "2031-05-06T07:08:09Z", "frozen": True})
    edited = driver.ask("PATCH", "/v3/me/profile", json={"location": "x"}, token="ada-full").json()
    assert edited["last_profile_edit"] == "2031-05-06T07:08:09Z"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"now": "tomorrow"}, "not a date and time"),
        ({"now": "2026-01-01T00:00:00"}, "end it with Z"),
        ({"frozen": True, "rate": 2}, "leave out one of the two"),
        ({}, "{}"),
    ],
)
def test_what_no_clock_can_show_is_refused(driver: Driver, body, reason) -> None:
    status, detail = driver.refused("PUT", "/clock", body)
    assert status == 400
    assert reason in detail


def test_time_goes_no_further_than_the_last_year(driver: Driver) -> None:
    status, detail = driver.refused("POST", "/clock/advance", {"seconds": 1e12})
    assert (status, "9000" in detail) == (400, True)


@pytest.mark.parametrize(
    "instant", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1969-12-31T23:59:59Z"]
)
def test_a_time_beyond_the_edges_is_refused_and_changes_nothing(driver: Driver, instant) -> None:
    before = driver.admin("GET", "/clock")
    status, detail = driver.refused("PUT", "/clock", {"now": instant})
    assert (status, "1970" in detail) == (400, True)
    assert driver.admin("GET", "/clock") == before
    assert driver.admin("GET", "/worlds")[0]["name"] == "default"

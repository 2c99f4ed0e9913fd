"""Faults are put in force, strike whom they name, and are lifted."""

import pytest
from tests.mock.admin.conftest import Driver

from understudy.mock.server.faults import EFFECTS
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.loader import load

ADA = "/v3/profiles/ada"


def statuses(driver: Driver, count: int, path: str = ADA, **options) -> list[int]:
    return [driver.get(path, **options).status_code for _ in range(count)]


def test_a_fault_strikes_as_often_as_it_says_and_is_told(driver: Driver) -> None:
    driver.admin("POST", "/faults", {"operation": "getProfile", "status": 503, "times": 2})
    struck = driver.get(ADA)
    assert struck.headers["x-mock-fault"] == "fault-1"
    assert struck.json()["code"] == "on_demand"
    assert statuses(driver, 2) == [503, 200]
    assert driver.admin("GET", "/faults/fault-1")["struck"] == 2


def test_a_fault_strikes_its_operation_and_no_other(driver: Driver) -> None:
    driver.admin("POST", "/faults", {"operation": "getQrCode", "status": 500})
    assert statuses(driver, 1) == [200]
    assert statuses(driver, 1, "/v3/qr-code/ada") == [500]


def test_a_fault_strikes_its_person_and_its_header(driver: Driver) -> None:
    driver.admin("POST", "/faults", {"person": "ben", "status": 500})
    driver.admin("POST", "/faults", {"header": {"X-Case": "7"}, "status": 502})
    assert statuses(driver, 1, token="ada-full") == [200]
    assert statuses(driver, 1, token="ben-full") == [500]
    assert statuses(driver, 1, headers={"x-case": "7"}) == [502]


def test_a_field_of_thousands_of_digits_is_refused(driver: Driver) -> None:
    fault = {"effect": "missing-field", "field": "9" * 5000}
    answer = driver.ask("POST", "/__admin/faults", json=fault)
    assert answer.status_code == 400
    assert statuses(driver, 1) == [200]


def test_a_share_of_requests_is_struck_and_the_same_ones_in_each_run(driver: Driver) -> None:
    runs = []
    for name in ("a", "b"):
        driver.admin("POST", "/worlds", {"name": name, "seed": 9})
        driver.admin("POST", "/faults", {"status": 500, "share": 0.3}, world=name)
        runs.append(statuses(driver, 60, f"/__world/{name}{ADA}"))
    assert runs[0] == runs[1]
    assert 8 <= runs[0].count(500) <= 30


def test_a_429_on_demand_has_its_headers(driver: Driver) -> None:
    driver.admin("POST", "/faults", {"operation": "getProfile", "status": 429})
    answer = driver.get(ADA)
    assert answer.status_code == 429
    assert answer.headers["x-ratelimit-remaining"] == "0"
    assert int(answer.headers["x-ratelimit-reset"]) > 0


def test_a_write_is_carried_out_and_then_answered_500(driver: Driver) -> None:
    driver.admin("POST", "/faults", {"operation": "updateOwnProfile", "effect": "fail-after"})
    answer = driver.ask("PATCH", "/v3/me/profile", json={"location": "Here"}, token="ada-full")
    assert answer.status_code == 500
    assert answer.headers["content-security-policy"] == "sandbox"
    assert driver.get(ADA).json()["location"] == "Here"


def test_a_stale_field_shows_what_stood_there_before_any_write(driver: Driver) -> None:
    driver.ask("PATCH", "/v3/me/profile", json={"location": "Here"}, token="ada-full")
    driver.admin("POST", "/faults", {"effect": "stale-field", "field": "location", "times": 1})
    assert driver.get(ADA).json()["location"] == "Port Lindry"
    assert driver.get(ADA).json()["location"] == "Here"


@pytest.mark.parametrize(
    ("effect", "field", "came"),
    [
        ("missing-field", "display_name", lambda said: "display_name" not in said),
        (
            "missing-field",
            "verified_accounts.0.url",
            lambda said: "url" not in said["verified_accounts"][0],
        ),
        ("null-field", "display_name", lambda said: said["display_name"] is None),
        ("wrong-type", "display_name", lambda said: isinstance(said["display_name"], int)),
        ("extra-field", "display_name", lambda said: said["x_unexpected"] is True),
    ],
)
def test_an_answer_breaks_the_schema_in_a_named_way(driver: Driver, effect, field, came) -> None:
    driver.admin("POST", "/faults", {"effect": effect, "field": field})
    assert came(driver.get(ADA).json())


def test_an_effect_that_finds_nothing_to_strike_is_told(driver: Driver) -> None:
    driver.admin("POST", "/faults", {"effect": "missing-field", "field": "nothing"})
    answer = driver.get(ADA)
    assert answer.status_code == 200
    assert "there is no 'nothing' in the response" in answer.headers["x-mock-note"]


def test_faults_are_listed_shown_and_lifted(driver: Driver) -> None:
    driver.admin("POST", "/faults", {"id": "slow", "delay": {"milliseconds": 1}})
    driver.admin("POST", "/faults", {"status": 500})
    assert [fault["id"] for fault in driver.admin("GET", "/faults")] == ["slow", "fault-2"]
    driver.admin("DELETE", "/faults/fault-2")
    assert statuses(driver, 1) == [200]
    driver.admin("DELETE", "/faults")
    assert driver.admin("GET", "/faults") == []


def test_no_fault_strikes_the_admin_api(driver: Driver) -> None:
    driver.admin("POST", "/faults", {"status": 500})
    assert driver.admin("GET", "/health") == {"status": "healthy"}


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({"operation": "getProfle", "status": 500}, 400, "did you mean 'getProfile'?"),
        ({"person": "adda", "status": 500}, 400, "did you mean 'ada'?"),
        ({"effect": "rest"}, 400, "effect"),
        ({"effect": "missing-field"}, 400, "name it"),
        ({"operation": "getProfile"}, 400, "does nothing"),
        ({"status": 99}, 400, "status"),
    ],
)
def test_what_is_no_fault_is_refused(driver: Driver, body, status, reason) -> None:
    code, detail = driver.refused("POST", "/faults", body)
    assert code == status
    assert reason in detail
    assert driver.admin("GET", "/faults") == []


def test_an_id_is_given_once_and_an_unknown_one_is_told(driver: Driver) -> None:
    driver.admin("POST", "/faults", {"id": "late", "status": 500})
    assert driver.refused("POST", "/faults", {"id": "late", "status": 500})[0] == 409
    status, detail = driver.refused("GET", "/faults/lat")
    assert (status, "did you mean 'late'?" in detail) == (404, True)


def test_the_document_lists_every_kind_of_fault() -> None:
    document = load(openapi_directory() / "admin.yaml")
    effect = document.root.child(
        "components", "schemas", "NewFault", "properties", "effect", "enum"
    )
    assert effect is not None
    assert effect.value == list(EFFECTS)


def test_a_number_instead_of_an_object_is_refused_with_its_members(driver: Driver) -> None:
    members = "type, milliseconds, lower, upper, median, sigma"
    expected = f'delay: -1 is not of type "object". Its members are {members}.'
    assert driver.refused("POST", "/faults", {"delay": -1}) == (400, expected)

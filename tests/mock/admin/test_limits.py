"""Rate limits, readings, tokens, and the report of what was exercised."""

import pytest
from tests.mock.admin.conftest import AUTHORIZATION, Driver


def test_a_limit_is_lowered_for_a_person(driver: Driver) -> None:
    driver.admin("PUT", "/limits/ada", {"limit": 1})
    answers = [driver.get("/v3/profiles/ben", token="ada-full") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]
    assert answers[1].headers["x-ratelimit-limit"] == "1"
    assert driver.get("/v3/profiles/ben", token="ben-full").status_code == 200


def test_a_limit_is_used_up_and_cleared(driver: Driver) -> None:
    driver.admin("PUT", "/limits/ada", {"used": 1000})
    assert driver.get("/v3/profiles/ben", token="ada-full").status_code == 429
    driver.admin("DELETE", "/limits/ada")
    assert (
        driver.get("/v3/profiles/ben", token="ada-full").headers["x-ratelimit-remaining"] == "999"
    )


def test_everybody_without_a_token_is_limited_by_one_name(driver: Driver) -> None:
    driver.get("/v3/profiles/ada")
    driver.admin("PUT", "/limits/anonymous", {"used": 100})
    assert driver.get("/v3/profiles/ada").status_code == 429
    listed = {limit["principal"]: limit["used"] for limit in driver.admin("GET", "/limits")}
    assert listed == {"address 127.0.0.1": 100}
    driver.admin("DELETE", "/limits/anonymous")
    assert driver.get("/v3/profiles/ada").status_code == 200


def test_failed_attempts_are_no_rate_limited_principals(driver: Driver) -> None:
    wrong = {"grant_type": "password", "username": "ada", "password": "wrong"}
    for secret in ("wrong", "server-app-secret"):
        form = {**wrong, "client_id": "server-app", "client_secret": secret}
        assert driver.ask("POST", f"{AUTHORIZATION}/oauth2/token", data=form).is_client_error
    driver.get("/v3/profiles/ada")
    listed = [limit["principal"] for limit in driver.admin("GET", "/limits")]
    assert listed == ["address 127.0.0.1"]


def test_nobody_that_is_not_there_can_be_limited(driver: Driver) -> None:
    status, detail = driver.refused("PUT", "/limits/adda", {"limit": 1})
    assert (status, "did you mean 'ada'?" in detail) == (404, True)


def test_choices_are_listed_and_changed(driver: Driver) -> None:
    listed = {choice["name"]: choice for choice in driver.admin("GET", "/choices")}
    assert listed["rate-limits"]["option"] == "on"
    changed = driver.admin("PATCH", "/choices", {"rate-limits": "off"})
    assert {c["name"]: c["option"] for c in changed}["rate-limits"] == "off"
    assert "x-ratelimit-limit" not in driver.get("/v3/profiles/ada").headers
    status, detail = driver.refused("PATCH", "/choices", {"rate-limits": "of"})
    assert (status, "did you mean 'off'?" in detail) == (400, True)


def test_a_token_is_made_for_a_person_with_scopes_and_ended(driver: Driver) -> None:
    made = driver.admin("POST", "/tokens", {"person": "ada", "scopes": ["auth"]})
    token = made["token"]
    assert driver.get("/v3/me/profile", token=token).status_code == 403
    driver.admin("DELETE", "/tokens", params={"token": token})
    assert driver.get("/v3/me/profile", token=token).status_code == 401
    key = driver.admin("POST", "/tokens", {"person": "ada", "kind": "api_key"})
    assert key["scopes"] == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"person": "adda"}, "did you mean 'ada'?"),
        ({"person": "ada", "scopes": ["outh"]}, "did you mean 'auth'?"),
        ({}, "person"),
    ],
)
def test_what_no_token_can_be_made_of_is_refused(driver: Driver, body, reason) -> None:
    status, detail = driver.refused("POST", "/tokens", body)
    assert (status, reason in detail) == (400, True)


def parts(driver: Driver, operation: str, **query: str) -> dict[str, bool]:
    report = driver.admin("GET", "/exercised", params=query)
    (found,) = [each for each in report["operations"] if each["operation"] == operation]
    said: dict[str, bool] = found["parts"]
    return said


def test_what_was_exercised_is_told_by_operation_status_and_identity(driver: Driver) -> None:
    driver.get("/v3/profiles/ada")
    driver.get("/v3/profiles/nobody", token="ada-full")
    said = parts(driver, "getProfile")
    used = {part for part, is_used in said.items() if is_used}
    assert used == {"status 200", "status 404", "as anonymous", "as oauth"}
    assert not any(parts(driver, "getQrCode").values())


def test_worlds_that_have_ended_count_where_all_are_asked_for(driver: Driver) -> None:
    world = driver.admin("POST", "/worlds")
    driver.get(f"{world['base_url']}/profiles/ada")
    driver.admin("DELETE", f"/worlds/{world['name']}")
    assert not parts(driver, "getProfile")["status 200"]
    assert parts(driver, "getProfile", worlds="all")["status 200"]


def test_a_threshold_is_reached_or_not(driver: Driver) -> None:
    assert driver.admin("GET", "/exercised?threshold=0")["reached"] is True
    assert driver.admin("GET", "/exercised?threshold=0.5")["reached"] is False

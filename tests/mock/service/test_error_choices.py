"""Statuses and codes of errors that the interface leaves open are those of the switches."""

import pytest
from tests.mock.service.test_image_processing import picture

UNKNOWN = "/v3/me/avatars/no-such-avatar"


def chosen(error: str) -> dict[str, str]:
    return {"X-Mock-Choose": f"unknown-avatar-error={error}"}


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [("410 gone", 410, "gone"), ("422", 422, None), ("404 not-found.2", 404, "not-found.2")],
)
def test_a_refusal_has_the_status_and_code_that_were_chosen(ask, error, status, code):
    refusal = ask("DELETE", UNKNOWN, "ada-full", headers=chosen(error))
    assert (refusal.status_code, refusal.json().get("code")) == (status, code)
    assert "no-such-avatar" in refusal.json()["error"]


def test_another_refusal_keeps_its_own(ask):
    refusal = ask("DELETE", UNKNOWN, headers=chosen("410 gone"))
    assert (refusal.status_code, refusal.json().get("code")) == (401, None)


@pytest.mark.parametrize(
    ("switch", "error"),
    [("missing-token-error", "401 no_token"), ("upload-size-error", "400 too_big")],
)
def test_refusals_without_a_code_of_their_own_can_be_chosen_too(ask, switch, error):
    headers = {"X-Mock-Choose": f"{switch}={error}, upload-largest=100000"}
    files = {"data": ("padded.png", picture() + bytes(100_000), "image/png")}
    token = None if switch == "missing-token-error" else "ada-full"
    refusal = ask("POST", "/v3/me/avatars", token, files=files, headers=headers)
    assert f"{refusal.status_code} {refusal.json()['code']}" == error


@pytest.mark.parametrize("error", ["200 gone", "410 two words", "gone", "410 2", "410  gone", ""])
def test_an_error_that_the_switch_does_not_take_is_refused_with_those_that_it_takes(ask, error):
    refusal = ask("DELETE", UNKNOWN, "ada-full", headers=chosen(error))
    assert refusal.status_code == 400
    assert "404 or 400 or 403 or 410 or 422, and after a space the error code" in refusal.text


@pytest.mark.parametrize(
    ("body", "expected"), [({"title": "none"}, "422 no_such"), ({"rating": 1}, "409 wrong")]
)
def test_a_member_that_does_not_exist_and_a_wrong_value_are_refused_each_in_its_way(
    ask, body, expected
):
    own = ask("GET", "/v3/me/avatars", "ada-full").json()[0]["image_id"]
    switches = "unknown-member-error=422 no_such, invalid-member-error=409 wrong"
    headers = {"X-Mock-Choose": f"{switches}, unknown-profile-members=ignore"}
    refusal = ask("PATCH", f"/v3/me/avatars/{own}", "ada-full", json=body, headers=headers)
    assert f"{refusal.status_code} {refusal.json()['code']}" == expected

"""Advice on what a client could do better, even where its requests succeed."""

from datetime import timedelta

import pytest
from tests.mock.authserver.conftest import CHALLENGE, EXCHANGE, RESOURCE, VERIFIER


def problems(browser, client_id: str = "server-app") -> set[str]:
    advice = browser.get(f"/__admin/applications/{client_id}/advice").json()
    return {entry["problem"] for entry in advice}


def test_a_careful_client_gets_no_advice(browser):
    code = browser.code(code_challenge=CHALLENGE, code_challenge_method="S256")
    form = {**EXCHANGE, "code": code, "code_verifier": VERIFIER}
    browser.me(browser.post("/oauth2/token", data=form).json()["access_token"])
    assert problems(browser) == set()


def test_no_state_and_no_pkce_are_noted(browser):
    browser.authorize(state=None)
    assert {"no-state", "no-pkce"} <= problems(browser)


def test_a_secret_from_a_browser_is_noted(browser):
    form = {**EXCHANGE, "code": browser.code()}
    browser.post("/oauth2/token", data=form, headers={"Origin": "http://127.0.0.1:3000"})
    assert "secret-in-browser" in problems(browser)


def test_a_token_in_a_query_is_noted(browser):
    token = browser.token()
    answer = browser.get(f"{RESOURCE}/v3/me/profile", params={"access_token": token})
    assert answer.status_code == 401
    assert "token-in-query" in problems(browser)


def test_scopes_that_no_call_needed_are_noted_once_the_token_is_used(browser):
    scopes = {"scope[0]": "auth", "scope[1]": "avatar-profile:read"}
    token = browser.token(**scopes, **{"scope[2]": "avatar-profile:manage"})
    assert "scope-unused" not in problems(browser)
    browser.me(token)
    entries = browser.get("/__admin/applications/server-app/advice").json()
    advice = {entry["problem"]: entry["advice"] for entry in entries}["scope-unused"]
    assert advice.endswith("Unused: avatar-profile:manage.")


def test_a_client_that_goes_on_after_a_429_is_noted(browser):
    token = browser.token()
    headers = {"Authorization": f"Bearer {token}"}
    statuses = [
        browser.get(f"{RESOURCE}/v3/profiles/ben", headers=headers).status_code for _ in range(1001)
    ]
    assert statuses.count(429) == 1
    assert "rate-limit-ignored" not in problems(browser)
    browser.get(f"{RESOURCE}/v3/profiles/ben", headers=headers)
    assert "rate-limit-ignored" in problems(browser)


@pytest.mark.parametrize("is_exchanged", [True, False])
def test_a_code_that_was_never_exchanged_is_noted_once_it_has_expired(browser, time, is_exchanged):
    code = browser.code()
    if is_exchanged:
        browser.post("/oauth2/token", data={**EXCHANGE, "code": code})
    assert "code-unexchanged" not in problems(browser)
    time.advance(timedelta(minutes=10))
    assert ("code-unexchanged" in problems(browser)) != is_exchanged

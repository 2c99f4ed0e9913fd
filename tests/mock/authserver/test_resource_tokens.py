"""Tokens of the flows at the resource API: when they work, and when no longer."""

from datetime import timedelta

import pytest
from tests.mock.authserver.conftest import PASSWORD, RESOURCE

from understudy.mock.authserver import applications
from understudy.mock.authserver.token_lifecycle import revoke, revoke_all

PROFILE = f"{RESOURCE}/v3/me/profile"
LOOKUP = f"{RESOURCE}/v3/profiles/ada"


def refused(answer, status, error=None):
    """Holds a refusal to RFC 6750, 3: the status and the challenge, with an error or without."""
    assert answer.status_code == status, answer.text
    challenge = answer.headers["www-authenticate"]
    assert challenge.startswith('Bearer realm="')
    assert (f'error="{error}"' in challenge) if error else ("error" not in challenge)
    return challenge


def edit(browser, token):
    headers = {"Authorization": f"Bearer {token}"}
    return browser.patch(PROFILE, json={"job_title": "Cook"}, headers=headers)


def test_a_token_of_each_flow_works_at_once(browser):
    password = browser.post("/oauth2/token", data=PASSWORD).json()["access_token"]
    for token in (browser.token(), browser.implicit_token(), password):
        assert browser.me(token).json()["display_name"] == "Ada Merrowdale"
    assert edit(browser, password).status_code == 200


def test_a_token_speaks_for_who_approved_and_not_for_the_owner(browser):
    hash_of = {
        who: browser.me(browser.token(mock_approve=who)).json()["hash"] for who in ("ada", "ben")
    }
    assert hash_of["ada"] != hash_of["ben"]


def test_a_missing_token_is_a_401_without_an_error(browser):
    refused(browser.get(PROFILE), 401)


@pytest.mark.parametrize(
    "authorization",
    ["Bearer unknown", "Bearer ada-expired", "Bearer ", "Bearer", "Basic YWRhOmFkYQ==", "ada-full"],
)
def test_a_token_that_does_not_count_is_an_invalid_token(browser, authorization):
    for url in (PROFILE, LOOKUP):
        answer = browser.get(url, headers={"Authorization": authorization})
        refused(answer, 401, "invalid_token")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
def test_bearer_may_be_written_in_any_case(browser, scheme):
    assert browser.me("ada-full", scheme).status_code == 200


@pytest.mark.parametrize("name", ["access_token", "token"])
def test_a_token_in_the_query_is_no_token(browser, name):
    refused(browser.get(PROFILE, params={name: "ada-full"}), 401)


def test_a_token_in_the_form_is_no_token(browser):
    refused(browser.patch(PROFILE, data={"access_token": "ada-full"}), 401)


@pytest.mark.parametrize("url", [PROFILE, LOOKUP])
def test_two_authorization_headers_are_refused(browser, url):
    twice = [("Authorization", "Bearer ada-full"), ("Authorization", "Bearer ben-full")]
    refused(browser.get(url, headers=twice), 401, "invalid_request")


def test_an_api_key_opens_nothing_of_its_owner(browser, mock):
    key = applications.register(mock.world, "ada", "Keyed", ())
    found = applications.api_key(mock.world, key)
    assert found is not None
    refused(browser.me(found.token), 401, "invalid_token")
    refused(browser.me("ada-api-key"), 401, "invalid_token")
    headers = {"Authorization": f"Bearer {found.token}"}
    assert browser.get(LOOKUP, headers=headers).headers["x-ratelimit-limit"] == "1000"


@pytest.mark.parametrize(
    ("scopes", "may_read", "may_edit"),
    [
        ("auth", False, False),
        ("auth avatar-profile:read", True, False),
        ("auth avatar-profile:manage", False, True),
        ("auth avatar-profile:read avatar-profile:manage", True, True),
    ],
)
def test_a_scope_that_was_not_granted_is_a_403(browser, scopes, may_read, may_edit):
    token = browser.token(**{"scope[0]": None, "scope[1]": None, "scope": scopes})
    for answer, may in ((browser.me(token), may_read), (edit(browser, token), may_edit)):
        if may:
            assert answer.status_code == 200
        else:
            assert "scope=" in refused(answer, 403, "insufficient_scope")


def test_after_fourteen_days_the_implicit_token_is_dead_and_the_code_token_alive(browser, time):
    implicit, code = browser.implicit_token(), browser.token()
    time.advance(timedelta(days=14, seconds=-1))
    assert browser.me(implicit).status_code == 200
    time.advance(timedelta(seconds=1))
    refused(browser.me(implicit), 401, "invalid_token")
    time.advance(timedelta(days=3650))
    assert browser.me(code).status_code == 200


def test_a_revoked_token_is_dead_at_once(browser, mock):
    token, other = browser.token(), browser.token()
    revoke(mock.world, token)
    refused(browser.me(token), 401, "invalid_token")
    assert browser.me(other).status_code == 200


def test_signing_a_person_out_of_an_application_ends_theirs_and_no_others(browser, mock):
    ada, ben = browser.token(mock_approve="ada"), browser.token(mock_approve="ben")
    revoke_all(mock.world, client_id="server-app", person="ada")
    refused(browser.me(ada), 401, "invalid_token")
    assert browser.me(ben).status_code == 200


def test_deleting_an_application_ends_its_tokens_codes_and_key(browser, mock):
    token, code = browser.token(), browser.code()
    applications.delete(mock.world, applications.find(mock.world, "server-app"))
    refused(browser.me(token), 401, "invalid_token")
    form = {**PASSWORD, "grant_type": "authorization_code", "code": code}
    assert browser.post("/oauth2/token", data=form).json()["error"] == "invalid_client"
    assert browser.authorize().status_code == 400
    assert browser.me("ada-full").status_code == 200


def test_token_info_says_the_same_of_every_token_that_does_not_count(browser, time):
    asked = {"client_id": "server-app", "token": browser.token()}
    assert browser.get("/oauth2/token-info", params=asked).json()["client_id"] == "server-app"
    expired = browser.implicit_token()
    time.advance(timedelta(days=14))
    answers = [
        browser.get("/oauth2/token-info", params={**asked, **changes})
        for changes in (
            {"token": "unknown"},
            {"client_id": "browser-app"},
            {"client_id": "nobody"},
            {"client_id": "browser-app", "token": expired},
        )
    ]
    assert {answer.status_code for answer in answers} == {400}
    assert len({answer.text for answer in answers}) == 1
    for name in asked:
        without = {key: text for key, text in asked.items() if key != name}
        assert (
            browser.get("/oauth2/token-info", params=without).json()["error"] == "invalid_request"
        )

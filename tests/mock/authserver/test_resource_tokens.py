"""Tokens of the flows at the resource API, beside what ``test_oauth_list`` asks of them."""

import pytest
from tests.mock.authserver.conftest import PASSWORD, RESOURCE

from understudy.mock.authserver import applications

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

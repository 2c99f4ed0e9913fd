"""What the grants exchange for a token; what a client sees of it is in ``test_token_endpoint``."""

import pytest
from tests.mock.authserver.conftest import CALLBACK, SERVER

from understudy.errors import BadRequest
from understudy.mock.authserver.approval import approve
from understudy.mock.authserver.authorization_request import (
    AuthorizationRequest,
    OAuthError,
    ReturnAddress,
    error_response,
)
from understudy.mock.authserver.token_endpoint import REMEMBERED, issue_token
from understudy.mock.store.applications import CODES, SPENT_CODES
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import SLUGS_BY_HASH
from understudy.mock.store.tokens import TOKENS

CLIENT = {"client_id": "server-app", "client_secret": "server-secret"}


def approved(world):
    back = ReturnAddress(SERVER, CALLBACK, in_fragment=False, state=None)
    scopes = ("auth", "avatar-profile:read")
    approve(world, AuthorizationRequest(back, "code", scopes, None, "plain"), "ben", {})
    return [key for key, _ in world.items(CODES)][-1]


def exchange(code):
    grant = {"grant_type": "authorization_code", "redirect_uri": CALLBACK, "code": code}
    return {**CLIENT, **grant}


def refused(call, form):
    with pytest.raises(OAuthError) as caught:
        issue_token(call(), body=form)
    return caught.value


def test_only_the_newest_exchanges_are_remembered(call, world):
    oldest = approved(world)
    token = issue_token(call(), body=exchange(oldest)).body["access_token"]
    for _ in range(REMEMBERED):
        last = approved(world)
        issue_token(call(), body=exchange(last))
    assert world.changed(SPENT_CODES) == REMEMBERED
    assert world.changed(CODES) == 0
    assert "unknown" in str(refused(call, exchange(oldest)))
    assert world.get(TOKENS, token) is not None
    assert "exchanged before" in str(refused(call, exchange(last)))


def test_what_the_engine_refuses_has_the_shape_and_status_of_the_rfc():
    answer = error_response(BadRequest("grant_type: given more than once.", code="repeated_field"))
    assert (answer.status, answer.body["error"]) == (400, "invalid_request")
    assert dict(answer.headers)["cache-control"] == "no-store"


@pytest.mark.parametrize("username", ["ada", "ADA ", "ada@example.com"])
def test_the_owner_gets_a_token_for_a_password(call, world, username):
    world.put(SLUGS_BY_HASH, email_hash("ada@example.com"), "ada")
    form = {**CLIENT, "grant_type": "password", "username": username, "password": "ada-password"}
    body = issue_token(call(), body=form).body
    assert body["scope"] == "auth avatar-profile:read avatar-profile:manage"

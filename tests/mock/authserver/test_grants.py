"""What the grants exchange for a token; what a client sees of it is in ``test_token_endpoint``."""

from datetime import timedelta

import pytest
from tests.mock.authserver.conftest import CALLBACK, CHALLENGE, SERVER, VERIFIER

from understudy.errors import BadRequest
from understudy.mock.authserver.approval import approve
from understudy.mock.authserver.authorization_request import AuthorizationRequest, ReturnAddress
from understudy.mock.authserver.grants import REMEMBERED
from understudy.mock.authserver.oauth_errors import OAuthError, error_response
from understudy.mock.authserver.token_endpoint import issue_token
from understudy.mock.store.applications import CODES, SPENT_CODES
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import SLUGS_BY_HASH
from understudy.mock.store.tokens import TOKENS, authenticate

CODE_LIFETIME = timedelta(minutes=10)
CLIENT = {"client_id": "server-app", "client_secret": "server-secret"}


@pytest.fixture
def code(world):
    return approved(world)


def approved(world, challenge=None, method="plain"):
    back = ReturnAddress(SERVER, CALLBACK, in_fragment=False, state=None)
    scopes = ("auth", "avatar-profile:read")
    request = AuthorizationRequest(back, "code", scopes, challenge, method)
    approve(world, request, "ben", {})
    return [key for key, _ in world.items(CODES)][-1]


def exchange(code, /, **changes):
    form = {
        **CLIENT,
        "grant_type": "authorization_code",
        "redirect_uri": CALLBACK,
        "code": code,
        **changes,
    }
    return {name: text for name, text in form.items() if text is not None}


def refused(call, form, **members):
    with pytest.raises(OAuthError) as caught:
        issue_token(call(**members), body=form)
    return caught.value


def test_a_code_becomes_a_token_that_counts_and_does_not_end(call, world, time, code):
    answer = issue_token(call(), body=exchange(code))
    token = answer.body["access_token"]
    time.advance(timedelta(days=3650))
    principal = authenticate(world, token, world.clock.now())
    assert principal
    assert principal.person == "ben"
    assert answer.body["token_type"] == "bearer"
    assert answer.body["scope"] == "auth avatar-profile:read"
    assert answer.body["blog_url"] == "http://127.0.0.1:8081/ben"
    assert isinstance(answer.body["blog_id"], str)


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


def test_a_code_ends(call, time, code):
    time.advance(CODE_LIFETIME)
    assert refused(call, exchange(code)).code == "invalid_grant"


@pytest.mark.parametrize("method", ["plain", "S256"])
def test_pkce_is_honoured_when_it_was_asked_for(call, world, method):
    challenge = CHALLENGE if method == "S256" else VERIFIER
    code = approved(world, challenge, method)
    assert refused(call, exchange(code)).code == "invalid_grant"
    assert refused(call, exchange(code, code_verifier="x" * 43)).code == "invalid_grant"
    assert issue_token(call(), body=exchange(code, code_verifier=VERIFIER)).status == 200


def test_no_refusal_repeats_what_was_secret(call, code):
    secrets = {"client_secret": "hush-secret", "code": "hush-code", "code_verifier": "hush" * 11}
    for name, text in secrets.items():
        answer = error_response(refused(call, exchange(code, **{name: text})))
        assert text not in str(answer.body)


def test_what_the_engine_refuses_has_the_shape_and_status_of_the_rfc():
    answer = error_response(BadRequest("grant_type: given more than once.", code="repeated_field"))
    assert (answer.status, answer.body["error"]) == (400, "invalid_request")
    assert dict(answer.headers)["cache-control"] == "no-store"


def password_form(**changes):
    form = {**CLIENT, "grant_type": "password", "username": "ada", "password": "ada-password"}
    return {**form, **changes}


@pytest.mark.parametrize("username", ["ada", "ADA ", "ada@example.com"])
def test_the_owner_gets_a_token_for_a_password(call, world, username):
    world.put(SLUGS_BY_HASH, email_hash("ada@example.com"), "ada")
    body = issue_token(call(), body=password_form(username=username)).body
    assert body["scope"] == "auth avatar-profile:read avatar-profile:manage"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"password": "wrong"}, "invalid_grant"),
        ({"username": "nobody"}, "invalid_grant"),
        ({"username": "ben", "password": "ben-password"}, "invalid_grant"),
        ({"password": ""}, "invalid_request"),
        ({"username": ""}, "invalid_request"),
        ({"scope": "everything"}, "invalid_scope"),
        ({"scope": "avatar-profile:read"}, "invalid_scope"),
    ],
)
def test_anyone_but_the_owner_is_refused(call, changes, error):
    assert refused(call, password_form(**changes)).code == error

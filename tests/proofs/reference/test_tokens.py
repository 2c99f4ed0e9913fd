"""The token endpoint and token-info, by RFC 6749 where the interface says no more."""

import hashlib
from base64 import urlsafe_b64encode
from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest
from tests.proofs.reference.people import BEACON, ISOLDE, KILN, NOOR

CALLBACK = BEACON.redirect_uris[0]
VERIFIER = "v" * 64
SECRETS = {"client_id": BEACON.client_id, "client_secret": BEACON.client_secret}
S256 = {
    "code_challenge": urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest())
    .rstrip(b"=")
    .decode(),
    "code_challenge_method": "S256",
}
PASSWORD = {
    **SECRETS,
    "grant_type": "password",
    "username": "isolde",
    "password": ISOLDE.password,
}


def exchange(authorization, **asked: str) -> dict[str, str]:
    """Has Isolde approve, and returns the form that redeems the code."""
    query = {
        "client_id": BEACON.client_id,
        "redirect_uri": CALLBACK,
        "response_type": "code",
        "scope[0]": "auth",
        "scope[1]": "avatar-profile:read",
        **asked,
    }
    form = {"decision": "approve", "username": "isolde", "password": ISOLDE.password}
    location = authorization.post("/authorize", params=query, data=form).headers["location"]
    code = dict(parse_qsl(urlsplit(location).query))["code"]
    return {
        **SECRETS,
        "grant_type": "authorization_code",
        "redirect_uri": query["redirect_uri"],
        "code": code,
    }


def refusal(authorization, form: dict[str, str]) -> tuple[int, str]:
    answer = authorization.post("/token", data=form)
    return answer.status_code, answer.json()["error"]


def test_a_code_buys_a_token_that_never_ends(authorization, client, clock):
    answer = authorization.post("/token", data=exchange(authorization))
    body = answer.json()
    assert body.keys() == {"access_token", "token_type", "blog_id", "blog_url"}
    assert (body["token_type"], body["blog_id"]) == ("bearer", ISOLDE.blog_id)
    assert answer.headers["cache-control"] == "no-store"
    clock.move(timedelta(days=4000))
    assert client(body["access_token"]).get("/me/profile").status_code == 200


def test_a_code_works_once_and_its_second_use_ends_the_token(authorization, client):
    form = exchange(authorization)
    token = authorization.post("/token", data=form).json()["access_token"]
    assert refusal(authorization, form) == (400, "invalid_grant")
    assert client(token).get("/me/profile").status_code == 401


def test_a_code_ends_after_ten_minutes(authorization, clock):
    form = exchange(authorization)
    clock.move(timedelta(minutes=10))
    assert refusal(authorization, form) == (400, "invalid_grant")


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"code": "guess"}, (400, "invalid_grant")),
        ({"redirect_uri": BEACON.redirect_uris[1]}, (400, "invalid_grant")),
        ({"redirect_uri": ""}, (400, "invalid_request")),
        ({"code": ""}, (400, "invalid_request")),
        ({"grant_type": ""}, (400, "invalid_request")),
        ({"grant_type": "implicit"}, (400, "unsupported_grant_type")),
        ({"client_secret": "guess"}, (401, "invalid_client")),
        ({"client_secret": ""}, (401, "invalid_client")),
        ({"client_id": "9999"}, (401, "invalid_client")),
        (
            {"client_id": KILN.client_id, "client_secret": KILN.client_secret},
            (400, "invalid_grant"),
        ),
        ({"code_verifier": VERIFIER}, (400, "invalid_grant")),
    ],
)
def test_a_wrong_exchange_is_refused_and_the_code_stays_good(authorization, change, refused):
    form = exchange(authorization)
    assert refusal(authorization, {**form, **change}) == refused
    assert authorization.post("/token", data=form).status_code == 200


@pytest.mark.parametrize("challenge", [S256, {"code_challenge": VERIFIER}])
def test_a_challenge_wants_its_verifier(authorization, challenge):
    form = exchange(authorization, **challenge)
    assert refusal(authorization, form) == (400, "invalid_grant")
    wrong = {**form, "code_verifier": "w" * 64}
    assert refusal(authorization, wrong) == (400, "invalid_grant")
    right = {**form, "code_verifier": VERIFIER}
    assert authorization.post("/token", data=right).status_code == 200


def test_the_client_may_use_basic_authentication_but_not_both(authorization):
    form = exchange(authorization)
    basic = (BEACON.client_id, form.pop("client_secret"))
    both = {**form, "client_secret": basic[1]}
    assert authorization.post("/token", data=both, auth=basic).json()["error"] == "invalid_request"
    assert authorization.post("/token", data=form, auth=basic).status_code == 200


def test_only_a_form_that_is_posted_is_a_request(authorization):
    form = exchange(authorization)
    assert authorization.get("/token", params=form).status_code == 405
    assert authorization.post("/token", params=form).status_code == 400
    assert authorization.post("/token", json=form).status_code == 400
    doubled = {**form, "code": [form["code"], form["code"]]}
    assert authorization.post("/token", data=doubled).json()["error"] == "invalid_request"


def test_no_browser_may_call_from_another_origin(authorization):
    origin = {"Origin": "https://beacon.example.com", "Access-Control-Request-Method": "POST"}
    for answer in (
        authorization.request("OPTIONS", "/token", headers=origin),
        authorization.post("/token", data=exchange(authorization), headers=origin),
    ):
        assert [n for n in answer.headers if n.startswith("access-control-")] == []


def test_the_owner_may_use_the_password_for_testing(authorization, client):
    body = authorization.post("/token", data=PASSWORD).json()
    assert client(body["access_token"]).get("/me/profile").json()["hash"] == ISOLDE.hashes[0]
    assert body["scope"] == "auth avatar-profile:read avatar-profile:manage"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"password": "guess"}, "invalid_grant"),
        ({"username": "bram", "password": "turf and timber"}, "invalid_grant"),
        ({"username": ""}, "invalid_request"),
        ({"password": ""}, "invalid_request"),
    ],
)
def test_nobody_else_may_use_the_password_grant(authorization, change, error):
    assert refusal(authorization, {**PASSWORD, **change}) == (400, error)


def test_with_two_steps_only_an_application_password_will_do(authorization):
    kiln = {"client_id": KILN.client_id, "client_secret": KILN.client_secret, "username": "noor"}
    form = {**PASSWORD, **kiln, "password": NOOR.password}
    assert refusal(authorization, form) == (400, "invalid_grant")
    form["password"] = str(NOOR.application_password)
    assert authorization.post("/token", data=form).status_code == 200


def test_token_info_tells_an_application_of_its_token(authorization):
    token = authorization.post("/token", data=exchange(authorization)).json()["access_token"]
    query = {"client_id": BEACON.client_id, "token": token}
    assert authorization.get("/token-info", params=query).json() == {
        "client_id": BEACON.client_id,
        "user_id": ISOLDE.user_id,
        "blog_id": ISOLDE.blog_id,
        "scope": "auth avatar-profile:read",
    }


@pytest.mark.parametrize(
    "query",
    [
        {"client_id": KILN.client_id, "token": "isolde-full"},
        {"client_id": BEACON.client_id, "token": "guess"},
        {"client_id": BEACON.client_id, "token": "beacon-api-key"},
        {"client_id": BEACON.client_id},
        {"token": "isolde-full"},
    ],
)
def test_token_info_tells_nothing_of_other_tokens(authorization, query):
    answer = authorization.get("/token-info", params=query)
    assert answer.status_code == 400
    assert "user_id" not in answer.json()

"""Who may call what (interface, Bearer tokens and scopes; RFC 6750)."""

from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest
from tests.proofs.reference.people import BEACON, ISOLDE

READS = [("GET", "/me/avatars"), ("GET", "/me/profile"), ("GET", "/me/associated-email")]
WRITES = [
    ("POST", "/me/avatars"),
    ("PATCH", f"/me/avatars/{'a1' * 16}"),
    ("DELETE", f"/me/avatars/{'a1' * 16}"),
    ("POST", f"/me/avatars/{'a1' * 16}/email"),
    ("PATCH", "/me/profile"),
]
KEYS = ["wrong", "beacon-api-key"]


@pytest.mark.parametrize(("method", "path"), [*READS, *WRITES])
def test_nobody_is_asked_for_a_token(nobody, method, path):
    answer = nobody.request(method, path)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="reference"'


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(("method", "path"), [*READS, *WRITES])
def test_what_is_no_access_token_is_invalid(client, method, path, key):
    answer = client(key).request(method, path)
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_a_write_needs_the_scope_to_manage(client, isolde, method, path):
    before = isolde.get("/me/avatars").json()
    answer = client("isolde-read-only").request(method, path)
    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
    assert isolde.get("/me/avatars").json() == before


def token_with(authorization, scopes: list[str]) -> str:
    query = {
        "client_id": BEACON.client_id,
        "redirect_uri": BEACON.redirect_uris[0],
        "response_type": "token",
        **{f"scope[{number}]": scope for number, scope in enumerate(scopes)},
    }
    form = {"decision": "approve", "username": "isolde", "password": ISOLDE.password}
    answer = authorization.post("/authorize", params=query, data=form)
    location: str = answer.headers["location"]
    return dict(parse_qsl(urlsplit(location).fragment))["access_token"]


def test_a_read_needs_the_scope_to_read(authorization, client):
    caller = client(token_with(authorization, ["auth", "avatar-profile:manage"]))
    assert [caller.request(*read).status_code for read in READS] == [403, 403, 403]
    assert caller.patch("/me/profile", json={}).status_code == 200


def test_every_endpoint_needs_the_scope_auth(authorization, client):
    caller = client(token_with(authorization, ["avatar-profile:read"]))
    assert caller.get("/me/profile").status_code == 403
    assert caller.get(f"/profiles/{ISOLDE.slug}").status_code == 403


def test_a_token_of_the_implicit_grant_ends_after_two_weeks(authorization, client, clock):
    caller = client(token_with(authorization, ["auth", "avatar-profile:read"]))
    clock.move(timedelta(weeks=2, seconds=-1))
    assert caller.get("/me/profile").status_code == 200
    clock.move(timedelta(seconds=1))
    assert caller.get("/me/profile").status_code == 401


def test_a_lookup_with_an_unknown_token_is_refused_and_a_qr_code_is_not(client):
    stranger = client("wrong")
    assert stranger.get(f"/profiles/{ISOLDE.slug}").status_code == 401
    assert stranger.get(f"/qr-code/{ISOLDE.slug}").status_code == 200

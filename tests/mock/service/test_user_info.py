"""The user-info address, which generic OAuth libraries call after a sign-in (``--user-info``)."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from tests.mock.service.test_oracle import ADA_HASH
from tests.mock.service.test_vocabulary import PASSWORD

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

Ask = Callable[..., httpx.Response]
SITE = "http://127.0.0.1:8081"


def sender(settings: Settings) -> Iterator[Ask]:
    mock = Mock(settings)

    async def send(method: str, path: str, token: str = "", **options: Any) -> httpx.Response:
        transport = httpx.ASGITransport(mock.authorization)
        async with httpx.AsyncClient(transport=transport, base_url=SITE) as client:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            return await client.request(method, path, headers=headers, **options)

    with asyncio.Runner() as runner:
        yield lambda *args, **options: runner.run(send(*args, **options))


@pytest.fixture(scope="module")
def user_info() -> Iterator[Ask]:
    yield from sender(Settings(user_info=True))


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_client_is_told_who_signed_in(user_info, method):
    response = user_info(method, "/oauth2/userinfo", token="ada-auth-only")
    assert response.status_code == 200
    claims = response.json()
    assert claims["sub"].isdigit()
    assert claims["picture"] == f"{SITE}/avatar/{ADA_HASH}"
    assert (claims["preferred_username"], claims["email"]) == ("ada", "ada@example.com")
    assert {"name", "given_name", "family_name", "profile", "zoneinfo"} < set(claims)
    assert response.headers["cache-control"] == "no-store"


def test_the_subject_is_the_user_of_token_info(user_info):
    token = user_info("POST", "/oauth2/token", data=PASSWORD).json()["access_token"]
    query = {"client_id": "server-app", "token": token}
    info = user_info("GET", "/oauth2/token-info", params=query).json()
    assert user_info("GET", "/oauth2/userinfo", token=token).json()["sub"] == info["user_id"]


def test_what_a_person_has_not_set_is_left_out(user_info):
    claims = user_info("GET", "/oauth2/userinfo", token="gone-full").json()
    assert None not in claims.values()
    assert "" not in claims.values()


@pytest.mark.parametrize(
    ("token", "status", "error"),
    [
        ("", 401, "invalid_request"),
        ("no-such-token", 401, "invalid_token"),
        ("ada-expired", 401, "invalid_token"),
        ("ada-api-key", 401, "invalid_token"),
    ],
)
def test_a_refusal_has_a_challenge_and_the_shape_of_the_authorization_server(
    user_info, token, status, error
):
    refusal = user_info("GET", "/oauth2/userinfo", token=token)
    assert (refusal.status_code, refusal.json()["error"]) == (status, error)
    assert refusal.json()["error_description"]
    assert refusal.headers["www-authenticate"].startswith("Bearer ")


@pytest.fixture
def plain() -> Iterator[Ask]:
    yield from sender(Settings())


def test_without_the_option_there_is_no_such_address(plain):
    assert plain("GET", "/oauth2/userinfo", token="ada-full").status_code == 404

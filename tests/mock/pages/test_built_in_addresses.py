"""Addresses that clients know beside the documents: callback, metadata, pop-ups, QR codes."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from tests.mock.service.test_oracle import ADA_HASH

from understudy.mock.app import Mock
from understudy.mock.server.request_context import Addresses
from understudy.mock.settings import Settings

SITE, SIGN_IN = "http://127.0.0.1:8080", "http://127.0.0.1:8081"
BROWSER = {"Accept": "text/html"}

Ask = Callable[..., httpx.Response]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    mock = Mock(Settings(), addresses=Addresses(SITE, SIGN_IN))

    async def send(url: str, method: str = "GET", **options: Any) -> httpx.Response:
        site = mock.resource if url.startswith(SITE) else mock.authorization
        async with httpx.AsyncClient(transport=httpx.ASGITransport(site)) as client:
            return await client.request(method, url, **options)

    with asyncio.Runner() as runner:
        yield lambda *args, **options: runner.run(send(*args, **options))


def approved(ask: Ask, flow: str) -> str:
    query = {
        "client_id": "server-app",
        "redirect_uri": f"{SIGN_IN}/callback",
        "response_type": flow,
        "scope[0]": "auth",
        "mock_approve": "ada",
    }
    return ask(f"{SIGN_IN}/oauth2/authorize", params=query).headers["location"]


def test_every_application_can_be_tried_at_the_page_that_shows_code_and_next_call(ask):
    location = approved(ask, "code")
    page = ask(location, headers=BROWSER)
    assert page.status_code == 200
    code = httpx.URL(location).params["code"]
    assert f"-d code={code} -d redirect_uri={SIGN_IN}/callback {SIGN_IN}/oauth2/token" in page.text
    form = {
        "grant_type": "authorization_code",
        "client_id": "server-app",
        "client_secret": "server-app-secret",
        "code": code,
        "redirect_uri": f"{SIGN_IN}/callback",
    }
    assert ask(f"{SIGN_IN}/oauth2/token", "POST", data=form).status_code == 200
    assert approved(ask, "token").startswith(f"{SIGN_IN}/callback#access_token=")


def test_the_start_page_leads_to_the_built_in_page_and_the_picker_is_above_the_password(ask):
    start = ask(f"{SIGN_IN}/", headers=BROWSER).text
    assert "redirect_uri=http%3A%2F%2F127.0.0.1%3A8081%2Fcallback" in start
    form = ask(f"{SIGN_IN}/sign-in", headers=BROWSER).text
    assert form.index('name="person"') < form.index('name="password"')


def test_clients_that_configure_themselves_find_the_endpoints(ask):
    metadata = ask(f"{SIGN_IN}/.well-known/oauth-authorization-server").json()
    assert metadata["issuer"] == SIGN_IN
    assert metadata["token_endpoint"] == f"{SIGN_IN}/oauth2/token"
    assert metadata["token_endpoint_auth_methods_supported"] == ["client_secret_post"]
    for place in (SITE, f"{SITE}/v3"):
        refused = ask(f"{place}/.well-known/oauth-authorization-server")
        assert f"; read {SIGN_IN}/.well-known/oauth-auth" in refused.json()["error"]


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/ada.qr?size=100", "/v3/qr-code/ada?size=100"),
        (f"/{ADA_HASH}.qr", f"/v3/qr-code/{ADA_HASH}"),
        (f"/{ADA_HASH}", "/ada"),
        ("/profile", "/#people"),
    ],
)
def test_other_addresses_of_a_profile_lead_to_it(ask, path, location):
    response = ask(f"{SITE}{path}")
    assert (response.status_code, response.headers["location"]) == (302, f"{SITE}{location}")


@pytest.mark.parametrize("path", [f"/{'0' * 64}.qr", "/gone.qr", "/nobody.qr"])
def test_the_qr_code_of_nobody_is_not_found(ask, path):
    assert ask(f"{SITE}{path}").status_code == 404


def test_facts_of_both_directions_of_writing_stand_apart(ask):
    assert "<li><bdi>LAY-lah an-naj-JAAR</bdi></li>" in ask(f"{SITE}/leila", headers=BROWSER).text

"""A browser in a world: signing in stays there, whatever selects the world."""

from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page
from tests import patient
from tests.cli.conftest import Running

CALLBACK = "http://127.0.0.1:5999/back"
"""The application's own page, which need not load: the browser's request for it has the code."""


@pytest.fixture
def world(mock: Running):
    """A world in which the client is registered."""
    site = mock.base_url.removesuffix("/v3")
    made = patient.post(f"{site}/__admin/worlds").json()
    asked = {"owner": "ada", "name": "Trail Journal", "redirect_uris": [CALLBACK]}
    admin = f"{made['admin_url']}/applications"
    made["application"] = patient.post(admin, json=asked).json()
    return made


def authorization(auth_url: str, application: dict[str, str]) -> str:
    query = {
        "client_id": application["client_id"],
        "redirect_uri": CALLBACK,
        "response_type": "code",
        "scope[0]": "auth",
        "state": "s",
    }
    return f"{auth_url}/oauth2/authorize?{urlencode(query)}"


def code_of(page: Page) -> str:
    """Picks a person, approves, and returns the code that came back."""
    page.get_by_role("button", name="Ada Merrowdale").click()
    with page.expect_request(f"{CALLBACK}?**") as sent:
        page.get_by_role("button", name="Approve").click()
    return parse_qs(urlsplit(sent.value.url).query)["code"][0]


def exchange(auth_url: str, application: dict[str, str], code: str) -> httpx.Response:
    form = {
        "grant_type": "authorization_code",
        "client_id": application["client_id"],
        "client_secret": application["client_secret"],
        "redirect_uri": CALLBACK,
        "code": code,
    }
    return patient.post(f"{auth_url}/oauth2/token", data=form)


def test_a_worlds_address_signs_in_to_that_world(page: Page, mock: Running, world) -> None:
    page.goto(authorization(world["auth_url"], world["application"]))
    code = code_of(page)
    assert exchange(mock.auth_url, world["application"], code).status_code == 401
    issued = exchange(world["auth_url"], world["application"], code).json()
    assert issued["access_token"].startswith(f"{world['name']}~")


def test_a_cookie_puts_an_unmodified_application_into_a_world(
    context: BrowserContext, page: Page, mock: Running, world
) -> None:
    context.add_cookies([{"name": "mock_world", "value": world["name"], "url": mock.auth_url}])
    page.goto(authorization(mock.auth_url, world["application"]))
    issued = exchange(world["auth_url"], world["application"], code_of(page))
    token = {"Authorization": f"Bearer {issued.json()['access_token']}"}
    found = patient.get(f"{mock.base_url}/profiles/ada", headers=token).json()
    assert found["avatar_url"].startswith(world["base_url"].removesuffix("/v3"))

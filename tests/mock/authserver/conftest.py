"""A small world with two applications, requests to the parts, and a browser for the whole."""

import asyncio
import functools
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from tests.mock.renewal import renew

from understudy.mock.app import Mock
from understudy.mock.server.call import Call
from understudy.mock.server.clock import Clock
from understudy.mock.server.worlds import World
from understudy.mock.settings import Settings
from understudy.mock.store.applications import APPLICATIONS, Application
from understudy.mock.store.people import PEOPLE, Email, Person

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
CALLBACK = "http://127.0.0.1:5000/callback"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"  # RFC 7636, appendix B
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

SERVER = Application("server-app", "server-secret", "Server App", "ada", (CALLBACK,))
OTHER = Application("other-app", "other-secret", "Other App", "ben", ("http://other.example.com/",))


class Time:
    """A clock that only moves when told."""

    def __init__(self) -> None:
        self.now = START

    def advance(self, span: timedelta) -> None:
        self.now += span


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def world(time: Time) -> World:
    people = (
        Person("ada", "owner", (Email("ada@example.com"),), password="ada-password"),
        Person(
            "ben",
            "two-step owner",
            (Email("ben@example.com"),),
            password="ben-password",
            application_password="abcd efgh",
        ),
    )
    baseline: dict[str, dict[str, Any]] = {
        PEOPLE.name: {person.slug: person for person in people},
        APPLICATIONS.name: {app.client_id: app for app in (SERVER, OTHER)},
    }
    return World("test", baseline, clock=Clock(lambda: time.now))


@pytest.fixture
def call(world: World) -> Callable[..., Call]:
    def make(**members: Any) -> Call:
        return Call(world, "http://127.0.0.1:8081", {}, **members)

    return make


# The whole mock, over HTTP without sockets; its applications are those of fixtures/.

RESOURCE = "http://127.0.0.1:8080"
AUTHORIZATION = "http://127.0.0.1:8081"
BROWSER_CALLBACK = "http://127.0.0.1:5173/"

REQUEST = {
    "client_id": "server-app",
    "redirect_uri": CALLBACK,
    "response_type": "code",
    "scope[0]": "auth",
    "scope[1]": "avatar-profile:read",
    "state": "s",
}
IMPLICIT = {
    "client_id": "browser-app",
    "redirect_uri": BROWSER_CALLBACK,
    "response_type": "token",
}
CREDENTIALS = {"client_id": "server-app", "client_secret": "server-app-secret"}
EXCHANGE = {**CREDENTIALS, "grant_type": "authorization_code", "redirect_uri": CALLBACK}
PASSWORD = {**CREDENTIALS, "grant_type": "password", "username": "ada", "password": "ada-password"}


class InProcess(httpx.BaseTransport):
    """Leads to the two addresses of a mock, or with a single port to the one."""

    def __init__(self, mock: Mock) -> None:
        self._resource = httpx.ASGITransport(mock.resource)
        self._authorization = httpx.ASGITransport(mock.authorization)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        is_resource = str(request.url).startswith(RESOURCE)
        site = self._resource if is_resource else self._authorization

        async def answer() -> httpx.Response:
            found = await site.handle_async_request(request)
            body = await found.aread()
            return httpx.Response(found.status_code, headers=found.headers, content=body)

        return asyncio.run(answer())


class Browser(httpx.Client):
    """A person's browser, which follows no redirect by itself, and the application's server."""

    def __init__(self, mock: Mock, home: str = AUTHORIZATION) -> None:
        super().__init__(transport=InProcess(mock), base_url=home)
        self.mock = mock

    def authorize(self, **changes: str | None) -> httpx.Response:
        """Asks for an authorization: a good request, unless changed."""
        asked = {**REQUEST, **changes}
        query = {name: text for name, text in asked.items() if text is not None}
        return self.get("/oauth2/authorize", params=query)

    def sign_in(self, person: str = "ada", query: str = "") -> httpx.Response:
        """Signs in by password, on the way to whatever the query asks."""
        form = hidden(self.get("/sign-in"))
        form |= {"username": person, "password": f"{person}-password", "query": query}
        return self.post("/sign-in", data=form)

    def decide(self, page: httpx.Response, decision: str = "approve") -> httpx.Response:
        """Presses a button of the consent page."""
        return self.post("/consent", data={**hidden(page), "decision": decision})

    def code(self, **changes: str | None) -> str:
        """Returns a code, approved by ada without a page."""
        found = self.authorize(**{"mock_approve": "ada", **changes})
        return answered(found)["code"]

    def token(self, **changes: str | None) -> str:
        """Returns a token of the code flow."""
        form = {**EXCHANGE, "code": self.code(**changes)}
        token: str = self.post("/oauth2/token", data=form).json()["access_token"]
        return token

    def implicit_token(self) -> str:
        """Returns a token of the implicit flow."""
        return answered(self.authorize(**IMPLICIT, mock_approve="ada"))["access_token"]

    def me(self, token: str, scheme: str = "Bearer") -> httpx.Response:
        """Asks the resource API for the own profile."""
        headers = {"Authorization": f"{scheme} {token}"}
        return self.get(f"{RESOURCE}/v3/me/profile", headers=headers)


def hidden(page: httpx.Response) -> dict[str, str]:
    """Returns the hidden fields of a page's forms."""
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page.text)
    return {name: unescape(text) for name, text in found}


def answered(redirect: httpx.Response) -> dict[str, str]:
    """Returns what a redirect tells the application, in its query or its fragment."""
    assert redirect.status_code == 302, redirect.text
    parts = urlsplit(redirect.headers["location"])
    return {name: texts[0] for name, texts in parse_qs(parts.fragment or parts.query).items()}


@pytest.fixture(scope="session")
def mocks() -> Callable[[bool], Mock]:
    """Builds each mock once; every test finds it as good as new."""
    return functools.cache(lambda is_single: Mock(Settings(single_port=is_single)))


def renewed(mock: Mock, time: Time) -> Mock:
    """Forgets all that happened in a mock."""
    return renew(mock, Clock(lambda: time.now))


@pytest.fixture
def mock(mocks: Callable[[bool], Mock], time: Time) -> Mock:
    return renewed(mocks(False), time)


@pytest.fixture
def browser(mock: Mock) -> Iterator[Browser]:
    with Browser(mock) as browser:
        yield browser


@pytest.fixture
def another_browser(mock: Mock) -> Iterator[Browser]:
    with Browser(mock) as browser:
        yield browser

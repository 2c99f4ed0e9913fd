"""A request that is worked on a second time responds, and changes the world, as if it were the first."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.mock.admin.conftest import AUTHORIZATION, Driver, Time

from understudy.fleet.shared_store import SharedWorldStore
from understudy.mock.settings import Settings

PASSWORD = {"grant_type": "password", "username": "ada@example.com", "password": "ada-password"}
CLIENT = {"client_id": "server-app", "client_secret": "server-app-secret"}
CODE = {"client_id": "server-app", "response_type": "code", "state": "s"}
CALLBACK = {"redirect_uri": "http://127.0.0.1:5000/callback"}

REQUESTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("GET", "/v3/profiles/ada", {}),
    ("GET", "/v3/profiles/ada", {}),
    ("GET", "/v3/me/profile", {"token": "ada-full"}),
    ("PATCH", "/v3/me/profile", {"token": "ada-full", "json": {"location": "Twice"}}),
    ("PATCH", "/v3/me/profile", {"token": "ada-full", "json": {"location": 7}}),
    ("GET", "/v3/me/avatars", {"token": "ada-full"}),
    ("GET", "/v3/qr-code/ada", {}),
    ("GET", "/v3/nothing", {}),
    ("GET", f"{AUTHORIZATION}/oauth2/authorize", {"params": {**CODE, **CALLBACK, "scope": "auth"}}),
    ("POST", f"{AUTHORIZATION}/oauth2/token", {"data": {**PASSWORD, **CLIENT}}),
    ("POST", "/__admin/tokens", {"json": {"person": "ben"}}),
    ("POST", "/__admin/faults", {"json": {"operation": "getQrCode", "status": 503, "times": 2}}),
    ("GET", "/v3/qr-code/ada", {}),
    ("PUT", "/__admin/limits/anonymous", {"json": {"limit": 5, "used": 4}}),
    ("GET", "/v3/profiles/ada", {}),
    ("GET", "/v3/profiles/ada", {}),
    ("POST", "/__admin/worlds", {"json": {"people": ["ada"]}}),
    ("PATCH", "/__world/w1/v3/me/profile", {"token": "ada-full", "json": {"company": "Twice"}}),
    ("POST", "/__admin/snapshots", {"json": {"name": "kept"}}),
    ("POST", "/__admin/snapshots/kept/restore", {}),
    ("GET", "/__admin/worlds", {}),
    ("DELETE", "/__admin/worlds/w1", {}),
    ("POST", "/__admin/reset", {}),
    ("GET", "/v3/me/profile", {"token": "ada-full"}),
)


class Interference:
    """Lets the first commit of a request be in vain."""

    def __init__(self) -> None:
        self.is_next = False
        self.count = 0

    def strikes(self, message: Mapping[str, Any]) -> bool:
        """Returns whether this commit is the one that is in vain."""
        strikes = self.is_next and bool(message["changes"])
        if strikes:
            self.is_next = False
            self.count += 1
        return strikes


def responses(driver: Driver, interference: Interference) -> list[tuple[int, bytes]]:
    said = []
    for method, url, options in REQUESTS:
        interference.is_next = True
        response = driver.ask(method, url, **options)
        said.append((response.status_code, response.content))
    return said


@pytest.fixture
def interference(monkeypatch: pytest.MonkeyPatch) -> Interference:
    interference = Interference()
    run = SharedWorldStore.run

    async def interfered(self: SharedWorldStore, message: Mapping[str, Any]) -> Any:
        if interference.strikes(message):
            return [b"stale", [], [], None]
        return await run(self, message)

    monkeypatch.setattr(SharedWorldStore, "run", interfered)
    return interference


def test_requests_that_are_worked_on_twice_respond_as_those_worked_on_once(
    replicas: tuple[Driver, Driver], interference: Interference
) -> None:
    alone = Driver(Settings(auto_approve="ada"), Time())
    once = responses(alone, interference)
    alone.close()
    assert responses(replicas[0], interference) == once
    assert interference.count == len(REQUESTS)

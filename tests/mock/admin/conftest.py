"""The whole mock in this process, its admin API, and its two sites."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from tests.conftest import paused_coverage
from tests.mock.renewal import renew

from understudy.mock.app import Mock
from understudy.mock.server.clock import Clock
from understudy.mock.settings import Settings

START = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
SITE = "http://127.0.0.1:8080"
AUTHORIZATION = "http://127.0.0.1:8081"


class Time:
    """The machine's time, which only moves when told."""

    def __init__(self) -> None:
        self.now = START

    def advance(self, span: timedelta) -> None:
        self.now += span


class Driver:
    """Sends requests to both sites of one mock."""

    def __init__(self, settings: Settings, time: Time, built: Mock | None = None) -> None:
        with paused_coverage():
            self.mock = built or Mock(settings)
        self.mock.world.clock = Clock(lambda: time.now)
        self._runner = asyncio.Runner()

    def ask(self, method: str, url: str, **options: Any) -> httpx.Response:
        """Sends a request; ``token`` becomes its Authorization header."""
        token = options.pop("token", None)
        headers = {
            **options.pop("headers", {}),
            **({"Authorization": f"Bearer {token}"} if token else {}),
        }
        return self._runner.run(self._send(method, url, headers=headers, **options))

    async def _send(self, method: str, url: str, **options: Any) -> httpx.Response:
        site = self.mock.authorization if url.startswith(AUTHORIZATION) else self.mock.resource
        client = options.pop("client", ("127.0.0.1", 50000))
        transport = httpx.ASGITransport(site, client=client)
        async with httpx.AsyncClient(transport=transport, base_url=SITE) as session:
            return await session.request(method, url, **options)

    def get(self, url: str, **options: Any) -> httpx.Response:
        return self.ask("GET", url, **options)

    def admin(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """Calls the admin API, of the default world or below ``world``; returns what JSON says."""
        prefix = f"/__world/{options.pop('world')}" if "world" in options else ""
        if body is not None:
            options["json"] = body
        answer = self.ask(method, f"{prefix}/__admin{path}", **options)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def refused(self, method: str, path: str, body: Any = None, **options: Any) -> tuple[int, str]:
        """Calls the admin API, and returns the status and the reason of its refusal."""
        answer = self.ask(method, f"/__admin{path}", json=body, **options)
        assert answer.headers["content-type"] == "application/problem+json"
        return answer.status_code, answer.json()["detail"]

    def refresh(self) -> None:
        """Brings the default world up to date, as streams do."""
        self._runner.run(self.mock.worlds.refresh(self.mock.world))

    def end_store(self) -> None:
        """Closes the connection to a shared store, on the event loop that it belongs to."""
        self._runner.run(self.mock.close())

    def close(self) -> None:
        self._runner.close()


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture(scope="session")
def built() -> Mock:
    return Mock(Settings())


@pytest.fixture
def driver(time: Time, built: Mock) -> Iterator[Driver]:
    made = Driver(Settings(), time, renew(built))
    yield made
    made.close()

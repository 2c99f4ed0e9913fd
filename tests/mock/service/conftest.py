"""The whole mock in this process, and a client for it."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from tests.mock.renewal import renew

from understudy.mock.app import Mock
from understudy.mock.server.clock import Clock
from understudy.mock.settings import Settings

START = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
SITE = "http://127.0.0.1:8080"

Ask = Callable[..., httpx.Response]


@pytest.fixture(scope="session")
def built() -> Mock:
    return Mock(Settings(choices={"rate-limits": "off"}))


@pytest.fixture
def mock(built: Mock) -> Mock:
    return renew(built, Clock(lambda: START))


@pytest.fixture
def ask(mock: Mock) -> Iterator[Ask]:
    """Sends a request to the resource API; ``token`` becomes its Authorization header."""
    with asyncio.Runner() as runner:

        async def send(method: str, path: str, **options: Any) -> httpx.Response:
            transport = httpx.ASGITransport(mock.resource)
            async with httpx.AsyncClient(transport=transport, base_url=SITE) as client:
                return await client.request(method, path, **options)

        def ask(method: str, path: str, token: str | None = None, **options: Any) -> httpx.Response:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            headers |= options.pop("headers", {})
            return runner.run(send(method, path, headers=headers, **options))

        yield ask

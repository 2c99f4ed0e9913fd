"""Sends requests to a mock in this process."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx

from understudy.mock.app import Mock

SITE = "http://127.0.0.1:8080"

Ask = Callable[..., httpx.Response]


def asking(mock: Mock) -> Ask:
    """Returns a function that sends a request to a mock in this process."""

    async def send(method: str, path: str, **options: Any) -> httpx.Response:
        transport = httpx.ASGITransport(mock.resource, client=("127.0.0.1", 50_000))
        async with httpx.AsyncClient(transport=transport, base_url=SITE) as client:
            return await client.request(method, path, **options)

    return lambda *words, **options: asyncio.run(send(*words, **options))

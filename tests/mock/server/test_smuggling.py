"""A request ends where every reader of HTTP sees its end, or it is refused and nothing follows."""

import asyncio
from collections.abc import Callable

import pytest
from tests.proofs.attack.smuggling import (
    ENDING,
    REFUSED,
    REFUSED_ALONE,
    UNDERSTOOD,
    expected,
    smuggle,
)

from understudy.mock.app import Mock
from understudy.mock.server.serving import bind, serve
from understudy.mock.settings import Settings


@pytest.fixture(scope="module")
def results() -> dict[str, list[int]]:
    """The statuses that every case got from one mock, each on a connection of its own."""
    results: dict[str, list[int]] = {}
    with bind("127.0.0.1", 0, "--port") as listener:
        ready = asyncio.Event()
        stops: list[Callable[[], None]] = []

        async def send() -> None:
            await ready.wait()
            try:
                results.update(await smuggle(listener.getsockname()[1]))
            finally:
                stops[0]()

        def started(stop: Callable[[], None]) -> None:
            stops.append(stop)
            ready.set()

        asyncio.run(serve({listener: Mock(Settings()).resource}, ready=started, beside=[send]))
    return results


@pytest.mark.parametrize("name", [*REFUSED, *REFUSED_ALONE, *UNDERSTOOD, *ENDING])
def test_a_request_ends_where_it_must(results: dict[str, list[int]], name: str) -> None:
    assert results[name] == expected(name)

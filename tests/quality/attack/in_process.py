"""Sends hostile requests to a mock in this process, and says what should not have come of them."""

import asyncio
import logging
import re
from collections import Counter
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any
from urllib.parse import unquote_to_bytes

from tests.quality.attack.requests import Attacker, HostileRequest

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

_FIELD_VALUE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*")
"""What a header may hold (RFC 9110, 5.5); a server closes the connection over anything else."""

RENEWED = 2_000
"""Requests after which the mock begins anew, so that its limits on worlds and faults are not all."""


@dataclass(slots=True)
class Result:
    """What came of an attack.

    Attributes:
        statuses: How often each status was answered.
        failures: What should not have been, with the request that shows it.
        slowest: Seconds of the slowest request.
        slowest_request: That request.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0
    slowest_request: str = ""


async def attack(requests: int, seed: int) -> Result:
    """Sends so many requests, each after the one before."""
    logging.getLogger("understudy").setLevel(logging.CRITICAL)
    attacker, result = Attacker(seed), Result()
    mock = Mock(Settings())
    for number in range(requests):
        if number % RENEWED == 0:
            mock = Mock(Settings())
        request = attacker.next()
        started = perf_counter()
        problem = await _send(mock, request, result)
        if perf_counter() - started > result.slowest and not request.asks_for_delay:
            result.slowest = perf_counter() - started
            result.slowest_request = f"{number}: {request!r:.600}"
        if problem is not None:
            result.failures.append(f"seed {seed}, request {number}: {problem}: {request!r:.600}")
        mock.world.faults.clear()  # what was injected answers 5xx, as it should
    return result


async def _send(mock: Mock, request: HostileRequest, result: Result) -> str | None:
    """Sends a request; returns what should not have come of it."""
    messages: list[dict[str, Any]] = []
    bodies = [{"type": "http.request", "body": request.body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        return bodies.pop() if bodies else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        messages.append(message)

    site = mock.authorization if request.is_authorization else mock.resource
    try:
        async with asyncio.timeout(60):
            await site(_scope(request), receive, send)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if not messages or messages[0]["type"] != "http.response.start":
        return "no response"
    result.statuses[messages[0]["status"]] += 1
    return _fault(messages, request)


def _fault(messages: list[dict[str, Any]], request: HostileRequest) -> str | None:
    status, headers = messages[0]["status"], messages[0]["headers"]
    for name, value in headers:
        if not _FIELD_VALUE.fullmatch(value):
            return f"the header {name!r} holds {value!r}"
    if status >= 500 and not request.asks_for_failure:
        body = b"".join(message.get("body", b"") for message in messages[1:])
        return f"status {status}: {body[:300]!r}"
    return None


def _scope(request: HostileRequest) -> dict[str, Any]:
    path = unquote_to_bytes(request.path).decode("utf-8", "replace")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": path,
        "raw_path": request.path.encode(),
        "query_string": request.query,
        "root_path": "",
        "headers": list(request.headers),
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 8080),
    }

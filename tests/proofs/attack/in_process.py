"""Sends hostile requests to a mock in this process, and says what should not have come of them."""

import asyncio
import logging
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any
from urllib.parse import unquote_to_bytes

from tests.proofs.attack.requests import Attacker, HostileRequest

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
        sent: Requests that were sent.
        statuses: How often each status was answered.
        failures: What should not have been, with the request that shows it.
        slowest: Seconds that the slowest request keeps the event loop from all others: what its
            thread computed, without what other threads did for it and what it waited for.
        slowest_request: That request.
        memory: Bytes of resident memory after each tenth of the requests, where the system tells.
    """

    sent: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0
    slowest_request: str = ""
    memory: list[int] = field(default_factory=list)


async def attack(requests: int, seed: int, seconds: float = math.inf) -> Result:
    """Sends so many requests, each after the one before, and no more after so many seconds."""
    logging.getLogger("understudy").setLevel(logging.CRITICAL)
    attacker, result = Attacker(seed), Result()
    mock = Mock(Settings())
    end = perf_counter() + seconds
    for number in range(requests):
        if number % RENEWED == 0:
            mock = Mock(Settings())
            if perf_counter() > end:
                break
        if number % max(requests // 10, RENEWED) == RENEWED - 1:
            result.memory.append(resident_bytes())
        result.sent += 1
        request = attacker.next()
        started = thread_time()
        problem = await _send(mock, request, result)
        if thread_time() - started > result.slowest:
            result.slowest = thread_time() - started
            result.slowest_request = f"{number}: {request!r:.600}"
        if problem is not None:
            result.failures.append(f"seed {seed}, request {number}: {problem}: {request!r:.600}")
        for world in mock.worlds:
            world.faults.clear()  # what was injected answers 5xx, as it should
    return result


def resident_bytes() -> int:
    """Returns the resident memory of this process; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    return int(status.read_text().partition("VmRSS:")[2].split()[0]) * 1024


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

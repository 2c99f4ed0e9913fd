"""Inferred state by both entrances: the same bytes give the same responses, journal and state."""

import asyncio
from typing import Any

import orjson
from tests.collections.serving.conftest import TODO_LIST
from tests.proofs.entrances.comparison import Entrance
from tests.proofs.entrances.traffic import Sent

from understudy.mock.settings import Settings

LIST = "/lists/4c74ba1a-2365-4d07-843b-8e556c557b0f"
REQUESTS: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/lists", None),
    ("POST", "/lists", {"name": "Home"}),
    ("POST", "/lists", {"name": "Home"}),
    ("POST", "/lists", {"name": 7}),
    ("GET", f"{LIST}/todos?limit=2", None),
    ("POST", f"{LIST}/todos", {"title": "Milk"}),
    ("PATCH", f"{LIST}/todos/10", {"priority": 1}),
    ("POST", f"{LIST}/todos/10/complete", None),
    ("GET", f"{LIST}/todos?status=done&sort=-title", None),
    ("PATCH", "/me/settings", {"language": "Welsh"}),
    ("GET", f"{LIST}/todos/999", None),
    ("DELETE", LIST, None),
    ("GET", f"{LIST}/todos/10", None),
)


def message(method: str, target: str, body: Any) -> bytes:
    """Returns a request as it is sent."""
    content = b"" if body is None else orjson.dumps(body)
    media_type = "merge-patch+json" if method == "PATCH" and "todos" in target else "json"
    head = f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"
    if content:
        head += f"Content-Type: application/{media_type}\r\nContent-Length: {len(content)}\r\n"
    return head.encode() + b"\r\n" + content


async def both_ways() -> list[tuple[Any, ...]]:
    """Sends every request both ways; returns what came of it, of both in turn."""
    settings = Settings(seed=0, document=TODO_LIST)
    entrances = [Entrance(is_direct=is_direct, settings=settings) for is_direct in (True, False)]
    results = []
    for request in REQUESTS:
        sent = Sent((message(*request),), is_authorization=False)
        for entrance in entrances:
            wire = await entrance.send(sent)
            snapshot = entrance.mock.world.snapshot()
            results.append((bytes(wire.written), entrance.journal(), snapshot.overlay))
    return results


def test_both_entrances_respond_alike_and_leave_the_same_state():
    results = asyncio.run(both_ways())
    direct, stack = results[::2], results[1::2]
    assert direct == stack
    statuses = [int(written.split(b" ", 2)[1]) for written, *_ in direct]
    assert statuses == [200, 201, 409, 400, 200, 201, 200, 200, 200, 200, 404, 204, 404]

"""Event streams and JSON sequences of any document, sent one item at a time."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from tests.mock.server.conftest import Serve, Service

from understudy.mock.server.response_sending import send_chunks

TICK = "{type: object, required: [n], properties: {n: {const: 1}}}"
TICKS = f"""
openapi: 3.1.0
info: {{title: Ticks, version: "1"}}
paths:
  /ticks: {{get: {{responses: {{"200": {{description: "", content: {{text/event-stream: {{schema: {TICK}}}}}}}}}}}}}
  /named: {{get: {{responses: {{"200": {{description: "", content: {{text/event-stream: {{example: "id: a\\ndata: 1\\n\\nid: b\\ndata: 2\\n\\n"}}}}}}}}}}}}
  /lines: {{get: {{responses: {{"200": {{description: "", content: {{application/jsonl: {{itemSchema: {TICK}}}}}}}}}}}}}
  /plain: {{get: {{responses: {{"200": {{description: "", content: {{application/json: {{schema: {TICK}}}}}}}}}}}}}
"""


@pytest.fixture
def ticks(serve: Serve) -> Service:
    return serve(TICKS, api={"handlers": {}, "scopes": {}, "limited": frozenset()})


def event(number: int) -> str:
    return f'data: {{"n":1}}\nid: {number}\n\n'


@pytest.mark.parametrize(
    ("target", "headers", "body"),
    [
        ("/ticks", {}, 'data: {"n":1}\n\n'),
        ("/ticks", {"prefer": "events=3"}, event(1) + event(2) + event(3)),
        ("/ticks?__events=2", {}, event(1) + event(2)),
        ("/ticks", {"prefer": "events=4", "last-event-id": "2"}, event(3) + event(4)),
        ("/ticks", {"prefer": "events=2", "last-event-id": "2"}, ""),
        ("/ticks", {"last-event-id": "9" * 5000}, event(1)),
        ("/ticks", {"prefer": "events=2, dynamic=true"}, event(1) + event(2)),
        ("/ticks", {"prefer": "events=2, delay=0.01"}, event(1) + event(2)),
        ("/named", {"last-event-id": "a"}, "id: b\ndata: 2\n\n"),
        (
            "/named",
            {"prefer": "events=3"},
            "id: a\ndata: 1\n\nid: b\ndata: 2\n\nid: a\ndata: 1\n\n",
        ),
        ("/lines", {"prefer": "events=3"}, '{"n":1}\n' * 3),
        ("/lines", {"prefer": "events=0"}, ""),
        ("/plain", {"prefer": "events=3"}, '{"n":1}'),
    ],
)
def test_a_stream_has_the_items_that_are_preferred(
    ticks: Service, target: str, headers: dict[str, str], body: str
) -> None:
    response = ticks.get(target, headers=headers)
    assert (response.status_code, response.text) == (200, body)


def test_items_come_at_their_interval(ticks: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("understudy.mock.server.response_sending.asyncio.sleep", sleep)
    ticks.get("/ticks", headers={"prefer": "events=3, interval=2.5"})
    assert pauses == [2.5, 2.5]


def test_a_stream_that_stays_ends_when_its_client_leaves(ticks: Service) -> None:
    sent: list[bytes] = []

    async def ask() -> None:
        left = asyncio.Event()

        async def receive() -> dict[str, object]:
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message.get("body", b""))
            if len(sent) == 3:
                left.set()

        scope = {
            "type": "http",
            "method": "GET",
            "path": "/ticks",
            "query_string": b"",
            "headers": [(b"host", b"mock.test"), (b"prefer", b"events=2, then=stay")],
            "scheme": "http",
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8080),
        }
        await ticks.application(scope, receive, send)

    asyncio.run(ask())
    assert sent == [b"", event(1).encode(), event(2).encode()]


@pytest.mark.parametrize("preference", ["events=-1", "events=x", "interval=61", "then=go"])
def test_what_is_no_way_to_send_a_stream_is_refused(ticks: Service, preference: str) -> None:
    assert ticks.get("/ticks", headers={"prefer": preference}).status_code == 400


def test_the_head_of_a_stream_ends_at_once(ticks: Service) -> None:
    response = ticks.ask("HEAD", "/ticks", headers={"prefer": "then=stay"})
    assert (response.status_code, response.text) == (200, "")


def test_a_stream_that_is_cancelled_ends_its_source_first() -> None:
    ended = []

    async def content() -> AsyncGenerator[bytes]:
        try:
            yield b"a"
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    async def cancelled() -> None:
        sent = asyncio.Event()

        async def send(_message: Any) -> None:
            sent.set()

        sending = asyncio.ensure_future(send_chunks(receive, send, content()))
        await sent.wait()
        await asyncio.sleep(0)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending

    asyncio.run(cancelled())
    assert ended == [True]

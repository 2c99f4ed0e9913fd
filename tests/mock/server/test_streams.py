"""Event streams and JSON sequences of any document, sent one item at a time."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp
from tests.mock.asking import Ask, asking
from tests.mock.server.conftest import Serve, Service

from understudy.mock.app import Mock
from understudy.mock.server.response_sending import send_chunks
from understudy.mock.settings import Settings

TICK = "{type: object, required: [n], properties: {n: {const: 1}}}"
TICKS = f"""
openapi: 3.1.0
info: {{title: Ticks, version: "1"}}
paths:
  /ticks: {{get: {{responses: {{"200": {{description: "", content: {{text/event-stream: {{schema: {TICK}}}}}}}}}}}}}
  /named: {{get: {{responses: {{"200": {{description: "", content: {{text/event-stream: {{example: "id: a\\ndata: 1\\n\\nid: b\\ndata: 2\\n\\n"}}}}}}}}}}}}
  /lines: {{get: {{responses: {{"200": {{description: "", content: {{application/jsonl: {{itemSchema: {TICK}}}}}}}}}}}}}
  /empty: {{get: {{responses: {{"200": {{description: ""}}}}}}}}
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
        ("/empty", {"prefer": "events=3"}, ""),
    ],
)
def test_a_stream_has_the_items_that_are_preferred(
    ticks: Service, target: str, headers: dict[str, str], body: str
) -> None:
    response = ticks.get(target, headers=headers)
    assert (response.status_code, response.text) == (200, body)


@pytest.mark.parametrize(
    ("target", "method", "applied"),
    [
        ("/ticks", "GET", "events=1, delay=0, interval=0, then=end"),
        ("/lines", "GET", "events=1, delay=0, interval=0, then=end"),
        ("/plain", "GET", "delay=0"),
        ("/ticks", "HEAD", "delay=0"),
    ],
)
def test_a_preference_for_streams_is_applied_only_where_a_stream_obeys_it(
    ticks: Service, target: str, method: str, applied: str
) -> None:
    preferences = {"prefer": "events=1, delay=0, interval=0, then=end"}
    assert ticks.ask(method, target, headers=preferences).headers["preference-applied"] == applied
    assert ("preference-applied" in ticks.get(target, headers={"prefer": "events=1"}).headers) is (
        target != "/plain"
    )


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds between items, which are noted and not waited for."""
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr("understudy.mock.server.response_sending.asyncio.sleep", sleep)
    return found


def test_items_come_at_their_interval(ticks: Service, pauses: list[float]) -> None:
    ticks.get("/ticks", headers={"prefer": "events=3, interval=2.5"})
    assert pauses == [2.5, 2.5]


def messages_until_left(application: ASGIApp, count: int, **headers: str) -> list[bytes]:
    """Returns the bodies of the messages of /ticks; the client leaves after so many."""
    sent: list[bytes] = []

    async def ask() -> None:
        left = asyncio.Event()

        async def receive() -> dict[str, object]:
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message.get("body", b""))
            if len(sent) == count:
                left.set()

        scope = {
            "type": "http",
            "method": "GET",
            "path": "/ticks",
            "query_string": b"",
            "headers": [
                (b"host", b"127.0.0.1:8080"),
                *((name.encode(), text.encode()) for name, text in headers.items()),
            ],
            "scheme": "http",
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8080),
        }
        await application(scope, receive, send)

    asyncio.run(ask())
    return sent


def test_a_stream_that_stays_ends_when_its_client_leaves(ticks: Service) -> None:
    sent = messages_until_left(ticks.application, 3, prefer="events=2, then=stay")
    assert sent == [b"", event(1).encode(), event(2).encode()]


@pytest.fixture
def mock(tmp_path: Path) -> Mock:
    (tmp_path / "ticks.yaml").write_text(TICKS)
    return Mock(Settings(document=tmp_path / "ticks.yaml"))


def stub(ask: Ask, operation: str, response: Any, **members: Any) -> httpx.Response:
    body = {"operation": f"GET {operation}", "response": response, **members}
    return ask("POST", "/__admin/stubs", json=body)


@pytest.mark.parametrize("members", [{}, {"before_validation": True}, {"delay": "1ms"}])
@pytest.mark.parametrize(
    ("path", "body", "items"),
    [
        ("/ticks", {"n": 1}, [event(1), event(2), event(3)]),
        ("/lines", [{"n": 1}, {"n": 1}], ['{"n":1}\n'] * 3),
    ],
)
def test_a_stub_says_how_many_items_are_sent_and_when(
    mock: Mock, pauses: list[float], path: str, body: Any, items: list[str], members: Any
) -> None:
    ask = asking(mock)
    response = {"body": body, "events": 3, "interval": 2.5}
    assert stub(ask, path, response, **members).json()["response"] == response
    assert ask("GET", path).text == "".join(items)
    assert pauses == [2.5, 2.5]


def test_a_stub_plans_each_of_its_responses(mock: Mock) -> None:
    ask = asking(mock)
    stub(ask, "/ticks", [{"events": 2}, {"events": 1, "then": "stay"}])
    assert ask("GET", "/ticks").text == event(1) + event(2)
    sent = messages_until_left(mock.resource, 2)
    assert sent == [b"", event(1).encode()]


def test_a_request_and_its_last_event_id_come_before_the_plan_of_a_stub(
    mock: Mock, pauses: list[float]
) -> None:
    ask = asking(mock)
    stub(ask, "/ticks", {"events": 3, "interval": 2.5, "then": "stay"})
    headers = {"prefer": "events=4, then=end, delay=0.001", "last-event-id": "1"}
    assert ask("GET", "/ticks", headers=headers).text == event(2) + event(3) + event(4)
    assert pauses == [2.5, 2.5]


def test_an_empty_stream_may_stay(mock: Mock) -> None:
    stub(asking(mock), "/ticks", {"body": "", "events": 3, "then": "stay"})
    assert messages_until_left(mock.resource, 1) == [b""]


@pytest.mark.parametrize(
    ("path", "response", "reason"),
    [
        ("/ticks", {"events": -1}, "response.events: -1 is less than the minimum of 0"),
        ("/ticks", {"interval": 61}, "response.interval: 61 is greater than the maximum of 60"),
        ("/ticks", {"then": "go"}, 'response.then: "go" is not one of "end" or "stay"'),
        (
            "/plain",
            {"interval": 1, "then": "stay"},
            "responds 200 with application/json, which is no stream such as text/event-stream; "
            "leave out interval and then",
        ),
    ],
)
def test_a_stub_that_cannot_plan_a_stream_is_refused(
    mock: Mock, path: str, response: Any, reason: str
) -> None:
    refusal = stub(asking(mock), path, response)
    assert refusal.status_code == 400
    assert reason in refusal.json()["detail"]


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

"""Callbacks and webhooks of a document: sent by the world's clock, journalled, and to permitted hosts alone."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from understudy.mock.app import Mock
from understudy.mock.server.callbacks import DELAYS
from understudy.mock.settings import Settings

DOCUMENT = """
openapi: 3.1.0
info: {title: Orders, version: '1'}
paths:
  /orders:
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}
      responses: {'201': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}}
      callbacks:
        shipped:
          '{$request.body#/hook}/{$request.query.tenant}':
            post:
              parameters: [{name: X-Event, in: header, required: true, schema: {const: shipped}}]
              requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Event'}}}}
              responses: {'204': {description: ok}}
      parameters: [{name: tenant, in: query, schema: {type: string}}]
webhooks:
  removed: {post: {requestBody: {content: {application/json: {example: {id: 7}}}}, responses: {'200': {description: ok}}}}
components:
  schemas:
    Order: {type: object, properties: {id: {type: string, readOnly: true}, item: {type: string}, hook: {type: string}}}
    Event:
      type: object
      required: [kind, data, orderId, batch]
      properties: {kind: {const: shipped}, data: {$ref: '#/components/schemas/Order'}, orderId: {type: string}, batch: {type: integer}}
"""


class Scene:
    """A mock, and a receiver that responds with the next of some statuses."""

    def __init__(self, mock: Mock, statuses: list[int]) -> None:
        transport = httpx.ASGITransport(mock.resource, client=("127.0.0.1", 50_000))
        self.client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080")
        self.statuses = statuses
        self.received: list[tuple[str, dict[str, str], Any]] = []
        self.url = ""

    async def receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head, *fields = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = {k.lower(): v for k, v in (field.split(": ", 1) for field in fields)}
        body = json.loads(await reader.readexactly(int(headers.get("content-length", "0"))))
        self.received.append((head, headers, body))
        writer.write(b"HTTP/1.1 %d Ok\r\ncontent-length: 0\r\n\r\n" % self.statuses.pop(0))
        writer.close()

    async def ask(self, method: str, path: str, **options: Any) -> Any:
        return (await self.client.request(method, path, **options)).json()

    async def order(self, **headers: str) -> dict[str, Any]:
        sent = {"item": "tea", "hook": self.url}
        created: dict[str, Any] = await self.ask(
            "POST", "/orders?tenant=a&batch=1234", json=sent, headers=headers
        )
        return created

    async def advance(self, seconds: float, count: int) -> None:
        """Advances the clock, and waits until so many requests were received."""
        await self.ask("POST", "/__admin/clock/advance", json={"seconds": seconds})
        async with asyncio.timeout(20):
            while len(self.received) < count:
                await asyncio.sleep(0.01)

    async def journal(self) -> list[Any]:
        entries = await self.ask("GET", "/__admin/requests")
        return sorted(entries["requests"], key=lambda it: it["id"])


Play = Callable[..., None]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    (tmp_path / "orders.yaml").write_text(DOCUMENT)

    def play(
        act: Callable[[Scene], Awaitable[None]], statuses: tuple[int, ...] = (204,), **settings: Any
    ) -> None:
        async def scene() -> None:
            mock = Mock(Settings(document=tmp_path / "orders.yaml", **settings))
            playing = Scene(mock, list(statuses))
            receiver = await asyncio.start_server(playing.receive, "127.0.0.1", 0)
            host, port = receiver.sockets[0].getsockname()
            playing.url = f"http://{host}:{port}/hooks"
            async with receiver, playing.client:
                await playing.ask("PUT", "/__admin/clock", json={"frozen": True})
                await act(playing)
                await playing.ask("POST", "/__admin/reset")  # drops what waits

        asyncio.run(scene())

    return play


def test_a_callback_is_sent_by_the_worlds_clock_with_what_was_created(play: Play) -> None:
    async def act(scene: Scene) -> None:
        created = await scene.order()
        await asyncio.sleep(0.25)
        assert scene.received == []
        await scene.advance(DELAYS[0], 1)
        ((head, headers, body),) = scene.received
        assert head == "POST /hooks/a HTTP/1.1"
        assert (headers["x-event"], headers["content-type"]) == ("shipped", "application/json")
        data = {**created, "hook": scene.url}
        assert body == {"kind": "shipped", "data": data, "orderId": created["id"], "batch": 1234}

    play(act)


def test_it_is_sent_again_after_a_failure_and_each_attempt_is_journalled_and_judged(
    play: Play,
) -> None:
    async def act(scene: Scene) -> None:
        await scene.order()
        for number, seconds in enumerate(DELAYS, 1):
            await scene.advance(seconds, number)
            async with asyncio.timeout(20):  # the response is read before the next one is due
                while len(await scene.journal()) <= number:
                    await asyncio.sleep(0.01)
        cause, *sent = await scene.journal()
        assert any("shipped is sent to" in note for note in cause["notes"])
        assert [it["response"]["status"] for it in sent] == [500, 503, 200]
        assert sent[0]["request"]["absoluteUrl"] == f"{scene.url}/a"
        assert sent[0]["operation"] == "POST /orders callback shipped: POST"
        assert "attempt 3 of 3" in sent[2]["notes"][0]
        assert "status 200 is not in the document" in sent[2]["notes"][1]
        assert (await scene.ask("GET", "/__admin/requests/2"))["response"]["status"] == 500
        assert (
            len((await scene.ask("GET", "/__admin/requests/har"))["log"]["entries"])
            == len(sent) + 1
        )
        assert (await scene.ask("GET", "/__admin/requests/unmatched"))["requests"] == []

    play(act, (500, 503, 200))


def test_what_waits_is_dropped_by_a_reset(play: Play) -> None:
    async def act(scene: Scene) -> None:
        await scene.order()
        await scene.ask("POST", "/__admin/reset")
        await scene.ask("POST", "/__admin/clock/advance", json={"seconds": 60})
        await asyncio.sleep(0.25)
        assert scene.received == []

    play(act)


@pytest.mark.parametrize(
    ("hook", "headers", "settings", "reason"),
    [
        ("http://hooks.example.com", {}, {}, "--callbacks-to hooks.example.com"),
        ("http://127.0.0.1:9", {}, {"host": "0.0.0.0"}, "--callbacks-to 127.0.0.1"),
        ("http://127.0.0.1/__admin", {}, {}, "a path of the mock's own user"),
        ("file:///etc/passwd", {}, {}, "is not an http URL"),
        ("http://127.0.0.1:9", {"origin": "https://evil.example"}, {}, "a page of evil.example"),
        (None, {}, {}, "the exchange has no $request.body#/hook"),
    ],
)
def test_a_receiver_that_is_not_permitted_gets_nothing_and_the_journal_says_why(
    play: Play, hook: str | None, headers: dict[str, str], settings: dict[str, Any], reason: str
) -> None:
    async def act(scene: Scene) -> None:
        sent = {"item": "tea", **({"hook": hook} if hook else {})}
        await scene.ask("POST", "/orders?tenant=a&batch=1234", json=sent, headers=headers)
        (entry,) = await scene.journal()
        assert any(
            note.startswith("no shipped is sent") and reason in note for note in entry["notes"]
        )

    play(act, **settings)


def test_a_permitted_host_is_sent_to_where_others_reach_the_mock(play: Play) -> None:
    async def act(scene: Scene) -> None:
        await scene.order()
        await scene.advance(DELAYS[0], 1)

    play(act, host="0.0.0.0", callbacks_to=("127.0.0.1",))


def test_a_webhook_is_triggered_with_the_documents_body_or_another(play: Play) -> None:
    async def act(scene: Scene) -> None:
        listed = await scene.ask("GET", "/__admin/webhooks")
        assert [(it["name"], it["kind"]) for it in listed] == [
            ("shipped", "callback"),
            ("removed", "webhook"),
        ]
        sent = await scene.ask("POST", "/__admin/webhooks/removed", json={"url": scene.url})
        assert sent == {"request": 1, "status": 200, "notes": sent["notes"]}
        await scene.ask("POST", "/__admin/webhooks/removed", json={"url": scene.url, "body": [1]})
        assert [body for _, _, body in scene.received] == [{"id": 7}, [1]]
        failed = await scene.ask("POST", "/__admin/webhooks/removd", json={"url": scene.url})
        assert "did you mean 'removed'" in json.dumps(failed)

    play(act, (200, 200))


def test_what_is_wrong_with_a_callback_stops_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "api.yaml").write_text(
        DOCUMENT.replace(
            "post:\n              parameters: [", "post:\n              parameters: [{in: query}, "
        )
        + "  parameters: {}\n"
    )
    text = (tmp_path / "api.yaml").read_text()
    wrong = "webhooks:\n  odd: {post: {parameters: [{name: a, in: path}, {name: 7}], requestBody: {$ref: '#/none'}}}\n"
    (tmp_path / "api.yaml").write_text(text.replace("webhooks:\n", wrong))
    mock = Mock(Settings(document=tmp_path / "api.yaml"))
    assert [it.operation.path for it in mock.endpoints] == ["/orders"]


def test_webhooks_of_one_name_are_told_apart_and_any_name_fits_a_header(
    play: Play, tmp_path: Path
) -> None:
    both = "{post: {responses: {'200': {description: ok}}}, put: {responses: {'200': {description: ok}}}}"
    document = DOCUMENT.replace("webhooks:\n", f"webhooks:\n  gelöscht 100%: {both}\n")
    (tmp_path / "orders.yaml").write_text(document)

    async def act(scene: Scene) -> None:
        names = [it["name"] for it in await scene.ask("GET", "/__admin/webhooks")]
        assert names == ["shipped", "gelöscht 100%", "gelöscht 100% (2)", "removed"]
        path = "/__admin/webhooks/" + quote(names[2])
        await scene.ask("POST", path, json={"url": scene.url, "body": None})
        ((head, headers, _),) = scene.received
        assert head == "PUT /hooks HTTP/1.1"
        assert headers["x-mock-client"] == "gel%C3%B6scht 100%25 (2)"

    play(act, (200,))


def test_what_the_mock_sent_is_not_sent_again_to_the_mock(play: Play) -> None:
    async def act(scene: Scene) -> None:
        await scene.ask("POST", "/__admin/webhooks/removed", json={"url": scene.url})
        refused = await scene.ask("POST", "/__admin/send", json={"like": 1})
        assert "POST /webhooks/NAME sends it again" in refused["detail"]

    play(act, (200,))

"""What a service sends, in a real browser: webhooks, callbacks, and events of a stream."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from playwright.sync_api import Page, expect
from tests import patient
from tests.cli.conftest import Running
from tests.e2e.console import Console
from tests.e2e.test_accessibility import violations

DOCUMENT = """
openapi: 3.1.0
info: {title: Orders, version: '1'}
paths:
  /orders:
    post:
      requestBody: {content: {application/json: {schema: {type: object, properties: {hook: {type: string}}}}}}
      responses: {'201': {description: ok, content: {application/json: {schema: {type: object}}}}}
      callbacks:
        shipped:
          '{$request.body#/hook}': {post: {requestBody: {content: {application/json: {example: {kind: shipped}}}}, responses: {'200': {description: ok}}}}
  /events:
    get: {responses: {'200': {description: ok, content: {text/event-stream: {schema: {type: object, required: [news], properties: {news: {const: some}}}}}}}}
webhooks:
  Bestellung gelöscht: {post: {requestBody: {content: {application/json: {example: {id: 7}}}}, responses: {'200': {description: ok}}}}
"""
EVENTS = """url => new Promise((done) => {
    const source = new EventSource(url);
    const events = [];
    source.onmessage = ({ data, lastEventId }) => {
        events.push([lastEventId, data]);
        if (events.length === 4) {
            source.close();
            done(events);
        }
    };
})"""


class Receiver(ThreadingHTTPServer):
    """Takes webhooks, and keeps their bodies."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/hooks"
        self.bodies: list[bytes] = []


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        """Says nothing."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        thread = threading.Thread(target=receiver.serve_forever, args=(0.02,))
        thread.start()
        yield receiver
        receiver.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    directory = tmp_path_factory.mktemp("orders")
    (directory / "orders.yaml").write_text(DOCUMENT)
    running = Running(directory, "--document", str(directory / "orders.yaml"), "--log", "off")
    yield running
    running.stop()


@pytest.fixture
def console(page: Page, mock: Running) -> Iterator[Console]:
    patient.post(f"{mock.base_url}/__admin/reset")
    with httpx.Client(base_url=mock.base_url, trust_env=False, timeout=patient.PATIENCE) as client:
        yield Console(page, mock.base_url, client, [])


def test_a_webhook_is_sent_by_its_button_and_again_from_its_request(
    console: Console, receiver: Receiver
) -> None:
    console.open("#/reference")
    console.page.get_by_label("Receiver").fill(receiver.url)
    assert violations(console.page) == []
    console.click(console.button("Send Bestellung gelöscht"))
    expect(console.page.locator(".exchange-head")).to_contain_text(receiver.url)
    expect(console.page.locator(".why")).to_contain_text("the mock itself, to a receiver")
    console.click(console.button("Send again"))
    expect(console.page.locator(".facts")).to_contain_text("#2")
    console.done_in(2)
    assert receiver.bodies == [b'{"id":7}', b'{"id":7}']


def test_a_callback_is_listed_once_it_was_sent(console: Console, receiver: Receiver) -> None:
    console.open()
    console.client.post("/orders", json={"hook": receiver.url}).raise_for_status()
    row = console.rows().filter(has_text="sent by the mock")
    expect(row).to_contain_text("/hooks")
    console.click(row.get_by_role("link"))
    expect(console.page.locator(".message").last).to_contain_text("shipped")
    expect(console.button("Edit and send")).to_have_count(0)
    assert receiver.bodies == [b'{"kind":"shipped"}']


def test_a_receiver_that_does_not_respond_is_a_problem(
    console: Console, receiver: Receiver
) -> None:
    receiver.server_close()
    console.admin("POST", "/webhooks/shipped", {"url": receiver.url})
    console.open("#/traffic?only=problems")
    expect(console.rows()).to_contain_text("no response")


def test_a_browser_reads_a_stream_of_events_in_time(console: Console) -> None:
    console.open("#/reference")
    address = f"{console.url}/events?__events=4&__interval=0.1&__then=stay"
    events = console.page.evaluate(EVENTS, address)
    assert events == [[str(number), '{"news":"some"}'] for number in (1, 2, 3, 4)]
    console.open()
    expect(console.rows().filter(has_text="GET /events")).to_have_count(1)

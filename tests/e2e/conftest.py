"""A real Chromium, a mock in its own process, and a small client application with its server."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright
from tests import patient
from tests.cli.conftest import Running
from tests.e2e.console import Console
from tests.needs import program

SINGLE_PAGE = Path(__file__).parents[2] / "examples" / "single_page" / "index.html"
SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
PATIENCE = 60_000
"""Milliseconds that a busy machine may take."""

expect.set_options(timeout=PATIENCE)

FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)
"""A browser that is driven need not call home."""


def browser_program() -> str:
    """Returns the path of the browser that tests start, or skips the test.

    The same engine without a window takes half the processor time, so it is the first choice.
    """
    return program("chromium-headless-shell")


@contextmanager
def started_chromium() -> Iterator[Browser]:
    """Starts Chromium until the context ends; so long an event loop runs in this thread."""
    path = browser_program()
    is_root = os.geteuid() == 0  # whom the sandbox refuses to serve
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=FLAGS, chromium_sandbox=not is_root
        )
        try:
            yield browser
        finally:
            browser.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Chromium; not for the whole session, as its driver keeps an event loop running."""
    with started_chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("mock"))
    yield running
    running.stop()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A browser of its own for each test, which never leaves this machine."""
    context = chromium.new_context()
    abroad: list[str] = []

    def note(request: Request) -> None:
        host = urlsplit(request.url).hostname or "localhost"  # a name below it stays here too
        if host != "127.0.0.1" and not host.endswith("localhost"):
            abroad.append(request.url)

    context.on("request", note)
    yield context
    context.close()
    assert abroad == []


@pytest.fixture
def page(context: BrowserContext) -> Page:
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    return page


@pytest.fixture
def console(page: Page, mock: Running) -> Iterator[Console]:
    """The console of a new world, so that tests share a mock and nothing else."""
    site = mock.base_url.removesuffix("/v3")
    world = patient.post(f"{site}/__admin/worlds", json={}).json()
    with httpx.Client(
        base_url=world["base_url"], trust_env=False, timeout=patient.PATIENCE
    ) as client:
        yield Console(page, world["admin_url"].removesuffix("/__admin"), client, [])


class Client(ThreadingHTTPServer):
    """The application: its page, and a server that keeps its secret."""

    def __init__(self, mock: Running) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.mock = mock
        self.url = f"http://127.0.0.1:{self.server_port}/"
        asked = {"owner": "ada", "name": "Trail Journal", "redirect_uris": [self.url]}
        self.application = patient.post(f"{mock.auth_url}/__admin/applications", json=asked).json()

    @classmethod
    @contextmanager
    def running(cls, mock: Running) -> Iterator["Client"]:
        """Serves the application until the context ends."""
        with cls(mock) as client:
            thread = threading.Thread(target=client.serve_forever, args=(0.02,))
            thread.start()
            try:
                yield client
            finally:
                client.shutdown()
                thread.join()

    def admin(self, method: str, path: str) -> httpx.Response:
        url = f"{self.mock.auth_url}/__admin/applications/{self.application['client_id']}{path}"
        return patient.request(method, url).raise_for_status()


class _Handler(BaseHTTPRequestHandler):
    server: Client

    def do_GET(self) -> None:
        client, mock = self.server, self.server.mock
        if self.path == "/settings":
            addresses = {"base_url": mock.base_url, "auth_url": mock.auth_url}
            said = {**addresses, "client_id": client.application["client_id"]}
            self._answer("application/json", json.dumps(said).encode())
        else:
            self._answer("text/html; charset=utf-8", SINGLE_PAGE.read_bytes())

    def do_POST(self) -> None:
        client = self.server
        sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        form = {
            "grant_type": "authorization_code",
            "code": sent["code"][0],
            "redirect_uri": client.url,
            "client_id": client.application["client_id"],
            "client_secret": client.application["client_secret"],
        }
        answer = patient.post(f"{client.mock.auth_url}/oauth2/token", data=form)
        self._answer("application/json", answer.content)

    def _answer(self, media_type: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Says nothing."""


@pytest.fixture
def client(mock: Running) -> Iterator[Client]:
    with Client.running(mock) as client:
        yield client

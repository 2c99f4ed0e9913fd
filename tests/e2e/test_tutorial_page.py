"""The page of the frontend tutorial signs in: saved to a file, served, and clicked as its reader would."""

import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page
from tests import patient
from tests.cli.conftest import Running

TUTORIAL = (Path(__file__).parents[2] / "docs" / "tutorials" / "frontend.md").read_text()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_arguments: object) -> None:
        """Says nothing."""


@pytest.fixture
def shown(mock: Running, tmp_path: Path) -> Iterator[str]:
    """The address of the tutorial's page, with the addresses of this run in it."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=tmp_path)) as server:
        url = f"http://127.0.0.1:{server.server_port}/"
        (page,) = re.findall(r"^```html\n(.*?)^```$", TUTORIAL, re.M | re.S)
        for usual, here in (
            ("http://127.0.0.1:5173/", url),
            ("http://127.0.0.1:8080/v3", mock.base_url),
            ("http://127.0.0.1:8081", mock.auth_url),
        ):
            assert usual in page
            page = page.replace(usual, here)
        (tmp_path / "index.html").write_text(page)
        application = f"{mock.auth_url}/__admin/applications/browser-app"
        patient.patch(application, json={"redirect_uris": [url]}).raise_for_status()
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield url
        server.shutdown()
        thread.join()


def test_a_button_signs_in_and_the_page_knows_who(page: Page, shown: str) -> None:
    page.goto(shown)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Ada Merrowdale").click()
    page.get_by_role("button", name="Approve").click()
    page.get_by_text("Hello, Ada Merrowdale").wait_for()

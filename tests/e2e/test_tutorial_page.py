"""The page of the frontend tutorial signs in: saved to files, served by Vite, and clicked as its reader would."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page
from tests import patient
from tests.cli.conftest import Running
from tests.e2e.test_proxies import free_port, listens
from tests.needs import package, program
from tests.npm.test_launcher import wait_for

TUTORIAL = (Path(__file__).parents[2] / "docs" / "tutorials" / "frontend.md").read_text()


@pytest.fixture
def shown(mock: Running, tmp_path: Path) -> Iterator[str]:
    """The address of the tutorial's page, with the addresses of this run in it."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    here = {
        "http://127.0.0.1:5173/": url,
        "http://127.0.0.1:8080/v3": mock.base_url,
        "http://127.0.0.1:8081": mock.auth_url,
    }
    files = re.findall(r"^```(?:html|jsx)\n\S+ (\S+)[^\n]*\n(.*?)^```$", TUTORIAL, re.M | re.S)
    assert [name for name, _ in files] == ["index.html", "main.jsx"]
    assert all(usual in files[1][1] for usual in here)
    for name, text in files:
        filled = re.sub("|".join(map(re.escape, here)), lambda found: here[found[0]], text)
        (tmp_path / name).write_text(filled)
    (tmp_path / "package.json").write_text("{}")
    (tmp_path / "node_modules").mkdir()
    for name in ("react", "react-dom", "vite"):
        (tmp_path / "node_modules" / name).symlink_to(package(name))
    application = f"{mock.auth_url}/__admin/applications/browser-app"
    patient.patch(application, json={"redirect_uris": [url]}).raise_for_status()
    vite = [program("vite"), "--host", "127.0.0.1", "--port", str(port), "--strictPort"]
    with subprocess.Popen(vite, cwd=tmp_path, stdout=subprocess.DEVNULL, text=True) as server:
        try:
            wait_for(lambda: listens(port), server)
            yield url
        finally:
            server.terminate()


def test_a_button_signs_in_and_the_page_knows_who(page: Page, shown: str) -> None:
    page.goto(shown)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Ada Merrowdale").click()
    page.get_by_role("button", name="Approve").click()
    page.get_by_text("Hello, Ada Merrowdale").wait_for()

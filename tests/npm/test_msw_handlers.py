"""``generate --format msw``: handlers that answer as the mock does, with no server and no Python."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from tests.cli.conftest import Running
from tests.needs import js_package, program

from understudy.cli import main

ADA, BEN = {"Authorization": "Bearer ada-full"}, {"Authorization": "bearer ben-full"}
REQUESTS: list[tuple[str, str, dict[str, str]]] = [
    ("GET", "/profiles/ada", {}),
    ("GET", "/profiles/ADA", {}),
    ("GET", "/profiles/ada", ADA),
    ("GET", "/profiles/b5fc85e55755f9e0d030a10ab4429b6b2944855f9a0d60077fe832becbc41d72", {}),
    ("GET", "/profiles/nobody", {}),
    ("GET", "/profiles/ben", {}),
    ("GET", "/me/profile", {}),
    ("GET", "/me/profile", ADA),
    ("GET", "/me/profile", BEN),
    ("GET", "/me/profile", {"Authorization": "Bearer wrong"}),
    ("GET", "/me/avatars", ADA),
]

ASKING = """
import { setupServer } from "msw/node";
import { handlers } from "./handlers.mjs";

const base = "http://api.example/v3";
setupServer(...handlers({ base })).listen({ onUnhandledRequest: "error" });
const answers = [];
for (const [method, path, headers] of REQUESTS) {
  const response = await fetch(base + path, { method, headers });
  answers.push([response.status, response.headers.get("x-mock-kept"), await response.text()]);
}
console.log(JSON.stringify(answers));
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    mock = Running(tmp_path_factory.mktemp("mock"), "--log", "off")
    yield mock
    mock.stop()


def answers(place: Path, requests: list[tuple[str, str, dict[str, str]]]) -> list[Any]:
    """Sends requests to the handlers in Node, where no mock is."""
    (place / "node_modules").symlink_to(js_package("msw").parent)
    (place / "asking.mjs").write_text(ASKING.replace("REQUESTS", json.dumps(requests)))
    done = subprocess.run(
        [program("node"), "asking.mjs"],
        check=False,
        cwd=place,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    answered: list[Any] = json.loads(done.stdout)
    return answered


def test_handlers_answer_as_the_mock_that_they_were_made_of(
    running: Running, tmp_path: Path
) -> None:
    site = running.base_url.removesuffix("/v3")
    merge = {"operation": "getProfile", "when": {"path": {"profileIdentifier": "ben"}}}
    stub = {**merge, "response": {"merge": {"location": "Elsewhere"}}}
    httpx.post(f"{site}/__admin/stubs", json=stub).raise_for_status()
    words = ["generate", "--format", "msw", "--base-url", running.base_url]
    done = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "handlers.mjs")])
    assert done.exit_code == 0, done.output
    write = ("PATCH", "/me/profile", ADA)
    *reads, written = answers(tmp_path, [*REQUESTS, write])
    for (method, path, headers), (status, kept, text) in zip(REQUESTS, reads, strict=True):
        own = httpx.request(method, running.base_url + path, headers=headers)
        expected = own.text.replace(running.base_url, "http://api.example/v3")
        assert (status, kept) == (own.status_code, None), path
        assert text == expected.replace(site, "http://api.example"), path
    assert written[:2] == [200, "nothing"]
    assert len(httpx.get(f"{site}/__admin/worlds").json()) == 1

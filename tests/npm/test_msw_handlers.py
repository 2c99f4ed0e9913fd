"""``generate --format msw``: handlers that answer as the mock does, with no server and no Python."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from click.testing import CliRunner
from tests import patient
from tests.cli.conftest import Running
from tests.needs import js_package, program

from understudy.cli import main

ADA, BEN = {"Authorization": "Bearer ada-full"}, {"Authorization": "bearer ben-full"}
SIGNING_IN = {
    "client_id": "browser-app",
    "redirect_uri": "http://127.0.0.1:5173/",
    "response_type": "token",
    "scope[0]": "auth",
    "scope[1]": "avatar-profile:read",
    "mock_approve": "ada",
}
HASH = "b5fc85e55755f9e0d030a10ab4429b6b2944855f9a0d60077fe832becbc41d72"
REQUESTS: list[tuple[str, str, dict[str, str]]] = [
    ("GET", "/profiles/ada", {}),
    ("GET", "/profiles/ADA", {}),
    ("GET", "/profiles/ada", ADA),
    ("GET", f"/profiles/{HASH}", {}),
    ("GET", "/profiles/nobody", {}),
    ("GET", "/profiles/ben", {}),
    ("GET", "/me/profile", {}),
    ("GET", "/me/profile", ADA),
    ("GET", "/me/profile", BEN),
    ("GET", "/me/profile", {"Authorization": "Bearer wrong"}),
    ("GET", "/me/avatars", ADA),
    ("GET", f"/me/associated-email?email_hash={HASH}", ADA),
    ("GET", f"/me/associated-email?email_hash={HASH}", BEN),
    ("GET", "/me/associated-email", ADA),
    ("GET", "/openapi", {}),
    ("HEAD", "/profiles/ada", {}),
]

IMPORTS = {
    "mjs": 'import { setupServer } from "msw/node";\nimport { handlers } from "./handlers.mjs";',
    "cjs": 'const { setupServer } = require("msw/node");\nconst { handlers } = require("./handlers.cjs");',
}

ASKING = """
const base = "http://api.example/v3";
setupServer(...handlers({ base })).listen({ onUnhandledRequest: "error" });
const ask = async ([method, path, headers]) => {
  const response = await fetch(base + path, { method, headers });
  return [response.status, response.headers.get("x-mock-kept"), await response.text()];
};
Promise.all(REQUESTS.map(ask)).then((answers) => console.log(JSON.stringify(answers)));
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    mock = Running(tmp_path_factory.mktemp("mock"), "--log", "off")
    yield mock
    mock.stop()


def answers(place: Path, kind: str, requests: list[tuple[str, str, dict[str, str]]]) -> list[Any]:
    """Sends requests to the handlers in Node, where no mock is."""
    (place / "node_modules").symlink_to(js_package("msw").parent)
    asking = IMPORTS[kind] + ASKING.replace("REQUESTS", json.dumps(requests))
    (place / f"asking.{kind}").write_text(asking)
    done = subprocess.run(
        [program("node"), f"asking.{kind}"],
        check=False,
        cwd=place,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    answered: list[Any] = json.loads(done.stdout)
    return answered


def test_a_stub_that_keeps_its_stream_open_does_not_keep_the_generator(tmp_path: Path) -> None:
    content = {"text/event-stream": {"example": "data: 1\n\n"}}
    operation = {"responses": {"200": {"description": "ok", "content": content}}}
    document = {"openapi": "3.1.0", "info": {"title": "Ticks", "version": "1"}}
    document["paths"] = {"/ticks": {"get": operation}}
    (tmp_path / "ticks.json").write_text(json.dumps(document))
    mock = Running(tmp_path, "--log", "off", "--document", str(tmp_path / "ticks.json"))
    stub = {"operation": "GET /ticks", "response": {"events": 2, "interval": 60, "then": "stay"}}
    try:
        patient.post(f"{mock.base_url}/__admin/stubs", json=stub).raise_for_status()
        words = ["generate", "--format", "msw", "--base-url", mock.base_url]
        done = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "handlers.mjs")])
    finally:
        mock.stop()
    assert done.exit_code == 0, done.output
    assert "data: 1\\nid: 2" in (tmp_path / "handlers.mjs").read_text()


@pytest.mark.parametrize("kind", ["mjs", "cjs"])
def test_handlers_answer_as_the_mock_that_they_were_made_of(
    running: Running, tmp_path: Path, kind: str
) -> None:
    site = running.base_url.removesuffix("/v3")
    merge = {"operation": "getProfile", "when": {"path": {"profileIdentifier": "ben"}}}
    stub = {**merge, "response": {"merge": {"location": "Elsewhere"}}}
    patient.post(f"{site}/__admin/stubs", json=stub).raise_for_status()
    back = httpx.get(f"{running.auth_url}/oauth2/authorize", params=SIGNING_IN).headers["location"]
    token = parse_qs(urlsplit(back).fragment)["access_token"][0]
    assert token != token.lower()
    issued = {"Authorization": f"Bearer {token}"}
    reads_of_all = [*REQUESTS, *((method, path, issued) for method, path, _ in REQUESTS)]
    words = ["generate", "--format", "msw", "--base-url", running.base_url]
    done = CliRunner().invoke(main, [*words, "--out", str(tmp_path / f"handlers.{kind}")])
    assert done.exit_code == 0, done.output
    upload = ("POST", "/me/avatars", BEN)
    others = [upload, ("PATCH", "/me/profile", BEN), ("GET", "/qr-code/ada", {})]
    *reads, uploaded, written, picture = answers(tmp_path, kind, [*reads_of_all, *others])
    for (method, path, headers), (status, kept, text) in zip(reads_of_all, reads, strict=True):
        own = httpx.request(method, running.base_url + path, headers=headers)
        expected = own.text.replace(running.base_url, "http://api.example/v3")
        assert (status, kept) == (own.status_code, None), path
        assert text == expected.replace(site, "http://api.example"), path
    assert json.loads(uploaded[2])["image_url"].startswith("http://api.example/avatar/")
    assert written[:2] == [200, "nothing"]
    assert json.loads(written[2])["profile_url"].endswith("/ben")
    assert picture[2][1:4] == "PNG"
    assert len(patient.get(f"{site}/__admin/worlds").json()) == 1

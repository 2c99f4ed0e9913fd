"""A page of another origin in a real browser gets nothing out of the admin API, and nothing in."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route
from tests import patient
from tests.cli.conftest import Running

ATTACKER = "http://attacker.localhost:9999"
"""Another origin; what it serves is made up by the test."""

FETCH = """async ([method, url, type, body, mode]) => {
  const headers = type ? {'Content-Type': type} : {};
  try {
    const answer = await fetch(url, {method, headers, body: body ?? undefined, mode});
    return {status: answer.status, text: await answer.text()};
  } catch (error) {
    return {error: String(error)};
  }
}"""


@pytest.fixture
def attack(page: Page, mock: Running) -> Callable[..., Any]:
    """Sends a request from a page of another origin, and returns what the page learns."""

    def serve(route: Route) -> None:
        route.fulfill(body="<!doctype html><title>nice page</title>", content_type="text/html")

    page.route(f"{ATTACKER}/**", serve)
    page.goto(f"{ATTACKER}/")

    def send(
        method: str, path: str, kind: str = "", body: str | None = None, mode: str = "cors"
    ) -> Any:
        return page.evaluate(FETCH, [method, site(mock) + path, kind, body, mode])

    return send


def site(mock: Running) -> str:
    return mock.base_url.removesuffix("/v3")


def clock(mock: Running) -> Any:
    return patient.get(f"{site(mock)}/__admin/clock").json()


@pytest.mark.parametrize("path", ["/__admin/worlds", "/__admin/requests", "/__admin/export"])
def test_a_page_cannot_read_the_admin_api(attack, path: str) -> None:
    assert "error" in attack("GET", path)


@pytest.mark.parametrize("mode", ["cors", "no-cors"])
@pytest.mark.parametrize("kind", ["application/json", "text/plain", ""])
def test_a_page_cannot_write_by_fetch(attack, mock: Running, kind: str, mode: str) -> None:
    said = attack(
        "PUT" if mode == "cors" else "POST", "/__admin/clock", kind, '{"frozen":true}', mode
    )
    assert "error" in said or said == {"status": 0, "text": ""}
    assert clock(mock)["frozen"] is False


@pytest.mark.usefixtures("attack")
def test_a_page_cannot_write_by_a_form(page: Page, mock: Running) -> None:
    body = json.dumps({"person": "ada"})
    page.set_content(
        f"""<form method=post enctype="text/plain" action="{site(mock)}/__admin/tokens">
        <input name='{body[:-1]}, "x":"' value='"}}'><button>win</button></form>"""
    )
    with page.expect_navigation() as navigation:
        page.get_by_role("button").click()
    answer = navigation.value
    assert answer is not None
    assert answer.status == 403


def test_a_page_cannot_reset_a_world_without_a_body(attack, mock: Running) -> None:
    token = {"Authorization": "Bearer ben-full"}
    url = f"{mock.base_url}/me/profile"
    patient.patch(url, json={"location": "Stays"}, headers=token)
    attack("POST", "/__admin/reset", mode="no-cors")
    found = patient.get(f"{mock.base_url}/profiles/ben").json()
    assert found["location"] == "Stays"


def test_a_name_that_was_bound_to_this_machine_is_no_name_of_it(page: Page, mock: Running) -> None:
    """DNS rebinding: the attacker's own name leads here, so the browser sees one origin."""
    port = site(mock).rpartition(":")[2]
    answer = page.goto(f"http://rebound.localhost:{port}/__admin/worlds")
    assert answer is not None
    assert answer.status == 403
    assert "is not a loopback host name" in answer.text()


@pytest.mark.usefixtures("attack")
def test_the_admin_api_cannot_be_framed_into_reading(page: Page, mock: Running) -> None:
    page.set_content(f'<iframe src="{site(mock)}/__admin/worlds"></iframe>')
    frame = page.frames[-1]
    frame.wait_for_load_state()
    assert "base_url" not in frame.content()


ATTACKING_DOCUMENT = """
openapi: 3.1.0
info: {title: Attacker, version: '1'}
paths:
  /page:
    get:
      responses:
        '200':
          description: A page with a script, at the origin of the admin API.
          headers: {Content-Security-Policy: {schema: {const: "script-src 'unsafe-inline'"}}}
          content:
            text/html:
              example: |
                <h1 id=shown>page</h1><script>
                document.getElementById("shown").textContent = "ran";
                fetch("/__admin/worlds", {method: "POST", body: '{"name": "owned"}',
                  headers: {"Content-Type": "application/json"}});
                </script>
"""


def test_a_page_of_a_document_cannot_call_the_admin_api(page: Page, tmp_path: Path) -> None:
    document = tmp_path / "attacking.yaml"
    document.write_text(ATTACKING_DOCUMENT)
    mock = Running(tmp_path, "--document", str(document))
    try:
        answer = page.goto(f"{mock.base_url}/page")
        assert answer is not None
        assert answer.headers["content-type"] == "text/html"
        assert page.locator("#shown").text_content() == "page"
        worlds = patient.get(f"{origin(mock.base_url)}/__admin/worlds").json()
        assert [world["name"] for world in worlds] == ["default"]
    finally:
        mock.stop()


def origin(url: str) -> str:
    return "/".join(url.split("/")[:3])

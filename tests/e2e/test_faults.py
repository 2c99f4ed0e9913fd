"""The faults that a socket and a browser show and no test in the process does: httpx, and a page's fetch."""

import time
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page
from tests import patient
from tests.cli.conftest import Running
from tests.e2e.conftest import Client

FETCH = """async ([url, prefer]) => {
  try {
    const answer = await fetch(url, {headers: {Prefer: prefer}, cache: 'no-store'});
    const said = {status: answer.status, type: answer.headers.get('content-type')};
    said.applied = answer.headers.get('preference-applied');
    try { said.json = await answer.json(); } catch (error) { said.error = error.name; }
    return said;
  } catch (error) {
    return {error: error.name};
  }
}"""


@pytest.fixture
def fetched(page: Page, mock: Running, client: Client):
    """What a page gets that asks for a fault; it is of another origin, as clients are."""
    page.goto(client.url)

    def fetch(prefer: str) -> Any:
        return page.evaluate(FETCH, [f"{mock.base_url}/profiles/ada", prefer])

    return fetch


def asked(mock: Running, prefer: str) -> httpx.Response:
    headers = {"Prefer": prefer}
    return patient.get(f"{mock.base_url}/profiles/ada", headers=headers)


@pytest.mark.parametrize("effect", ["reset", "truncate"])
def test_a_connection_ends_in_the_middle(mock: Running, fetched, effect: str) -> None:
    with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
        asked(mock, f"fault={effect}")
    assert fetched(f"fault={effect}")["error"] in {"TypeError", "SyntaxError"}


def test_a_body_that_is_no_json(mock: Running, fetched) -> None:
    answer = asked(mock, "fault=malformed-json")
    assert answer.headers["content-type"] == "application/json"
    with pytest.raises(ValueError, match="Expecting"):
        answer.json()
    assert fetched("fault=malformed-json")["error"] == "SyntaxError"


def test_a_wrong_content_type(mock: Running, fetched) -> None:
    assert asked(mock, "fault=wrong-content-type").headers["content-type"].startswith("text/html")
    assert fetched("fault=wrong-content-type")["type"].startswith("text/html")


def test_a_slow_body_and_a_delay(mock: Running, fetched) -> None:
    for prefer in ("delay=0.5",):
        begun = time.monotonic()
        assert asked(mock, prefer).json()["display_name"] == "Ada Merrowdale"
        assert time.monotonic() - begun >= 0.5
    assert fetched("delay=0.1")["json"]["display_name"] == "Ada Merrowdale"
    site = mock.base_url.removesuffix("/v3")
    world = patient.post(f"{site}/__admin/worlds").json()
    slow = {"effect": "slow", "seconds": 0.4}
    patient.post(f"{world['admin_url']}/faults", json=slow)
    begun = time.monotonic()
    with patient.stream("GET", f"{world['base_url']}/profiles/ada") as answer:
        chunks = list(answer.iter_raw())
    assert time.monotonic() - begun >= 0.35
    assert len(chunks) > 3


@pytest.mark.parametrize("code", [404, 429, 500, 503])
def test_any_status_with_a_body_true_to_the_document(mock: Running, fetched, code: int) -> None:
    answer = asked(mock, f"code={code}")
    assert (answer.status_code, answer.headers["preference-applied"]) == (code, f"code={code}")
    assert set(answer.json()) == {"error", "code"}
    said = fetched(f"code={code}")
    assert (said["status"], said["applied"]) == (code, f"code={code}")

"""The contract, the reference and the sign-ins of the console, in a real browser."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import expect
from tests.e2e.console import Console
from tests.e2e.test_accessibility import violations
from tests.e2e.test_looks import SCHEMES

WIDTHS = (390, 2000)
REPORT = {
    "version": 2,
    "target": "https://staging.example.com/v3",
    "started": "2026-03-01T12:00:00+00:00",
    "rules": [
        {"id": "profile-unknown-404", "statement": "Unknown is 404.", "status": "failed"},
        {"id": "profile-by-hash-or-slug", "statement": "By hash or slug.", "status": "passed"},
    ],
}


def authorize(console: Console, **changes: str) -> httpx.Response:
    """Sends an authorization request that a person approves without a page."""
    auth_url = console.admin("GET", f"/worlds/{console.url.rpartition('/')[2]}")["auth_url"]
    query = {
        "client_id": "server-app",
        "redirect_uri": "http://127.0.0.1:5000/callback",
        "response_type": "code",
        "scope": "auth",
        "mock_approve": "ada",
        **changes,
    }
    return console.client.get(f"{auth_url}/oauth2/authorize", params=query)


def test_what_was_exercised_leads_to_the_rules_and_to_the_requests(console: Console) -> None:
    console.client.get("/profiles/ada")
    console.client.get("/profiles/nobody-here")
    console.open("#/contract")
    row = console.page.locator(".matrix tr", has_text="getProfile")
    expect(row).to_contain_text("200 (1)")
    console.click(row.get_by_role("link", name="getProfile"))
    detail = console.page.get_by_role("region", name="The chosen operation")
    expect(detail).to_contain_text("profile-unknown-404")
    console.click(row.get_by_role("link", name="404 (1)"))
    expect(console.page.locator("[role=row]:not(.head)")).to_have_count(1)
    assert len(console.clicks) == 2


def test_a_report_of_verify_is_read_in_the_page(console: Console, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(json.dumps(REPORT))
    console.open("#/contract/getProfile")
    console.page.get_by_label("Report, as JSON").set_input_files(file)
    expect(console.page.get_by_role("region", name="Last verify")).to_contain_text("1 failed")
    rule = console.page.get_by_role("region", name="The chosen operation").locator(
        "li", has_text="profile-unknown-404"
    )
    expect(rule.locator(".badge")).to_have_text("failed")


def test_an_operation_is_tried_from_its_example(console: Console) -> None:
    console.open("#/reference/getProfile")
    console.click(console.button("Send"))
    expect(console.page.locator(".exchange-head .badge")).to_be_visible()
    [sent] = console.admin("GET", "/requests")["requests"]
    assert (sent["operation"], sent["response"]["status"]) == ("getProfile", 200)


def test_edge_cases_are_sent_with_their_verdict(console: Console) -> None:
    console.open("#/reference/getProfile")
    console.click(console.button("Show edge cases"))
    console.click(console.button("Send all"))
    expect(console.page.locator("#notices")).to_contain_text("All 20 cases passed.")
    first = console.page.get_by_role("region", name="Edge cases").locator("tbody tr").first
    expect(first.locator(".badge")).to_contain_text("passed")


def test_edge_cases_are_exported(console: Console) -> None:
    console.open("#/reference/getProfile")
    console.button("Show edge cases").click()
    with console.page.expect_download() as saved:
        console.button("Export").click()
    assert saved.value.suggested_filename == "getProfile.curl"
    assert "curl" in Path(saved.value.path()).read_text()


def test_a_sign_in_is_drawn_with_advice_and_where_it_stopped(console: Console) -> None:
    location = authorize(console).headers["location"]
    assert parse_qs(urlsplit(location).query)["code"]
    console.open("#/sign-ins")
    expect(console.page.locator("svg.sequence .step")).to_have_count(1)
    expect(console.page.locator(".stopped")).to_contain_text("The code was not exchanged.")
    advice = console.page.get_by_role("region", name="Advice")
    expect(advice).to_contain_text("No state was sent")
    expect(advice).to_contain_text("PKCE protects the code")
    wrong = authorize(console, redirect_uri="http://127.0.0.1:1/")
    assert wrong.status_code == 400
    expect(console.page.locator("tr", has_text="redirect_uri").locator(".badge")).to_have_text(
        "wrong"
    )


@pytest.mark.parametrize(
    "address", ["contract/getProfile", "reference/updateOwnProfile", "sign-ins"]
)
def test_a_view_fits_its_screen_and_axe_finds_nothing(console: Console, address: str) -> None:
    console.client.get("/profiles/ada")
    authorize(console)
    for scheme, width in zip(SCHEMES, WIDTHS, strict=True):
        console.page.emulate_media(color_scheme=scheme)
        console.page.set_viewport_size({"width": width, "height": 900})
        console.open(f"#/{address}")
        expect(console.page.locator("main section").first).to_be_visible()
        fits: Any = console.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert fits
        assert violations(console.page) == []

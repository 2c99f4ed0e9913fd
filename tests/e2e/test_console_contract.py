"""The contract, the reference and the sign-ins of the console, in a real browser."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from xml.etree import ElementTree

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
    "findings": [
        {
            "rule": "profile-unknown-404",
            "summary": "An unknown hash is found.",
            "expected": "404",
            "actual": "200",
            "seen": 2,
            "steps": ["GET /profiles/unknown: 200"],
            "reproduce": {"curl": ["curl https://staging.example.com/v3/profiles/unknown"]},
        }
    ],
}
DRIFT = {
    "deployment": "https://staging.example.com/v3",
    "other": "the mock",
    "requests": 40,
    "causes": [
        {
            "fault": "silent",
            "rule": "profile-private",
            "differences": [
                {
                    "request": "getProfile as anonymous",
                    "aspect": "status",
                    "deployment": "404",
                    "other": "403",
                    "commands": "curl https://staging.example.com/v3/profiles/hal",
                }
            ],
        }
    ],
}
FACTS = {
    "deployment": "https://staging.example.com/v3",
    "learnt": "2026-01-02",
    "requests": 40,
    "facts": [
        {
            "rule": "profile-private",
            "reading": "404",
            "shown_by": ["getProfile as anonymous: 404"],
            "seen": 2,
            "learnt": "2026-01-02",
        }
    ],
    "unsettled": [],
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


def test_a_refused_request_has_its_cell_in_the_table(console: Console) -> None:
    console.client.get("/me/profile")
    console.open("#/contract")
    row = console.page.locator(".matrix tr", has_text="getOwnProfile")
    expect(row.get_by_role("cell").first).to_have_text("401 (1)")


def test_the_share_that_was_exercised_is_saved_as_a_picture(console: Console) -> None:
    console.client.get("/profiles/ada")
    console.open("#/contract")
    with console.page.expect_download() as saved:
        console.button("Save as a picture").click()
    assert saved.value.suggested_filename == "exercised.svg"
    picture = ElementTree.fromstring(Path(saved.value.path()).read_text())
    titles = [element.text for element in picture.iter() if element.tag.endswith("title")]
    assert "getProfile: status 200, exercised" in titles


def drop(console: Console, path: Path, report: dict[str, Any]) -> None:
    """Gives the page a report of a command."""
    path.write_text(json.dumps(report))
    console.page.get_by_label("Report, as JSON").set_input_files(path)


def test_a_report_of_verify_is_read_in_the_page(console: Console, tmp_path: Path) -> None:
    console.open("#/contract/getProfile")
    drop(console, tmp_path / "report.json", REPORT)
    expect(console.page.get_by_role("article", name="Last verify")).to_contain_text("1 failed")
    rule = console.page.get_by_role("region", name="The chosen operation").locator(
        "li", has_text="profile-unknown-404"
    )
    expect(rule.locator(".badge")).to_have_text("failed")
    console.click(rule.get_by_role("link"))
    chosen = console.page.get_by_role("region", name="The chosen rule")
    expect(chosen).to_contain_text("expected 404, and got 200")
    expect(chosen.get_by_role("link", name="getProfile (0 requests)")).to_be_visible()
    console.done_in(1)


def test_drift_and_facts_are_shown_with_their_age_and_lead_to_the_sentence(
    console: Console, tmp_path: Path
) -> None:
    console.open("#/contract")
    drop(console, tmp_path / "drift.json", DRIFT)
    drop(console, tmp_path / "facts.json", FACTS)
    expect(console.page.get_by_role("article", name="Drift")).to_contain_text("0 s ago")
    expect(console.page.get_by_role("article", name="Facts")).to_contain_text("days ago")
    console.page.reload()
    console.click(console.page.get_by_role("article", name="Drift").get_by_role("link"))
    chosen = console.page.get_by_role("region", name="The chosen rule")
    expect(chosen).to_contain_text("getProfile as anonymous: status")
    expect(chosen).to_contain_text("reads it as 404")
    expect(chosen).to_contain_text("this world reads it otherwise")
    console.done_in(1)


def test_a_file_that_is_no_report_is_refused_by_its_name(console: Console, tmp_path: Path) -> None:
    console.open("#/contract")
    drop(console, tmp_path / "other.json", {"openapi": "3.0.3"})
    expect(console.page.locator("#notices .bad")).to_contain_text("other.json is not a report")


def test_an_operation_is_tried_from_its_example(console: Console) -> None:
    console.open("#/reference/getProfile")
    console.click(console.button("Send"))
    expect(console.page.locator(".exchange-head .badge")).to_be_visible()
    [sent] = console.admin("GET", "/requests")["requests"]
    assert (sent["operation"], sent["response"]["status"]) == ("getProfile", 200)


def test_an_operation_that_needs_a_token_is_tried_as_somebody(console: Console) -> None:
    console.open("#/reference/updateOwnProfile")
    expect(console.page.get_by_label("Sign in as")).to_have_value("ada")
    console.click(console.button("Send"))
    expect(console.page.locator(".exchange-head .badge")).to_have_text("200")
    console.done_in(1)


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
    for form, name in (("curl", "getProfile.sh"), ("bruno", "getProfile.zip")):
        console.page.get_by_label("Format").select_option(form)
        with console.page.expect_download() as saved:
            console.button("Export").click()
        assert saved.value.suggested_filename == name
        assert Path(saved.value.path()).stat().st_size > 0


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


def test_a_request_to_the_authorization_server_is_sent_again_from_its_page(
    console: Console,
) -> None:
    authorize(console, redirect_uri="http://127.0.0.1:1/")
    console.open("#/traffic/1/edit")
    url = console.page.get_by_label("Path and query")
    url.fill(url.input_value().replace("127.0.0.1%3A1%2F", "127.0.0.1%3A5000%2Fcallback"))
    console.click(console.button("Send"))
    expect(console.page.locator(".exchange-head .badge")).to_have_text("302")
    console.click(console.button("Send again"))
    expect(console.page.locator(".facts")).to_contain_text("#3")
    console.done_in(2)


def test_an_operation_of_the_authorization_server_is_tried(console: Console) -> None:
    console.open("#/reference/validateToken")
    console.click(console.button("Send"))
    expect(console.page.locator(".facts")).to_contain_text("validateToken")
    expect(console.page.locator(".exchange-head")).to_contain_text("/oauth2/token-info")


def test_a_browser_is_signed_in_and_the_next_authorization_asks_for_consent(
    console: Console,
) -> None:
    console.open("#/people/ada")
    console.click(console.button("Sign this browser in"))
    expect(console.page.locator("[role=status]", has_text="signed in as ada")).to_be_visible()
    console.done_in(1)
    world = console.admin("GET", f"/worlds/{console.url.rpartition('/')[2]}")
    query = urlencode(
        {
            "client_id": "server-app",
            "redirect_uri": "http://127.0.0.1:5000/callback",
            "response_type": "code",
            "scope": "auth",
        }
    )
    console.page.goto(f"{world['auth_url']}/oauth2/authorize?{query}")
    expect(console.page.get_by_label("Password")).to_have_count(0)
    expect(console.page.get_by_role("button", name="Approve")).to_be_visible()


def test_a_code_that_expires_is_among_what_happens_next(console: Console) -> None:
    console.open("#/worlds")
    authorize(console)
    expect(console.page.locator(".next")).to_contain_text("A code of ada for server-app expires")


def test_a_turned_switch_stands_in_the_list(console: Console) -> None:
    console.admin("PATCH", "/choices", {"email-hashes": "md5-too"})
    console.client.get("/profiles/ada")
    console.open()
    expect(console.page.locator("[role=row] .verdict")).to_have_text("email-hashes=md5-too")

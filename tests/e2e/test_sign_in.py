"""Signing in from a page in a real browser, as a frontend developer sees it."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.conftest import Client

PICKED = re.compile("Ada")


def visit(page: Page, client: Client) -> None:
    """Opens the client's page, and waits until its buttons work."""
    page.goto(client.url)
    page.wait_for_selector("[data-ready]")


def consent_to(page: Page, decision: str, person: re.Pattern[str] = PICKED) -> None:
    """Picks a person and decides."""
    page.get_by_role("button", name=person).first.click()
    page.get_by_role("button", name=decision).click()


@pytest.mark.parametrize("flow", ["code", "token"])
def test_a_page_signs_a_person_in(page, client, flow):
    visit(page, client)
    page.get_by_role("button", name=f"by a {flow}").click()
    expect(page.get_by_text("Trail Journal asks you to sign in.")).to_be_visible()
    consent_to(page, "Approve")
    expect(page.locator("#who")).to_contain_text("Hello, Ada")
    picture = page.get_by_alt_text("Your avatar")
    expect(picture).to_have_js_property("naturalWidth", 80)
    expect(page).to_have_url(client.url)


@pytest.mark.parametrize("flow", ["code", "token"])
def test_a_person_who_denies_comes_back_unknown(page, client, flow):
    visit(page, client)
    page.get_by_role("button", name=f"by a {flow}").click()
    consent_to(page, "Deny")
    expect(page.locator("#who")).to_contain_text("access_denied: ")


def test_the_keyboard_alone_will_do_and_a_wrong_password_may_be_mended(page, client):
    visit(page, client)
    page.get_by_role("button", name="by a code").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_title(re.compile("Sign in"))
    page.get_by_label("User name").focus()
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    page.keyboard.type("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text(re.compile("password is wrong"))
    expect(page.get_by_label("User name")).to_have_value("ada")
    expect(page.get_by_label("Password")).to_be_focused()  # a key that is pressed before is lost
    page.keyboard.type("ada-password")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Trail Journal requests access")).to_be_visible()
    page.get_by_role("button", name="Approve").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Deny")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#who")).to_contain_text("Hello, Ada")


def test_who_is_signed_in_is_asked_only_for_consent_and_may_be_somebody_else(page, client):
    for is_known in (False, True):
        visit(page, client)
        page.get_by_role("button", name="by a code").click()
        if not is_known:
            page.get_by_role("button", name=PICKED).first.click()
        expect(page.get_by_text("You are signed in as")).to_be_visible()
    page.get_by_role("button", name="Use another account").click()
    consent_to(page, "Approve", re.compile("Omar|Tova|Maria"))
    expect(page.locator("#who")).not_to_contain_text("Ada")
    expect(page.locator("#who")).to_contain_text("Hello, ")


def test_the_token_endpoint_fails_in_a_browser_and_the_log_says_why(page, client, mock):
    visit(page, client)
    assert page.evaluate("tryExchangeHere('abc')") == "TypeError"
    mock.wait_for(lambda: "cannot read the answer: no cross-origin header" in mock.said())


def test_a_revoked_grant_ends_what_the_page_holds(page, client, mock):
    visit(page, client)
    page.get_by_role("button", name="by a code").click()
    consent_to(page, "Approve")
    expect(page.locator("#who")).to_contain_text("Hello, Ada")
    (grant,) = client.admin("GET", "/grants").json()
    read = f"""fetch("{mock.base_url}/me/profile", {{
        headers: {{Authorization: "Bearer {grant["token"]}"}}}}).then((answer) => answer.status)"""
    assert page.evaluate(read) == 200
    client.admin("DELETE", "/grants")
    assert page.evaluate(read) == 401


def test_markup_in_names_and_parameters_is_text(page, client, mock):
    hostile = "<img src=x onerror=window.hit=1><script>window.hit=1</script>"
    url = f"{mock.auth_url}/__admin/applications/{client.application['client_id']}"
    page.request.patch(url, data={"name": hostile})
    asked = {
        "client_id": client.application["client_id"],
        "redirect_uri": client.url,
        "response_type": "code",
        "scope[0]": "auth",
        "state": hostile,
    }
    page.goto(f"{mock.auth_url}/oauth2/authorize?{urlencode(asked)}")
    expect(page.get_by_text(hostile)).to_be_visible()
    page.get_by_role("button", name=PICKED).first.click()
    expect(page.get_by_role("heading")).to_contain_text(hostile)
    page.goto(f"{mock.auth_url}/oauth2/authorize?{urlencode({**asked, 'client_id': hostile})}")
    expect(page.get_by_text(hostile).first).to_be_visible()
    assert page.evaluate("window.hit") is None


def test_everything_works_without_javascript(chromium, client, mock):
    with chromium.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        asked = {
            "client_id": client.application["client_id"],
            "redirect_uri": client.url,
            "response_type": "code",
            "scope[0]": "auth",
            "state": "abc",
        }
        page.goto(f"{mock.auth_url}/oauth2/authorize?{urlencode(asked)}")
        consent_to(page, "Approve")
        expect(page).to_have_url(re.compile(rf"^{re.escape(client.url)}\?code=[\w-]+&state=abc$"))

"""The developer dashboard in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect


@pytest.fixture
def ada(page: Page, mock) -> Page:
    page.goto(f"{mock.auth_url}/apps")
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill("ada-password")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Your applications")).to_be_visible()
    return page


def registered(page: Page, name: str) -> None:
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Redirect addresses").fill("http://127.0.0.1:3000/callback")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()


def test_the_front_page_leads_to_signing_in_and_to_the_applications(page: Page, mock):
    for name, leads in ((mock.auth_url, "/"), ("Applications", "/sign-in")):
        page.goto(mock.base_url.removesuffix("v3"))
        page.get_by_role("link", name=name).click()
        expect(page).to_have_url(f"{mock.auth_url}{leads}")


def test_an_application_lives_and_dies(ada):
    registered(ada, "Lighthouse Log")
    secrets = ada.get_by_role("status").locator("code").all_text_contents()
    assert len(set(secrets)) == 2
    ada.reload()
    expect(ada.get_by_role("status")).to_have_count(0)

    ada.get_by_label("Add an address").fill("http://127.0.0.1:3000/other")
    ada.get_by_role("button", name="Add").click()
    remove = ada.get_by_role("button", name="Remove http://127.0.0.1:3000/callback")
    remove.click()
    expect(remove).to_have_count(0)
    expect(ada.get_by_text("http://127.0.0.1:3000/other")).to_be_visible()

    ada.get_by_role("button", name="Make a new one").first.click()
    assert ada.get_by_role("status").locator("code").text_content() not in secrets

    ada.get_by_label("Name", exact=True).fill("Harbour Log")
    ada.get_by_role("button", name="Rename").click()
    expect(ada.get_by_role("heading", name="Harbour Log")).to_be_visible()
    ada.get_by_text("Delete", exact=True).click()
    ada.get_by_role("button", name="Delete the application").click()
    expect(ada.get_by_text("Harbour Log")).to_have_count(0)


def test_a_wrong_address_is_refused_in_words(ada):
    registered(ada, "Lighthouse Log")
    ada.get_by_label("Add an address").fill("javascript:alert(1)")
    ada.get_by_role("button", name="Add").click()
    expect(ada.get_by_role("alert")).to_contain_text("javascript:alert(1)")


def test_a_grant_is_listed_and_revoked_and_bad_manners_are_told(ada, client, mock):
    ada.goto(client.url)
    ada.wait_for_selector("[data-ready]")
    ada.get_by_role("button", name="by a code").click()
    ada.get_by_role("button", name="Approve").click()
    expect(ada.locator("#who")).to_contain_text("Hello, Ada")
    ada.goto(f"{mock.auth_url}/apps/{client.application['client_id']}")
    expect(ada.get_by_text(re.compile("PKCE"))).to_be_visible()
    ada.get_by_role("button", name="Revoke the grant of ada").click()
    expect(ada.get_by_text("No grants yet.")).to_be_visible()


def test_a_secret_is_copied_by_a_button(ada, context, mock):
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=mock.auth_url)
    registered(ada, "Lighthouse Log")
    button = ada.get_by_role("button", name="Copy the client ID")
    ada.evaluate("navigator.clipboard.writeText('')")
    button.click()
    copied = ada.wait_for_function("navigator.clipboard.readText()").json_value()
    assert ada.url.endswith(copied)

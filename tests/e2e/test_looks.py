"""Every page on a phone and a desk, in light and dark; the pictures of them go to a folder."""

from typing import Literal
from urllib.parse import urlencode

import pytest
from playwright.sync_api import ConsoleMessage, Page, ViewportSize, expect
from tests.e2e.conftest import SCREENSHOTS

SIZES: dict[str, ViewportSize] = {
    "phone": {"width": 360, "height": 740},
    "desk": {"width": 1280, "height": 900},
}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
CONSENT = {
    "client_id": "server-app",
    "redirect_uri": "http://127.0.0.1:5000/callback",
    "response_type": "code",
    "scope[0]": "auth",
    "scope[1]": "avatar-profile:read",
    "scope[2]": "avatar-profile:manage",
    "state": "abc",
}
WRONG = {**CONSENT, "redirect_uri": "http://127.0.0.1:5000/elsewhere"}

PAGES = {
    "front": "{site}/",
    "profile": "{site}/ada",
    "right-to-left": "{site}/leila",
    "private": "{site}/hush",
    "nobody": "{site}/nobody",
    "authorization": "{auth}/",
    "sign-in": "{auth}/sign-in",
    "wrong-redirect": "{auth}/oauth2/authorize?" + urlencode(WRONG),
    "callback": "{auth}/callback#access_token=abc&token_type=bearer&expires_in=9&state=abc",
    "denied": "{auth}/callback?error=access_denied&error_description=Denied.&state=abc",
    "consent": "{auth}/oauth2/authorize?" + urlencode(CONSENT),
    "applications": "{auth}/apps",
    "application": "{auth}/apps/server-app",
}
SIGNED_IN = ("consent", "applications", "application")


def signed_in(page: Page, auth_url: str) -> None:
    page.goto(f"{auth_url}/sign-in")
    page.get_by_role("button", name="Ada").first.click()


def opened(page: Page, mock, name: str) -> None:
    if name in SIGNED_IN:
        signed_in(page, mock.auth_url)
    site = mock.base_url.removesuffix("/v3")
    page.goto(PAGES[name].format(site=site, auth=mock.auth_url))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_screen_and_all_of_it_loads(page: Page, mock, name):
    faults: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error" and "status of 40" not in message.text:
            faults.append(message.text)

    page.on("console", note)
    opened(page, mock, name)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    for image in page.get_by_role("main").locator("img").all():
        image.scroll_into_view_if_needed()
        expect(image).not_to_have_js_property("naturalWidth", 0)
    page.evaluate("scrollTo(0, 0)")
    for size, viewport in SIZES.items():
        page.set_viewport_size(viewport)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=SCREENSHOTS / f"{name}-{size}-{scheme}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert faults == []


@pytest.mark.parametrize("name", PAGES)
def test_everything_that_can_be_used_has_a_name(page: Page, mock, name):
    opened(page, mock, name)
    roles: tuple[Literal["button", "link", "textbox"], ...] = ("button", "link", "textbox")
    for role in roles:
        for element in page.get_by_role(role).all():
            expect(element).not_to_have_accessible_name("")

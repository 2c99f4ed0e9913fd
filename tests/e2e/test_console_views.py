"""The console's other views in a real browser, and what nobody may do with it."""

import hashlib

import pytest
from playwright.sync_api import Page, Route, expect
from tests import patient
from tests.cli.conftest import Running
from tests.e2e.console import Console
from tests.e2e.test_accessibility import violations
from tests.e2e.test_looks import SCHEMES

ADA = {"Authorization": "Bearer ada-full"}
WIDTHS = (390, 2000)
HTML = "text/html"
FETCH = "url => fetch(url).then((it) => it.status, () => 'refused')"
ATTACKER = "http://attacker.localhost:9999"


def test_a_person_is_signed_in_with_chosen_scopes(console: Console, context) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    console.open("#/people")
    console.click(console.page.get_by_role("link", name="ben", exact=True))
    console.page.get_by_label("avatar-profile:manage").uncheck()
    console.click(console.button("Copy an access token"))
    expect(console.page.locator(".made")).to_contain_text("Authorization: Bearer")
    console.done_in(2)
    token = console.page.evaluate("navigator.clipboard.readText()")
    headers = {"Authorization": f"Bearer {token}"}
    assert console.client.get("/me/profile", headers=headers).status_code == 200
    assert console.client.patch("/me/profile", headers=headers, json={}).status_code == 403
    console.open("#/traffic/1")
    expect(console.page.locator(".why")).to_contain_text("with auth, avatar-profile:read")


def test_both_views_of_a_person_differ_where_they_are_marked(console: Console) -> None:
    console.open("#/people/ada")
    differing = console.page.get_by_role("region", name="What differs")
    expect(differing.locator("tr.differs", has_text="timezone")).to_contain_text("Lisbon")
    console.click(console.page.get_by_text("fields that are the same"))
    same = console.page.get_by_role("region", name="What is the same")
    expect(same.locator("tr:not(.differs)", has_text="job_title")).to_have_count(1)
    assert console.admin("GET", "/requests")["meta"]["total"] == 0


def test_a_person_is_added_and_changed_by_the_rules_of_the_api(console: Console) -> None:
    console.open("#/people")
    console.page.locator("summary", has_text="Add a person").click()
    console.page.get_by_label("Slug").fill("gwen")
    console.page.get_by_label("Name", exact=True).fill("Gwen")
    console.page.get_by_label("E-mail address").fill("gwen@example.com")
    console.button("Add").click()
    console.page.get_by_text("As its owner, by the rules of the API").click()
    console.page.get_by_label("location").fill("Port Lindry")
    console.button("Send PATCH /me/profile").click()
    expect(console.page.locator("#notices")).to_contain_text("responded 200")
    assert console.client.get("/profiles/gwen").json()["location"] == "Port Lindry"


def test_a_refused_call_is_shown_with_the_call(console: Console) -> None:
    console.open("#/people")
    console.page.locator("summary", has_text="Add a person").click()
    console.page.get_by_label("Slug").fill("ada")
    console.page.get_by_label("E-mail address").fill("other@example.com")
    console.button("Add").click()
    expect(console.page.locator("#notices .bad")).to_contain_text("/__admin/people")
    expect(console.page.locator("#notices .bad")).to_contain_text("Copy as curl")


def test_text_of_a_profile_stays_text(console: Console) -> None:
    hostile = "<img src=x onerror=\"document.title='lost'\"><script>document.title='lost'</script>"
    changes = {"display_name": hostile, "description": hostile}
    console.client.patch("/me/profile", headers=ADA, json=changes).raise_for_status()
    console.client.get("/profiles/ada", headers={"User-Agent": hostile})
    console.open("#/traffic/2")
    expect(console.page.locator(".facts")).to_contain_text("<img src=x")
    expect(console.page.locator(".message pre").first).to_contain_text("<script>")
    console.open("#/people/ada")
    expect(console.page.locator(".person-head")).to_contain_text("<img src=x")
    assert console.page.locator("img[src=x], main script").count() == 0
    assert "lost" not in console.page.title()


def test_faults_readings_and_limits_are_switched(console: Console) -> None:
    console.open("#/switches")
    console.click(console.button("Down"))
    expect(console.button("Delete fault-1")).to_be_visible()
    assert console.client.get("/profiles/ada").status_code == 503
    console.click(console.button("Delete fault-1"))
    expect(console.page.get_by_text("No fault is active.")).to_be_visible()
    console.done_in(2)
    console.click(console.page.get_by_label("404 the answer is the one for an unknown identifier"))
    expect(console.page.locator(".choice.turned")).to_have_count(1)
    console.click(console.page.get_by_role("button", name="Use up the limit of a").first)
    expect(console.page.get_by_text("100 of 100")).to_be_visible()
    console.done_in(2)
    assert console.client.get("/profiles/ada").status_code == 429
    console.page.get_by_label("Identity", exact=True).fill("ben")
    console.page.get_by_label("Requests an hour").fill("0")
    console.button("Set this rate").click()
    expect(console.page.get_by_text("0 of 0")).to_be_visible()
    ben = console.client.get("/profiles/ada", headers={"Authorization": "Bearer ben-full"})
    assert ben.status_code == 429


def test_the_console_of_a_world_shows_nothing_of_another(console: Console, mock: Running) -> None:
    other = patient.get(f"{mock.base_url}/profiles/ada?of=another")
    assert other.status_code == 200
    console.client.get("/profiles/ben")
    console.open()
    expect(console.rows()).to_have_count(1)
    expect(console.rows().first).to_contain_text("/v3/profiles/ben")


def test_another_machine_is_asked_for_the_admin_token_once(console: Console) -> None:
    waiting: list[Route] = []

    def refuse(route: Route) -> None:
        detail = "Others send its token: Authorization: Bearer, and what the mock showed."
        route.fulfill(status=403, json={"title": "Forbidden", "status": 403, "detail": detail})

    def guard(route: Route) -> None:
        if route.request.headers.get("authorization") == "Bearer hush-hush":
            route.continue_()
        elif "/events" in route.request.url:
            waiting.append(route)
        else:
            refuse(route)

    console.page.route("**/__admin/**", guard)
    with console.page.expect_request("**/__admin/events*"):
        console.page.goto(f"{console.url}/__console#/people")
    console.page.get_by_label("Admin token").fill("hush-hush")
    with console.page.expect_response("**/__admin/events*"):
        refuse(waiting.pop())
    expect(console.page.locator("#calls")).to_contain_text("/__admin/events")
    console.button("Open the console").click()
    expect(console.page.get_by_role("link", name="Ada Merrowdale")).to_be_visible()
    expect(console.page.locator(".people img").first).not_to_have_js_property("naturalWidth", 0)


def test_a_restart_is_noticed(console: Console) -> None:
    starts = iter(["2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z", "2026-01-01T00:01:00Z"])

    def serve(route: Route) -> None:
        started = next(starts, "2026-01-01T00:01:00Z")
        data = f'{{"started":"{started}","world":"w","total":1,"forgotten":0,"interval":0.25}}'
        route.fulfill(body=f"event: start\ndata: {data}\n\n", content_type="text/event-stream")

    console.page.route("**/__admin/events*", serve)
    console.page.goto(f"{console.url}/__console")
    expect(console.page.locator("#notices")).to_contain_text("The mock was restarted")


SETTLED = {
    "#/traffic": "[role=row]:not(.head)",
    "#/traffic/2": ".remedy",
    "#/traffic/2/edit": "#edit-person option[value=ben]",
    "#/people": ".people li",
    "#/people/ada": ".checks input",
    "#/worlds": ".history button",
    "#/switches": ".choice",
}
"""What is there once a view has all that it shows."""


@pytest.mark.parametrize("address", SETTLED)
def test_a_view_fits_its_screen_and_axe_finds_nothing(console: Console, address: str) -> None:
    faults: list[str] = []
    console.page.on("console", lambda it: faults.append(it.text) if it.type == "error" else None)
    console.page.on("pageerror", lambda error: faults.append(str(error)))
    console.client.patch("/me/profile", headers=ADA, json={"location": "Elsewhere"})
    console.client.get(f"/profiles/{hashlib.sha256(b'ADA@EXAMPLE.COM').hexdigest()}")
    console.open(address)
    expect(console.page.locator(SETTLED[address]).first).to_be_attached()
    for width, scheme in zip(WIDTHS, SCHEMES, strict=True):
        console.page.set_viewport_size({"width": width, "height": 900})
        console.page.emulate_media(color_scheme=scheme)
        assert console.page.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(console.page) == []
    assert faults == []


def test_a_first_visit_fits_a_phone_and_axe_finds_nothing(console: Console) -> None:
    for width, scheme in zip(WIDTHS, SCHEMES, strict=True):
        console.page.set_viewport_size({"width": width, "height": 900})
        console.page.emulate_media(color_scheme=scheme)
        console.open()
        box = console.page.locator(".welcome .terminal").bounding_box()
        assert box is not None
        assert 0 <= box["x"] < box["x"] + box["width"] <= width
        assert violations(console.page) == []


def test_a_page_of_another_origin_gets_nothing_from_the_console(page: Page, mock: Running) -> None:
    site = mock.base_url.removesuffix("/v3")
    page.route(f"{ATTACKER}/**", lambda it: it.fulfill(body="<title>x</title>", content_type=HTML))
    page.goto(f"{ATTACKER}/")
    for path in ("/__console", "/__console/main.js", "/__admin/events", "/__admin/people"):
        assert page.evaluate(FETCH, site + path) == "refused"
    with page.expect_event("framenavigated", lambda frame: frame.url.startswith("chrome-error:")):
        page.set_content(f'<iframe src="{site}/__console"></iframe>')


def test_a_name_that_leads_to_this_machine_gets_no_console(page: Page, mock: Running) -> None:
    port = mock.base_url.removesuffix("/v3").rpartition(":")[2]
    response = page.goto(f"http://rebound.localhost:{port}/__console")
    assert response is not None
    assert response.status == 403


def test_a_theme_is_chosen_and_remembered(console: Console) -> None:
    console.page.emulate_media(color_scheme="light")
    console.open()
    scheme = "getComputedStyle(document.documentElement).colorScheme"
    ground = "getComputedStyle(document.body).backgroundColor"
    light = console.page.evaluate(ground)
    console.button("Theme: system").click()
    console.click(console.button("Theme: light"))
    console.page.reload()
    expect(console.button("Theme: dark")).to_be_visible()
    assert console.page.evaluate(scheme) == "dark"
    assert console.page.evaluate(ground) != light
    console.button("Theme: dark").click()
    assert console.page.evaluate(ground) == light

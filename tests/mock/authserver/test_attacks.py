"""Attacks on the authorization server that worked once, and on the pages beside it."""

import pytest
from tests.mock.authserver.conftest import (
    AUTHORIZATION,
    CREDENTIALS,
    PASSWORD,
    RESOURCE,
    answered,
    hidden,
)

from understudy.mock.authserver.accounts import FAILURES

ORIGIN = {"Origin": "http://attacker.example"}
WORLD = f"{AUTHORIZATION}/__world/twin"


@pytest.fixture
def twin(browser):
    """Makes a second world of the same seed."""
    browser.post(f"{RESOURCE}/__admin/worlds", json={"name": "twin"})
    yield WORLD
    browser.delete(f"{RESOURCE}/__admin/worlds/twin")


@pytest.mark.parametrize("path", ["/", "/sign-in", "/apps", "/oauth2/authorize", "/static/copy.js"])
def test_no_page_is_read_by_another_origin(browser, path):
    assert "access-control-allow-origin" not in browser.get(path, headers=ORIGIN).headers


@pytest.mark.parametrize("path", ["/", "/ada", "/static/pages.css"])
def test_no_page_of_the_resource_api_is_read_by_another_origin(browser, path):
    response = browser.get(f"{RESOURCE}{path}", headers=ORIGIN)
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "path", ["/v3/profiles/ada", "/v3/nothing", "/avatar/ada", "/profiles/ada"]
)
def test_the_resource_api_is_read_by_every_origin(browser, path):
    response = browser.get(f"{RESOURCE}{path}", headers=ORIGIN)
    assert response.headers["access-control-allow-origin"] == "*"


def test_a_preview_at_a_public_address_may_call_the_local_mock(browser):
    asked = {
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Private-Network": "true",
    }
    response = browser.options(f"{RESOURCE}/v3/profiles/ada", headers={**ORIGIN, **asked})
    assert response.headers["access-control-allow-private-network"] == "true"


def test_sessions_of_two_worlds_differ(browser, another_browser, twin):
    browser.get("/sign-in")
    another_browser.get(f"{twin}/sign-in")
    assert set(browser.cookies.values()).isdisjoint(another_browser.cookies.values())


@pytest.mark.parametrize("names", [("ada", " ADA ", "ada@example.com", "Ada@Example.com")])
def test_guesses_count_by_account_and_not_by_typed_name(browser, names):
    guesses = [{**PASSWORD, "username": names[n % len(names)], "password": "x"} for n in range(12)]
    statuses = [browser.post("/oauth2/token", data=guess).status_code for guess in guesses]
    assert statuses == [400] * FAILURES + [429] * (12 - FAILURES)


def test_guesses_at_names_that_do_not_exist_are_counted_together(browser):
    for number in range(FAILURES + 1):
        guess = {**CREDENTIALS, "client_id": f"unknown-{number}", "grant_type": "password"}
        last = browser.post("/oauth2/token", data=guess)
    assert last.status_code == 429
    assert browser.post("/oauth2/token", data=PASSWORD).status_code == 200


def test_a_wrong_decision_leaves_the_ticket_valid(browser):
    browser.sign_in()
    page = browser.authorize()
    assert browser.decide(page, "perhaps").status_code == 400
    assert "code" in answered(browser.decide(page))
    assert browser.post("/consent", data=hidden(page)).status_code == 400


def test_a_page_of_another_origin_may_read_that_there_is_nothing_at_an_address(browser):
    url = f"{RESOURCE}/api/profiles/ada"
    missing = browser.get(url, headers=ORIGIN)
    assert (missing.status_code, missing.headers["access-control-allow-origin"]) == (404, "*")
    assert "did you mean" in missing.text
    asked = {**ORIGIN, "Access-Control-Request-Method": "PUT"}
    preflight = browser.options(url, headers=asked)
    assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (200, "*")


def test_a_preflight_for_a_page_is_refused(browser):
    asked = {**ORIGIN, "Access-Control-Request-Method": "POST"}
    for path in ("/sign-in", "/consent", f"{RESOURCE}/ada", f"{RESOURCE}/__admin/worlds"):
        assert "access-control-allow-origin" not in browser.options(path, headers=asked).headers


@pytest.mark.parametrize(
    ("uri", "source"),
    [
        ("http://[::1]:3000/callback", "http:"),
        ("com.example.app:/callback", "com.example.app:"),
        ("http://a_b.example.com/callback", "http://a_b.example.com"),
    ],
)
def test_the_consent_form_may_lead_to_every_registered_address(browser, uri, source):
    browser.patch(f"{RESOURCE}/__admin/applications/server-app", json={"redirect_uris": [uri]})
    browser.sign_in()
    policy = browser.authorize(redirect_uri=uri).headers["content-security-policy"]
    assert f"form-action 'self' {source};" in policy


@pytest.mark.parametrize(
    ("uri", "advice"),
    [
        ("http://bücher.example/cb", "write its host as xn--"),
        ("http://a.example/#x", "leave out the fragment"),
        ("http://a.example:99999/", "Port out of range"),
        ("javascript:alert(1)", "browsers do not redirect to javascript:"),
        ("http://ada:secret@a.example/", "leave out the user name"),
        ("http:///cb", "name its host"),
        ("/cb", "give an absolute address"),
        ("not an address", "give an absolute address"),
        ("myapp://cb", "like com.example.app"),
    ],
)
def test_an_address_that_is_not_registered_is_told_what_to_change(browser, uri, advice):
    url = f"{RESOURCE}/__admin/applications/server-app"
    assert advice in browser.patch(url, json={"redirect_uris": [uri]}).text


@pytest.mark.parametrize(
    "name", ["\u200b", "\u2800 \u3164", "\u202egnihtemos", "a\0b", "\x1b[31mred", "\ue000"]
)
def test_a_name_that_people_cannot_read_is_refused(browser, name):
    url = f"{RESOURCE}/__admin/applications/server-app"
    refused = browser.patch(url, json={"name": name})
    assert (refused.status_code, "people read the name" in refused.text) == (400, True)


@pytest.mark.parametrize("name", ["Zoë", "مجلة", "新聞 📰", "क्षेत्र", "👩\u200d🚀"])
def test_a_name_of_any_language_is_taken(browser, name):
    url = f"{RESOURCE}/__admin/applications/server-app"
    assert browser.patch(url, json={"name": name}).status_code == 200


def test_the_case_of_the_host_is_free_for_the_admin_api(browser):
    headers = {"Host": "LocalHost:8080", "Origin": "http://localhost:8080"}
    assert browser.get(f"{RESOURCE}/__admin/worlds", headers=headers).status_code == 200

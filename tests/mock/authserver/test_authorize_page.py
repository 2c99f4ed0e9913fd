"""Authorization requests as a browser sees them: what ``test_oauth_list`` does not ask of them."""

import re
from urllib.parse import quote, urlencode

import pytest
from tests.mock.authserver.conftest import (
    AUTHORIZATION,
    CALLBACK,
    IMPLICIT,
    REQUEST,
    answered,
    hidden,
)

from understudy.mock.authserver import applications
from understudy.mock.pages.sign_in import _printable
from understudy.mock.store.applications import CODES
from understudy.mock.store.tokens import TOKENS

MARKUP = "\"><script>alert(1)</script><img src=x onerror=alert(1)>'"


def is_inert(page):
    """Tells whether nothing of it became markup."""
    return page.status_code < 500 and not re.search("<script>alert|<img src=x", page.text)


def granted(mock):
    """Returns what was granted since the start."""
    tokens = [token for _, token in mock.world.items(TOKENS) if token.about.startswith("granted")]
    return [*mock.world.items(CODES), *tokens]


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
def test_a_client_or_redirect_that_is_not_given_once_gets_a_page(browser, name):
    query = urlencode([*REQUEST.items(), (name, REQUEST[name])])
    page = browser.get(f"/oauth2/authorize?{query}")
    assert (page.status_code, "location" in page.headers) == (400, False)
    assert f"{name} is given 2 times" in page.text
    assert f"{name} is missing" in browser.authorize(**{name: None}).text


@pytest.mark.parametrize(
    "scopes",
    [
        {"scope[7]": "auth", "scope[3]": "avatar-profile:read"},
        {"scope[]": "auth"},
        {"scope": "auth avatar-profile:read"},
    ],
)
def test_scopes_are_taken_under_any_index_and_joined(browser, scopes):
    asked = {"scope[0]": None, "scope[1]": None, **scopes}
    assert browser.code(**asked)


def test_state_survives_the_pages_byte_for_byte(browser):
    query = f"{urlencode({**REQUEST, 'state': ''})}".removesuffix("=") + "=%00%FF%2B+%C3%BC%26"
    browser.sign_in()
    signed_in = hidden(browser.get(f"/oauth2/authorize?{query}"))["query"]
    answer = browser.decide(browser.get(f"/oauth2/authorize?{signed_in}"))
    assert answer.headers["location"].endswith("&state=%00%FF%2B%20%C3%BC%26")


def test_bytes_that_were_not_escaped_are_on_the_way_through_the_forms():
    assert _printable(b"state=\xc3\xbc%2B+ \r\n&b[0]=/?") == "state=%C3%BC%2B+%20%0D%0A&b[0]=/?"


@pytest.mark.parametrize("name", [*REQUEST, "code_challenge", "mock_approve", "nonce", MARKUP])
def test_markup_in_a_parameter_is_never_markup_of_ours(browser, name):
    for _ in ("a stranger", "ada"):
        page = browser.authorize(**{name: MARKUP})
        assert is_inert(page)
        browser.sign_in()


def test_markup_in_a_form_is_never_markup_of_ours(browser):
    for field in ("username", "query", "person"):
        form = {**hidden(browser.get("/sign-in")), "username": "x", "password": "x", field: MARKUP}
        assert is_inert(browser.post("/sign-in", data=form))


@pytest.mark.parametrize("path", [f"/{quote(MARKUP)}", f"/apps/{quote(MARKUP)}", "/apps/a%3Fb"])
def test_markup_in_a_path_is_never_markup_of_ours(browser, path):
    browser.sign_in()
    page = browser.get(path, headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert is_inert(page)


def test_markup_in_an_applications_name_is_never_markup_of_ours(browser, mock):
    made = applications.register(mock.world, "ada", MARKUP[:80], (CALLBACK,))
    browser.sign_in()
    for page in (
        browser.authorize(client_id=made.client_id),
        browser.authorize(client_id=made.client_id, redirect_uri="x"),
        browser.get("/apps"),
        browser.get(f"/apps/{made.client_id}"),
        browser.get("/"),
    ):
        assert is_inert(page)
        assert "&lt;script&gt;" in page.text


def pages(browser):
    """Yields every kind of page there is."""
    yield browser.get("/")
    yield browser.get("/sign-in")
    yield browser.authorize()
    yield browser.authorize(client_id="nobody")
    yield browser.authorize(response_type="x")
    yield browser.authorize(mock_approve="ada")
    yield browser.get("/apps")
    yield browser.sign_in("nobody")
    yield browser.sign_in()
    yield browser.authorize()
    yield browser.get("/apps")
    yield browser.get("/apps/server-app")
    yield browser.get("/consent")
    yield browser.post("/consent")


def test_no_page_is_framed_stored_sniffed_or_named_to_others(browser):
    for page in pages(browser):
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["referrer-policy"] == "no-referrer"
        assert page.headers["x-content-type-options"] == "nosniff"


def test_no_page_runs_script_of_its_own_or_asks_another_machine(browser):
    for page in pages(browser):
        assert not re.search(r"<script(?! src=\"http://127\.0\.0\.1:8081/static/)", page.text)
        assert not re.search(r"\son\w+=", page.text)
        assert {*re.findall(r"(?:src|action)=\"(https?://[^/\"]*)", page.text)} <= {AUTHORIZATION}


@pytest.mark.parametrize("person", ["a stranger", "ada"])
@pytest.mark.parametrize("changes", [REQUEST, IMPLICIT])
def test_a_get_alone_never_grants(browser, mock, person, changes):
    if person == "ada":
        browser.sign_in()
    for extra in ({}, {"decision": "approve"}, {"approve": "1"}, {"mock_approve": ""}):
        assert browser.authorize(**changes, **extra).status_code == 200
    assert browser.head("/oauth2/authorize", params={**REQUEST, **changes}).status_code == 200
    assert granted(mock) == []


def test_a_test_may_approve_or_deny_for_a_person_of_the_world_alone(browser, mock):
    assert browser.authorize(mock_approve="nobody").status_code == 400
    denial = answered(browser.authorize(mock_deny="ada"))
    assert denial["error"] == "access_denied"
    assert denial["error_description"]
    assert granted(mock) == []
    assert answered(browser.authorize(mock_approve="ada"))["code"]


@pytest.mark.parametrize("host", ["a b", "[::1", "a:b", '"><script>alert(1)</script>', ""])
def test_what_is_not_a_host_never_gets_a_page(browser, host):
    response = browser.get("/sign-in", headers={"Host": host})
    assert response.status_code == 400
    assert response.headers["content-type"] != "text/html; charset=utf-8"

"""The browser's session: its cookie, its forms, and who may sign in."""

from datetime import timedelta

import pytest
from tests.mock.authserver.conftest import AUTHORIZATION, answered, hidden

from understudy.mock.store.applications import COOKIE
from understudy.mock.store.people import PEOPLE


def test_the_cookie_is_out_of_reach_of_scripts_and_of_other_sites_forms(browser):
    for page in (browser.get("/sign-in"), browser.authorize(), browser.sign_in()):
        name, *flags = page.headers["set-cookie"].split("; ")
        assert name.startswith(f"{COOKIE}=")
        assert {"HttpOnly", "SameSite=Lax", "Path=/"} == set(flags)


def test_the_cookie_comes_back_through_a_proxy_that_mounts_the_mock_at_a_path(browser):
    forwarded = {"X-Forwarded-Host": "app.example", "X-Forwarded-Prefix": "/mock"}
    page = browser.get("/sign-in", headers=forwarded)
    assert "Path=/mock/" in page.headers["set-cookie"].split("; ")
    assert 'action="http://app.example/mock/sign-in"' in page.text


def test_signing_in_changes_the_session_so_that_nobody_can_plant_theirs(browser, another_browser):
    before = browser.get("/sign-in").cookies[COOKIE]
    another_browser.cookies.set(COOKIE, before, domain="127.0.0.1")
    after = browser.sign_in().cookies[COOKIE]
    assert after != before
    assert another_browser.get("/apps").headers["location"] == f"{AUTHORIZATION}/sign-in"
    assert browser.get("/apps").status_code == 200


def test_who_becomes_somebody_else_leaves_no_session_behind(browser, another_browser):
    before = browser.sign_in("ada").cookies[COOKIE]
    browser.sign_in("ben")
    another_browser.cookies.set(COOKIE, before, domain="127.0.0.1")
    assert another_browser.get("/apps").status_code == 303


def test_a_made_up_cookie_is_not_taken_over(browser):
    browser.cookies.set(COOKIE, "planted", domain="127.0.0.1")
    assert "planted" not in browser.get("/sign-in").headers["set-cookie"]


@pytest.mark.parametrize("path", ["/sign-in", "/sign-out", "/consent", "/apps"])
@pytest.mark.parametrize("csrf", [{}, {"csrf": ""}, {"csrf": "0" * 32}, {"csrf": "ü"}])
def test_a_form_that_no_page_of_the_session_made_is_refused(browser, path, csrf):
    browser.get("/sign-in")
    answer = browser.post(path, data={**csrf, "person": "ada", "name": "x"})
    assert (answer.status_code, "location" in answer.headers) == (400, False)


def test_a_form_of_another_session_is_refused(browser, another_browser):
    browser.get("/sign-in")
    form = hidden(another_browser.get("/sign-in"))
    assert browser.post("/sign-in", data={**form, "person": "ada"}).status_code == 400


def test_a_person_of_the_world_is_picked_without_a_password(browser):
    form = hidden(browser.authorize())
    onward = browser.post("/sign-in", data={**form, "person": "ben"})
    assert "signed in as" in browser.get(onward.headers["location"]).text


@pytest.mark.parametrize(
    "given",
    [
        {"username": "ada", "password": "wrong"},
        {"username": "ada", "password": ""},
        {"username": "nobody", "password": "nobody-password"},
        {"username": "", "password": ""},
        {"username": "tova", "password": "hbtq rvxk 29fd zmwp"},
        {"person": "nobody"},
        {},
    ],
)
def test_who_proves_nothing_stays_outside_and_is_told_the_same(browser, given):
    page = browser.post("/sign-in", data={**hidden(browser.get("/sign-in")), **given})
    assert page.status_code == 401
    assert "The user name or password is wrong." in page.text
    assert "zmwp" not in page.text
    assert browser.get("/apps").status_code == 303


def test_after_a_wrong_password_the_request_goes_on(browser):
    query = hidden(browser.authorize())["query"]
    page = browser.post(
        "/sign-in", data={**hidden(browser.get("/sign-in")), "username": "ada", "query": query}
    )
    onward = browser.sign_in(query=hidden(page)["query"])
    assert answered(browser.decide(browser.get(onward.headers["location"])))["state"] == "s"


@pytest.mark.parametrize(
    "query", ["//evil.example.com", "\r\nSet-Cookie: x=y", "@evil.example.com", "ü", "#x", "\x00"]
)
def test_a_form_never_decides_which_site_comes_next(browser, query):
    onward = browser.sign_in(query=query)
    assert onward.headers["location"].startswith(f"{AUTHORIZATION}/oauth2/authorize?")
    assert set(onward.headers.get_list("set-cookie")) == {onward.headers["set-cookie"]}


def test_guessing_a_password_on_the_page_is_slowed_until_a_minute_has_passed(browser, time):
    form = {**hidden(browser.get("/sign-in")), "username": "ada", "password": "guess"}
    assert [browser.post("/sign-in", data=form).status_code for _ in range(10)] == [401] * 10
    slowed = browser.sign_in()
    assert (slowed.status_code, slowed.headers["retry-after"]) == (429, "61")
    assert browser.sign_in("ben").status_code == 303
    time.advance(timedelta(minutes=1))
    assert browser.sign_in().status_code == 303


def test_who_signs_out_is_nobody_and_may_be_somebody_else(browser):
    browser.sign_in()
    page = browser.authorize()
    form = {**hidden(page), "query": hidden(page)["query"]}
    out = browser.post("/sign-out", data=form)
    assert browser.decide(page).status_code == 400
    onward = browser.sign_in("ben", query=hidden(out)["query"])
    assert "signed in as" in browser.get(onward.headers["location"]).text


def test_a_person_who_is_gone_is_signed_in_no_more(browser, mock):
    browser.sign_in()
    mock.world.remove(PEOPLE, "ada")
    assert "Sign in" in browser.authorize().text
    assert browser.get("/apps").status_code == 303


def test_a_failed_sign_in_keeps_the_name_and_the_request(browser):
    query = "client_id=server-app&state=s"
    form = {**hidden(browser.get("/sign-in")), "query": query, "username": "ada", "password": "x"}
    page = browser.post("/sign-in", data=form)
    assert page.status_code == 401
    assert 'autocomplete="username" value="ada"' in page.text
    assert hidden(page)["query"] == query
    assert "Trail Journal" in page.text


def test_the_front_page_says_how_to_sign_in(browser):
    assert "<code>ada</code> with the password <code>ada-password</code>" in browser.get("/").text

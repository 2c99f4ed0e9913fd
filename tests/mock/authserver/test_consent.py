"""Signing in and consenting: who decides, once, in which session; and what is refused."""

import pytest
from tests.mock.authserver.conftest import (
    BROWSER_CALLBACK,
    CALLBACK,
    EXCHANGE,
    IMPLICIT,
    RESOURCE,
    answered,
    hidden,
)

from understudy.mock.authserver import applications
from understudy.mock.store.applications import CODES


def codes(mock):
    return list(mock.world.items(CODES))


def test_a_person_signs_in_approves_and_the_application_has_a_token(browser):
    page = browser.authorize()
    onward = browser.sign_in(query=hidden(page)["query"])
    assert onward.status_code == 303
    answer = browser.decide(browser.get(onward.headers["location"]))
    assert answer.headers["location"].startswith(f"{CALLBACK}?code=")
    form = {**EXCHANGE, "code": answered(answer)["code"]}
    token = browser.post("/oauth2/token", data=form).json()
    assert token["scope"] == "auth avatar-profile:read"
    assert browser.me(token["access_token"]).json()["display_name"]


@pytest.mark.parametrize(
    "uri",
    [
        "com.example.app:///callback",
        "com.example.app://",
        "HTTP://a.example/cb",
        "http://a..b/?q=%7e",
    ],
)
def test_the_address_of_an_application_is_returned_to_as_it_was_registered(browser, uri):
    browser.patch(f"{RESOURCE}/__admin/applications/server-app", json={"redirect_uris": [uri]})
    browser.sign_in()
    decided = browser.decide(browser.authorize(redirect_uri=uri)).headers["location"]
    at_once = browser.authorize(redirect_uri=uri, mock_approve="ada").headers["location"]
    assert decided.startswith(uri)
    assert decided.partition("code=")[0] == at_once.partition("code=")[0]


def test_the_implicit_flow_ends_with_a_token_in_the_fragment(browser):
    browser.sign_in()
    answer = browser.decide(browser.authorize(**IMPLICIT))
    assert answer.headers["location"].startswith(f"{BROWSER_CALLBACK}#access_token=")
    assert browser.me(answered(answer)["access_token"]).status_code == 200


def test_who_denies_grants_nothing(browser, mock):
    browser.sign_in()
    answer = answered(browser.decide(browser.authorize(), "deny"))
    assert (answer["error"], answer["state"]) == ("access_denied", "s")
    assert answer["error_description"]
    assert codes(mock) == []


def test_the_page_names_the_application_the_person_and_each_scope_in_words(browser):
    browser.sign_in()
    text = browser.authorize().text
    for told in ("Trail Journal", "Know who you are", "Read your profile", "127.0.0.1:5000"):
        assert told in text
    assert "Edit your profile" not in text


@pytest.mark.parametrize("csrf", [None, "", "0" * 32])
def test_a_forged_decision_is_refused(browser, mock, csrf):
    browser.sign_in()
    form = {**hidden(browser.authorize()), "csrf": csrf, "decision": "approve"}
    form = {name: text for name, text in form.items() if text is not None}
    answer = browser.post("/consent", data=form)
    assert (answer.status_code, "location" in answer.headers) == (400, False)
    assert codes(mock) == []


def test_a_decision_without_a_session_is_refused(browser, another_browser, mock):
    browser.sign_in()
    answer = another_browser.decide(browser.authorize())
    assert (answer.status_code, codes(mock)) == (400, [])


def test_a_decision_of_another_session_is_refused(browser, another_browser, mock):
    browser.sign_in()
    another_browser.sign_in("ben")
    mixed = hidden(another_browser.authorize()) | {
        "ticket": hidden(browser.authorize())["ticket"],
        "decision": "approve",
    }
    assert another_browser.post("/consent", data=mixed).status_code == 400
    assert codes(mock) == []


def test_anothers_attempt_does_not_spend_the_persons_ticket(browser, another_browser):
    browser.sign_in()
    another_browser.sign_in("ben")
    page = browser.authorize()
    csrf = hidden(another_browser.authorize())["csrf"]
    another_browser.post("/consent", data={**hidden(page), "csrf": csrf, "decision": "approve"})
    assert browser.decide(page).status_code == 302


def test_a_replayed_decision_is_refused(browser, mock):
    browser.sign_in()
    page = browser.authorize()
    browser.decide(page)
    again = browser.decide(page)
    assert (again.status_code, len(codes(mock))) == (400, 1)
    assert "sent before" in again.text


@pytest.mark.parametrize("decision", ["", "yes", "approve "])
def test_only_approve_and_deny_are_decisions(browser, mock, decision):
    browser.sign_in()
    assert browser.decide(browser.authorize(), decision).status_code == 400
    assert codes(mock) == []


def test_a_decision_is_no_get(browser, mock):
    browser.sign_in()
    form = {**hidden(browser.authorize()), "decision": "approve"}
    answer = browser.get("/consent", params=form)
    assert answer.status_code == 405
    assert "POST" in answer.headers["allow"]
    assert codes(mock) == []


def test_what_the_form_posts_beside_its_ticket_counts_for_nothing(browser, mock):
    browser.sign_in()
    form = {**hidden(browser.authorize()), "decision": "approve", "person": "ben"}
    form |= {"redirect_uri": "http://evil.example.com/", "scope[0]": "avatar-profile:manage"}
    answer = browser.post("/consent", data=form)
    assert answer.headers["location"].startswith(f"{CALLBACK}?code=")
    [(_, code)] = codes(mock)
    assert (code.person, code.scopes) == ("ada", ("auth", "avatar-profile:read"))


def test_the_request_is_judged_again_when_the_decision_comes(browser, mock):
    browser.sign_in()
    page = browser.authorize()
    application = applications.find(mock.world, "server-app")
    uris = ("http://127.0.0.1:5000/new",)
    applications.change(mock.world, application, name=application.name, redirect_uris=uris)
    answer = browser.decide(page)
    assert (answer.status_code, codes(mock)) == (400, [])
    assert "location" not in answer.headers

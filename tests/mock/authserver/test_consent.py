"""Signing in and consenting: who decides, once; what is refused is in ``test_oauth_list``."""

import pytest
from tests.mock.authserver.conftest import CALLBACK, EXCHANGE, RESOURCE, answered, hidden

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


def test_anothers_attempt_does_not_spend_the_persons_ticket(browser, another_browser):
    browser.sign_in()
    another_browser.sign_in("ben")
    page = browser.authorize()
    csrf = hidden(another_browser.authorize())["csrf"]
    another_browser.post("/consent", data={**hidden(page), "csrf": csrf, "decision": "approve"})
    assert browser.decide(page).status_code == 302


def test_the_request_is_judged_again_when_the_decision_comes(browser, mock):
    browser.sign_in()
    page = browser.authorize()
    application = applications.find(mock.world, "server-app")
    uris = ("http://127.0.0.1:5000/new",)
    applications.change(mock.world, application, name=application.name, redirect_uris=uris)
    answer = browser.decide(page)
    assert (answer.status_code, codes(mock)) == (400, [])
    assert "location" not in answer.headers

"""The main flows where the authorization server answers at the resource API's address."""

import pytest
from tests.mock.authserver.conftest import (
    CALLBACK,
    EXCHANGE,
    IMPLICIT,
    PASSWORD,
    RESOURCE,
    Browser,
    answered,
    hidden,
    renewed,
)


@pytest.fixture
def browser(mocks, time):
    with Browser(renewed(mocks(True), time), home=RESOURCE) as browser:
        yield browser


def test_the_code_flow_from_the_button_to_the_profile(browser):
    onward = browser.sign_in(query=hidden(browser.authorize())["query"])
    assert onward.headers["location"].startswith(f"{RESOURCE}/oauth2/authorize?")
    answer = browser.decide(browser.get(onward.headers["location"]))
    assert answer.headers["location"].startswith(f"{CALLBACK}?code=")
    form = {**EXCHANGE, "code": answered(answer)["code"]}
    token = browser.post("/oauth2/token", data=form).json()
    assert browser.me(token["access_token"]).status_code == 200
    assert browser.get(token["blog_url"]).status_code == 200


def test_the_implicit_flow(browser):
    browser.sign_in()
    answer = answered(browser.decide(browser.authorize(**IMPLICIT)))
    assert answer["expires_in"] == "1209600"
    assert browser.me(answer["access_token"]).status_code == 200


def test_the_password_grant_and_token_info(browser):
    token = browser.post("/oauth2/token", data=PASSWORD).json()["access_token"]
    asked = {"client_id": "server-app", "token": token}
    assert browser.get("/oauth2/token-info", params=asked).json()["user_id"].isdecimal()


def test_denial_and_error_page(browser):
    browser.sign_in()
    assert answered(browser.decide(browser.authorize(), "deny"))["error"] == "access_denied"
    page = browser.authorize(redirect_uri="http://evil.example.com/")
    assert (page.status_code, "location" in page.headers) == (400, False)


@pytest.mark.parametrize("sent", [{"data": {**PASSWORD, "password": "x"}}, {"json": PASSWORD}])
def test_a_refusal_of_the_token_endpoint_is_not_in_the_resource_apis_shape(browser, sent):
    answer = browser.post("/oauth2/token", **sent)
    assert answer.status_code == 400
    assert answer.json().keys() == {"error", "error_description"}
    assert answer.headers["cache-control"] == "no-store"


def test_only_the_token_endpoint_is_closed_to_other_origins(browser):
    origin = {"Origin": "http://127.0.0.1:5173"}
    token = browser.post("/oauth2/token", data=PASSWORD, headers=origin)
    assert "access-control-allow-origin" not in token.headers
    asked = {"Access-Control-Request-Method": "POST", **origin}
    assert browser.options("/oauth2/token", headers=asked).status_code == 405
    assert browser.get("/v3/profiles/ada", headers=origin).headers["access-control-allow-origin"]


def test_the_dashboard_is_there_and_people_are_too(browser):
    browser.sign_in()
    assert "Trail Journal" in browser.get("/apps").text
    assert browser.get("/ada", headers={"Accept": "text/html"}).status_code == 200

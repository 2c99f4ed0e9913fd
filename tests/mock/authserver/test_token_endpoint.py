"""The token endpoint over HTTP: what ``test_oauth_list`` does not ask of it."""

import asyncio
from collections import Counter
from datetime import timedelta

import httpx
import pytest
from tests.mock.authserver.conftest import AUTHORIZATION, CALLBACK, CREDENTIALS, EXCHANGE, PASSWORD

TOKEN = "/oauth2/token"


def refused(answer, error, status=400):
    """Holds a refusal to RFC 6749, 5.2: status, JSON, its members, and no caching."""
    assert (answer.status_code, answer.json()["error"]) == (status, error), answer.text
    assert answer.json().keys() == {"error", "error_description"}
    assert answer.headers["content-type"] == "application/json"
    assert (answer.headers["cache-control"], answer.headers["pragma"]) == ("no-store", "no-cache")
    return answer.json()["error_description"]


@pytest.mark.parametrize("name", ["client_secret", "code", "password", "code_verifier"])
def test_a_secret_in_the_query_is_refused_even_beside_a_good_form(browser, name):
    form = {**EXCHANGE, "code": browser.code()}
    answer = browser.post(TOKEN, params={name: "hush"}, data=form)
    description = refused(answer, "invalid_request")
    assert name in description
    assert "hush" not in description
    assert browser.post(TOKEN, data=form).status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        {"files": {name: (None, text) for name, text in PASSWORD.items()}},
        {"content": b"x", "headers": {"Content-Type": "text/plain"}},
        {"content": b"a=%ff", "headers": {"Content-Type": "application/x-www-form-urlencoded"}},
    ],
)
def test_another_body_than_a_form_is_refused(browser, sent):
    refused(browser.post(TOKEN, **sent), "invalid_request")


@pytest.mark.parametrize("charset", ["", "; charset=utf-8", " ; charset=UTF-8"])
def test_a_form_may_name_its_charset(browser, charset):
    headers = {"Content-Type": f"application/x-www-form-urlencoded{charset}"}
    body = str(httpx.QueryParams(PASSWORD))
    assert browser.post(TOKEN, content=body, headers=headers).status_code == 200


@pytest.mark.parametrize("name", [*EXCHANGE, "code"])
def test_a_field_given_twice_is_refused_and_spends_nothing(browser, name):
    form = {**EXCHANGE, "code": browser.code()}
    refused(browser.post(TOKEN, data={**form, name: [form[name]] * 2}), "invalid_request")
    assert browser.post(TOKEN, data=form).status_code == 200


@pytest.mark.parametrize(
    ("name", "error", "status"),
    [
        ("client_id", "invalid_client", 401),
        ("client_secret", "invalid_client", 401),
        ("grant_type", "invalid_request", 400),
        ("code", "invalid_request", 400),
        ("redirect_uri", "invalid_request", 400),
    ],
)
def test_an_empty_field_counts_as_left_out(browser, name, error, status):
    form = {**EXCHANGE, "code": browser.code()}
    without = {key: text for key, text in form.items() if key != name}
    said = refused(browser.post(TOKEN, data=without), error, status)
    assert refused(browser.post(TOKEN, data={**form, name: ""}), error, status) == said
    assert name in said


def test_of_two_exchanges_at_once_exactly_one_succeeds(browser, mock):
    form = {**EXCHANGE, "code": browser.code()}

    async def both():
        transport = httpx.ASGITransport(mock.authorization)
        async with httpx.AsyncClient(transport=transport, base_url=AUTHORIZATION) as client:
            return await asyncio.gather(*(client.post(TOKEN, data=form) for _ in range(2)))

    statuses = [answer.status_code for answer in asyncio.run(both())]
    assert sorted(statuses) == [200, 400]


@pytest.mark.parametrize("client_id", ["server-app", "nobody"])
def test_http_basic_is_refused_with_the_cure(browser, client_id):
    form = {"grant_type": "authorization_code", "redirect_uri": CALLBACK, "code": browser.code()}
    answer = browser.post(TOKEN, data=form, auth=(client_id, "server-app-secret"))
    assert "client_secret_post" in refused(answer, "invalid_client", 401)
    assert answer.headers["www-authenticate"].startswith("Basic ")


def test_http_basic_does_where_the_other_reading_is_chosen(browser):
    form = {"grant_type": "authorization_code", "redirect_uri": CALLBACK, "code": browser.code()}
    chosen = {"X-Mock-Choose": "token-endpoint-basic-auth=accept"}
    basic = ("server-app", "server-app-secret")
    assert browser.post(TOKEN, data=form, auth=basic, headers=chosen).status_code == 200


ORIGINS = ["http://127.0.0.1:5000", "http://127.0.0.1:8081", "https://evil.example.com", "null"]


@pytest.mark.parametrize("origin", ORIGINS)
def test_no_origin_is_let_in_whatever_the_answer(browser, origin):
    headers = {"Origin": origin}
    for answer in (
        browser.post(TOKEN, data={**EXCHANGE, "code": browser.code()}, headers=headers),
        browser.post(TOKEN, data={**EXCHANGE, "code": "x"}, headers=headers),
        browser.post(TOKEN, json={}, headers=headers),
        browser.get(TOKEN, headers=headers),
        browser.get(f"{TOKEN}/", headers=headers),
    ):
        assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize("origin", ORIGINS)
def test_no_preflight_succeeds(browser, origin):
    for asked in ({}, {"Access-Control-Request-Headers": "content-type"}):
        headers = {"Origin": origin, "Access-Control-Request-Method": "POST", **asked}
        answer = browser.options(TOKEN, headers=headers)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_a_secret_from_a_browser_works_as_in_production_and_gets_advice(browser):
    form = {**EXCHANGE, "code": browser.code()}
    assert browser.post(TOKEN, data=form, headers={"Origin": ORIGINS[0]}).status_code == 200
    browser.sign_in()
    assert "The client secret was sent from a browser" in browser.get("/apps/server-app").text


@pytest.mark.parametrize("guessed", ["client_secret", "code", "password"])
def test_guessing_is_slowed_and_told_when_to_come_back(browser, time, guessed):
    form = PASSWORD if guessed == "password" else {**EXCHANGE, "code": browser.code()}
    wrong = [browser.post(TOKEN, data={**form, guessed: f"guess{n}"}) for n in range(12)]
    assert Counter(answer.status_code == 429 for answer in wrong) == {False: 10, True: 2}
    slowed = browser.post(TOKEN, data=form)
    refused(slowed, "slow_down", 429)
    assert slowed.headers["retry-after"] == "61"
    time.advance(timedelta(seconds=61))
    assert browser.post(TOKEN, data=form).status_code == 200


def test_another_client_is_not_slowed_by_it(browser):
    for number in range(11):
        browser.post(TOKEN, data={**CREDENTIALS, "client_secret": f"guess{number}"})
    two_step = {"client_id": "two-step", "client_secret": "two-step-secret"}
    refused(browser.post(TOKEN, data=two_step), "invalid_request")


@pytest.mark.parametrize(
    "scope", [{"scope": "auth"}, {"scope[2]": "auth"}, {"scope[]": "auth"}, {"scope": "auth auth"}]
)
def test_the_password_grant_gives_the_scopes_that_were_asked_for(browser, scope):
    assert browser.post(TOKEN, data={**PASSWORD, **scope}).json()["scope"] == "auth"


def test_an_owner_with_two_steps_needs_an_application_password(browser):
    tova = {"client_id": "two-step", "client_secret": "two-step-secret", "username": "tova"}
    form = {**PASSWORD, **tova, "password": "tova-password"}
    refused(browser.post(TOKEN, data=form), "needs_2fa")
    headers = {"X-Mock-Choose": "two-step-error=403 second_step"}
    refused(browser.post(TOKEN, data=form, headers=headers), "second_step", 403)
    form["password"] = "hbtq rvxk 29fd zmwp"
    assert browser.post(TOKEN, data=form).status_code == 200


def test_a_token_is_refused_by_its_validation_as_was_chosen(browser):
    query = {"client_id": "two-step", "token": "unknown"}
    path = TOKEN.replace("/token", "/token-info")
    refused(browser.get(path, params=query), "invalid_request")
    headers = {"X-Mock-Choose": "token-info-error=404 no_such_token"}
    refused(browser.get(path, params=query, headers=headers), "no_such_token", 404)
    refused(browser.get(path, headers=headers), "invalid_request")

"""The dashboard as JSON."""

import pytest


@pytest.fixture
def admin(browser):
    def call(method: str, path: str, **options):
        return browser.request(method, f"/__admin{path}", **options)

    return call


def test_an_application_lives_from_creation_to_deletion(admin):
    made = admin("POST", "/applications", json={"owner": "ada", "name": "New"}).json()
    path = f"/applications/{made['client_id']}"
    uris = ["http://127.0.0.1:3000/callback"]
    changed = admin("PATCH", path, json={"redirect_uris": uris}).json()
    assert changed == {**made, "redirect_uris": uris}
    rotated = admin("POST", f"{path}/secret").json()
    assert rotated["client_secret"] != made["client_secret"]
    assert admin("POST", f"{path}/api-key").json()["api_key"] != made["api_key"]
    assert admin("GET", path).json()["client_secret"] == rotated["client_secret"]
    assert admin("DELETE", path).status_code == 204
    assert admin("GET", path).status_code == 404


def test_applications_are_listed_by_owner(admin):
    owners = {app["owner"] for app in admin("GET", "/applications?owner=ada").json()}
    assert owners == {"ada"}


def test_grants_are_listed_and_ended(admin, browser):
    form = {
        "grant_type": "password",
        "client_id": "server-app",
        "client_secret": "server-app-secret",
        "username": "ada",
        "password": "ada-password",
    }
    token = browser.request("POST", "/oauth2/token", data=form).json()["access_token"]
    grants = admin("GET", "/applications/server-app/grants").json()
    assert [(grant["token"], grant["person"]) for grant in grants] == [(token, "ada")]
    assert admin("DELETE", "/applications/server-app/grants?person=ben").status_code == 204
    assert admin("GET", "/applications/server-app/grants").json() == grants
    assert admin("DELETE", "/applications/server-app/grants").status_code == 204
    assert admin("GET", "/applications/server-app/grants").json() == []


def test_advice_says_what_a_client_could_do_better(admin, browser):
    query = {
        "client_id": "server-app",
        "redirect_uri": "http://127.0.0.1:5000/callback",
        "response_type": "code",
        "scope": "auth",
    }
    browser.request("GET", "/oauth2/authorize", params=query)
    found = admin("GET", "/applications/server-app/advice").json()
    assert [entry["problem"] for entry in found] == ["no-pkce", "no-state"]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"owner": "nobody", "name": "New"}, "no person 'nobody'"),
        ({"owner": "ada", "name": " "}, "1 to 80"),
        ({"owner": "ada", "name": "New", "redirect_uris": ["/callback"]}, "cannot be registered"),
        ({"owner": "ada", "nmae": "New"}, "nmae"),
    ],
)
def test_bad_input_is_a_problem_that_names_it(admin, body, says):
    answer = admin("POST", "/applications", json=body)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert says in answer.json()["detail"]

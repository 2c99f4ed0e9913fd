"""The calls that the console makes beside those for tests: views, sessions, facts, what comes next."""

from urllib.parse import parse_qs, urlsplit

import pytest
from tests.mock.admin.conftest import AUTHORIZATION, Driver, Time

from understudy.interface.facts import Fact, Facts
from understudy.mock.settings import Settings

QUERY = {
    "client_id": "server-app",
    "redirect_uri": "http://127.0.0.1:5000/callback",
    "response_type": "code",
    "scope[0]": "auth",
}


def authorized(driver: Driver) -> str:
    """Returns the code of an authorization that ada approves."""
    query = {**QUERY, "mock_approve": "ada"}
    response = driver.get(f"{AUTHORIZATION}/oauth2/authorize", params=query)
    return parse_qs(urlsplit(response.headers["location"]).query)["code"][0]


def test_both_views_of_a_person_are_shown_and_count_as_no_request(driver: Driver) -> None:
    views = driver.admin("GET", "/people/ada/views")
    public = driver.get("/v3/profiles/ada")
    full = driver.get("/v3/profiles/ada", token="ada-full")
    assert views["public"] == {"status": 200, "body": public.json()}
    assert views["token"] == {"status": 200, "body": full.json()}
    assert "timezone" in views["differing"]
    assert "job_title" not in views["differing"]
    [_, _] = driver.admin("GET", "/requests")["requests"]
    assert [it["used"] for it in driver.admin("GET", "/limits")] == [1, 1]


def test_a_private_profile_is_refused_to_everybody_but_its_person(driver: Driver) -> None:
    private = next(
        it["slug"]
        for it in driver.admin("GET", "/people")["people"]
        if it["visibility"] == "private"
    )
    views = driver.admin("GET", f"/people/{private}/views")
    assert (views["public"]["status"], views["token"]["status"]) == (403, 200)
    assert "private" in views["public"]["body"]["error"]
    assert driver.refused("GET", "/people/adda/views")[0] == 404


def test_a_session_makes_the_next_authorization_ask_for_consent_at_once(driver: Driver) -> None:
    response = driver.ask("POST", "/__admin/sessions", json={"person": "ada"})
    cookie = response.json()["cookie"]
    assert response.headers["set-cookie"] == (
        f"{cookie['name']}={cookie['value']}; HttpOnly; Path=/; SameSite=Lax"
    )
    headers = {"Cookie": f"{cookie['name']}={cookie['value']}"}
    page = driver.get(f"{AUTHORIZATION}/oauth2/authorize", params=QUERY, headers=headers)
    assert page.status_code == 200
    assert "Password" not in page.text
    assert "Ada" in page.text


def test_a_session_is_of_its_world_and_of_somebody_there(driver: Driver) -> None:
    driver.admin("POST", "/worlds", {"name": "w", "people": ["ben"]})
    session = driver.admin("POST", "/sessions", {"person": "ben"}, world="w")
    assert session["auth_url"].endswith("/__world/w")
    assert session["cookie"]["path"] == "/__world/w/"
    status, reason = driver.refused("POST", "/sessions", {"person": "benn"})
    assert (status, "did you mean 'ben'" in reason) == (400, True)


def test_codes_tokens_and_windows_are_listed_by_when_they_end(driver: Driver) -> None:
    authorized(driver)
    driver.admin("POST", "/tokens", {"person": "ben", "expires_in": 1200})
    driver.admin("POST", "/tokens", {"person": "ben"})
    driver.get("/v3/profiles/ada")
    soon = driver.admin("GET", "/clock/upcoming?limit=3")
    assert [(it["kind"], it["of"]) for it in soon] == [
        ("code", "ada"),
        ("token", "ben"),
        ("window", "address 127.0.0.1"),
    ]
    assert soon[0]["client_id"] == "server-app"
    driver.admin("POST", "/clock/advance", {"seconds": 1200})
    assert driver.admin("GET", "/clock/upcoming?limit=1")[0]["kind"] == "window"


def test_a_code_is_exchanged_again_as_it_was_though_the_journal_masks_it(driver: Driver) -> None:
    form = {
        "grant_type": "authorization_code",
        "client_id": "server-app",
        "redirect_uri": QUERY["redirect_uri"],
        "code": authorized(driver),
    }
    secret = next(
        it["client_secret"]
        for it in driver.admin("GET", "/applications")
        if it["client_id"] == "server-app"
    )
    form["client_secret"] = secret
    driver.ask("POST", f"{AUTHORIZATION}/oauth2/token", data={**form, "redirect_uri": "wrong"})
    [failed] = driver.admin("GET", "/requests?limit=1")["requests"]
    assert secret not in failed["request"]["body"]
    right = failed["request"]["body"].replace(
        "redirect_uri=wrong", "redirect_uri=http%3A%2F%2F127.0.0.1%3A5000%2Fcallback"
    )
    changed = {"like": failed["id"], "body": right, "site": "authorization"}
    again = driver.admin("POST", "/send", changed)
    assert again == {"request": failed["id"] + 1, "status": 200}
    sent = driver.admin("GET", f"/requests/{again['request']}")
    assert sent["operation"] == failed["operation"]


def test_a_request_is_sent_again_with_its_credentials_and_with_another_path(driver: Driver) -> None:
    driver.get("/v3/me/profile", token="ada-full")
    headers = {"Authorization": "Bearer ***", "Accept": "application/json"}
    changed = {"like": 1, "url": "/v3/me/avatars", "headers": headers}
    assert driver.admin("POST", "/send", {"like": 1})["status"] == 200
    assert driver.admin("POST", "/send", changed)["status"] == 200
    sent = driver.admin("GET", "/requests/3")
    assert (sent["operation"], sent["person"]) == ("listAvatars", "ada")


def test_a_request_of_ones_own_is_sent_to_either_address_of_the_world(driver: Driver) -> None:
    driver.admin("POST", "/worlds", {"name": "w"})
    token = {"method": "GET", "url": "/oauth2/token-info?client_id=x&token=y"}
    sent = driver.admin("POST", "/send", {**token, "site": "authorization"}, world="w")
    assert sent["status"] == 400
    [seen] = driver.admin("GET", "/requests", world="w")["requests"]
    assert seen["operation"] == "validateToken"
    assert driver.admin("GET", "/requests")["meta"]["total"] == 0


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({"like": 7}, 404, "does not remember a request 7"),
        ({"method": "GET"}, 400, "name both"),
        ({"method": "POST", "url": "/__admin/reset"}, 400, "the mock's own user"),
        ({"method": "GET", "url": "/v3/profiles/ä"}, 400, "RFC 3986"),
        ({"method": "POST", "url": "/v3/me/avatars", "base64": "?"}, 400, "base64"),
    ],
)
def test_what_cannot_be_sent_is_refused(
    driver: Driver, body: dict[str, object], status: int, reason: str
) -> None:
    refused = driver.refused("POST", "/send", body)
    assert (refused[0], reason in refused[1]) == (status, True), refused


def test_the_facts_that_the_mock_follows_are_listed_with_their_day() -> None:
    fact = Fact("profile-private", "404", ("getProfile as anonymous: 404",), 2, "2026-05-01")
    facts = Facts("https://staging.example.com/v3", "2026-05-01", 40, (fact,), ())
    driver = Driver(Settings(facts=(facts,)), Time())
    [listed] = driver.admin("GET", "/facts")
    assert listed["deployment"] == "https://staging.example.com/v3"
    assert listed["facts"] == [
        {
            "rule": "profile-private",
            "reading": "404",
            "shown_by": ["getProfile as anonymous: 404"],
            "seen": 2,
            "learnt": "2026-05-01",
        }
    ]
    driver.close()

"""Worlds are made, found, kept apart, reset and ended."""

from datetime import timedelta

import pytest
from tests.mock.admin.conftest import AUTHORIZATION, SITE, Driver

from understudy.errors import Conflict
from understudy.mock.settings import Settings
from understudy.mock.store.tokens import TOKENS, Token


def rename(driver: Driver, base_url: str, name: str, token: str = "ada-full") -> None:
    answer = driver.ask("PATCH", f"{base_url}/me/profile", json={"display_name": name}, token=token)
    assert answer.status_code == 200


def name_of(driver: Driver, base_url: str, slug: str = "ada") -> str:
    name: str = driver.get(f"{base_url}/profiles/{slug}").json()["display_name"]
    return name


def test_a_world_tells_its_addresses_and_who_is_in_it(driver: Driver) -> None:
    world = driver.admin("POST", "/worlds", {"name": "mine"})
    assert world["base_url"] == f"{SITE}/__world/mine/v3"
    assert world["admin_url"] == f"{SITE}/__world/mine/__admin"
    assert world["header"] == {"X-Mock-World": "mine"}
    assert {person["slug"] for person in world["people"]} >= {"ada", "ben"}
    assert world == {**driver.admin("GET", "/worlds/mine"), "requests": 0}


def test_a_world_is_made_up_of_nothing_but_a_request(driver: Driver) -> None:
    names = [driver.admin("POST", "/worlds")["name"] for _ in range(3)]
    assert names == ["w1", "w2", "w3"]
    assert [world["name"] for world in driver.admin("GET", "/worlds")] == ["default", *names]


def test_what_is_written_in_one_world_is_not_seen_in_another(driver: Driver) -> None:
    one, other = driver.admin("POST", "/worlds"), driver.admin("POST", "/worlds")
    rename(driver, one["base_url"], "Only here")
    assert name_of(driver, one["base_url"]) == "Only here"
    assert name_of(driver, other["base_url"]) == name_of(driver, "/v3") == "Ada Merrowdale"


@pytest.mark.parametrize(
    "headers", [{"X-Mock-World": "mine"}, {"Cookie": "a=b; mock_world=mine; c=d"}]
)
def test_header_and_cookie_select_a_world_at_the_plain_address(driver: Driver, headers) -> None:
    world = driver.admin("POST", "/worlds", {"name": "mine"})
    rename(driver, world["base_url"], "Only here")
    found = driver.get("/v3/profiles/ada", headers=headers).json()
    assert found["display_name"] == "Only here"
    assert found["avatar_url"].startswith(f"{SITE}/__world/mine/avatar/")


def test_a_token_that_was_minted_in_a_world_finds_it_by_itself(driver: Driver) -> None:
    world = driver.admin("POST", "/worlds", {"name": "mine"})
    rename(driver, world["base_url"], "Only here")
    token = driver.admin("POST", "/tokens", {"person": "ada"}, world="mine")["token"]
    assert token.startswith("mine~")
    assert driver.get("/v3/me/profile", token=token).json()["display_name"] == "Only here"


def test_a_token_of_a_world_that_has_ended_is_only_a_wrong_token(driver: Driver) -> None:
    driver.admin("POST", "/worlds", {"name": "mine"})
    token = driver.admin("POST", "/tokens", {"person": "ada"}, world="mine")["token"]
    driver.admin("DELETE", "/worlds/mine")
    assert driver.get("/v3/me/profile", token=token).status_code == 401


def test_codes_and_tokens_of_the_sign_in_stay_in_their_world(driver: Driver) -> None:
    driver.admin("POST", "/worlds", {"name": "mine"})
    query = (
        "client_id=server-app&redirect_uri=http://127.0.0.1:5000/callback&response_type=code"
        "&scope=auth&mock_approve=ada"
    )
    asked = f"{AUTHORIZATION}/__world/mine/oauth2/authorize?{query}"
    code = driver.get(asked).headers["location"].partition("code=")[2].partition("&")[0]
    form = {
        "client_id": "server-app",
        "client_secret": "server-app-secret",
        "grant_type": "authorization_code",
        "redirect_uri": "http://127.0.0.1:5000/callback",
        "code": code,
    }
    elsewhere = driver.ask("POST", f"{AUTHORIZATION}/oauth2/token", data=form)
    assert elsewhere.status_code == 400
    here = driver.ask("POST", f"{AUTHORIZATION}/__world/mine/oauth2/token", data=form)
    assert here.json()["access_token"].startswith("mine~")


def test_a_world_with_chosen_people_has_nobody_else(driver: Driver) -> None:
    world = driver.admin("POST", "/worlds", {"people": ["ada"]})
    assert [person["slug"] for person in world["people"]] == ["ada"]
    assert {token["person"] for token in world["tokens"]} == {"ada"}
    assert driver.get(f"{world['base_url']}/profiles/ben").status_code == 404
    assert driver.get(f"{world['base_url']}/me/profile", token="ben-full").status_code == 401


def test_the_same_seed_makes_the_same_identifiers(driver: Driver) -> None:
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        driver.admin("POST", "/worlds", {"name": name, "seed": seed})
    tokens = [
        driver.admin("POST", "/tokens", {"person": "ada"}, world=name)["token"].partition("~")[2]
        for name in "abc"
    ]
    assert tokens[0] == tokens[1] != tokens[2]


def test_a_world_has_rate_limits_of_its_own(driver: Driver) -> None:
    world = driver.admin("POST", "/worlds")
    driver.admin("PUT", "/limits/anonymous", {"limit": 1})
    assert [driver.get("/v3/profiles/ada").status_code for _ in range(2)] == [200, 429]
    assert driver.get(f"{world['base_url']}/profiles/ada").headers["x-ratelimit-limit"] == "100"


def test_choices_are_a_worlds_own(driver: Driver) -> None:
    world = driver.admin("POST", "/worlds", {"choices": {"private-profile-lookup": "404"}})
    assert driver.get(f"{world['base_url']}/profiles/hush").status_code == 404
    assert driver.get("/v3/profiles/hush").status_code == 403


def test_reset_makes_a_world_as_it_began(driver: Driver) -> None:
    world = driver.admin("POST", "/worlds", {"name": "mine", "people": ["ada"], "seed": 3})
    rename(driver, world["base_url"], "Changed")
    driver.admin("PUT", "/clock", {"frozen": True}, world="mine")
    driver.admin("POST", "/faults", {"status": 503}, world="mine")
    said = driver.admin("POST", "/reset", world="mine")
    assert said["changes"] == said["faults"] == 0
    assert name_of(driver, world["base_url"]) == "Ada Merrowdale"
    assert driver.admin("GET", "/clock", world="mine")["frozen"] is False
    assert driver.get(f"{world['base_url']}/profiles/ben").status_code == 404
    assert len(driver.admin("GET", "/requests", world="mine")["requests"]) == 2


def test_a_snapshot_is_restored_and_begins_other_worlds(driver: Driver) -> None:
    rename(driver, "/v3", "Kept")
    driver.admin("POST", "/snapshots", {"name": "kept"})
    rename(driver, "/v3", "Later")
    world = driver.admin("POST", "/worlds", {"snapshot": "kept"})
    assert name_of(driver, world["base_url"]) == "Kept"
    assert name_of(driver, "/v3") == "Later"
    driver.admin("POST", "/snapshots/kept/restore")
    assert name_of(driver, "/v3") == "Kept"
    assert [kept["name"] for kept in driver.admin("GET", "/snapshots")] == ["kept"]
    driver.admin("DELETE", "/snapshots/kept")
    assert driver.admin("GET", "/snapshots") == []


def test_an_idle_world_ends_by_itself(driver: Driver, monkeypatch, time) -> None:
    monkeypatch.setattr("understudy.mock.server.world_selection.machine_time", lambda: time.now)
    driver.admin("POST", "/worlds", {"name": "brief", "idle_seconds": 60})
    time.advance(timedelta(seconds=59))
    assert driver.get("/__world/brief/v3/profiles/ada").status_code == 200
    time.advance(timedelta(seconds=60))
    assert driver.get("/__world/brief/v3/profiles/ada").status_code == 404


def test_worlds_are_listed_in_pages_that_lead_to_one_another(driver: Driver) -> None:
    for _ in range(5):
        driver.admin("POST", "/worlds")
    first = driver.get("/__admin/worlds?limit=2")
    driver.admin("DELETE", "/worlds/w1")
    driver.admin("DELETE", "/worlds/w2")
    second = driver.get(first.links["next"]["url"])
    third = driver.get(second.links["next"]["url"])
    names = [[world["name"] for world in page.json()] for page in (first, second, third)]
    assert names == [["default", "w1"], ["w3", "w4"], ["w5"]]
    assert "next" not in third.links


def test_a_list_of_worlds_is_at_most_a_page_and_looks_at_no_more(driver: Driver) -> None:
    start = driver.mock.world.beginning
    for number in range(150):
        driver.mock.worlds.create(f"n{number}", start, idle=timedelta(hours=1))
    answer = driver.get("/__world/n7/__admin/worlds")
    assert len(answer.json()) == 100
    following = f"{SITE}/__world/n7/__admin/worlds?limit=100&after=99"
    assert answer.links["next"]["url"] == following
    assert len(driver.get(following).json()) == 51


def test_an_unknown_world_is_told_with_the_nearest_name(driver: Driver) -> None:
    driver.admin("POST", "/worlds", {"name": "harbour"})
    answer = driver.get("/__world/harbor/v3/profiles/ada", headers={"Origin": "http://x.example"})
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "did you mean 'harbour'?" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({"name": "Not this"}, 400, "name"),
        ({"name": "default"}, 409, "already"),
        ({"people": ["ad"]}, 400, "did you mean 'ada'?"),
        ({"people": ["ada"], "snapshot": "kept"}, 400, "leave one of the two out"),
        ({"snapshot": "none"}, 404, "There is no snapshot 'none'"),
        ({"choices": {"rate-limit": "off"}}, 400, "did you mean 'rate-limits'?"),
        ({"peple": ["ada"]}, 400, "Did you mean 'people'?"),
    ],
)
def test_what_no_world_can_be_made_of_is_refused(driver: Driver, body, status, reason) -> None:
    code, detail = driver.refused("POST", "/worlds", body)
    assert code == status
    assert reason in detail
    assert len(driver.admin("GET", "/worlds")) == 1


def test_the_default_world_cannot_be_deleted(driver: Driver) -> None:
    assert driver.refused("DELETE", "/worlds/default")[0] == 400


def test_where_worlds_must_be_named_a_request_that_names_none_is_refused(time) -> None:
    driver = Driver(Settings(require_world=True), time)
    world = driver.admin("POST", "/worlds")
    refused = driver.get("/v3/profiles/ada")
    assert refused.status_code == 400
    assert "X-Mock-World" in refused.json()["detail"]
    assert driver.get(f"{world['base_url']}/profiles/ada").status_code == 200
    driver.close()


def test_a_request_that_outlives_its_world_changes_nothing(driver: Driver) -> None:
    driver.admin("POST", "/worlds", {"name": "w"})
    ended = driver.mock.worlds.get("w")
    driver.admin("DELETE", "/worlds/w")
    driver.admin("POST", "/worlds", {"name": "w"})
    with pytest.raises(Conflict, match="was deleted while"):
        ended.put(TOKENS, "late", Token("late", "ada"))
    with pytest.raises(Conflict, match="was deleted while"):
        ended.become(ended.snapshot())

"""People of a world by the admin API: listed, added, replaced, and exported as fixtures."""

import pytest
import yaml
from tests.mock.admin.conftest import Driver

from understudy.mock.store.hashing import email_hash

GWEN = {"slug": "gwen", "about": "New.", "emails": [{"email": "gwen@example.com"}]}


def test_people_are_listed_with_the_hashes_of_all_addresses(driver: Driver) -> None:
    found = driver.admin("GET", "/people?search=ada.merrowdale")
    [ada] = found["people"]
    assert [email["hash"] for email in ada["emails"]] == [
        email_hash("ada@example.com"),
        email_hash("ada.merrowdale@example.org"),
    ]
    assert (ada["password"], ada["origin"]) == ("ada-password", "fixture")


def test_pages_of_people_follow_one_another(driver: Driver) -> None:
    everyone = driver.admin("GET", "/people")
    slugs = [person["slug"] for person in everyone["people"]]
    page = driver.admin("GET", "/people?limit=2&offset=1")
    assert [person["slug"] for person in page["people"]] == slugs[1:3]
    assert page["total"] == everyone["total"] == len(slugs)


def test_a_person_who_is_added_is_served(driver: Driver) -> None:
    driver.admin("POST", "/people", GWEN)
    by_hash = driver.get(f"/v3/profiles/{email_hash('gwen@example.com')}")
    assert (by_hash.status_code, by_hash.json()["hash"]) == (200, email_hash("gwen@example.com"))
    [listed] = driver.admin("GET", "/people?search=gwen")["people"]
    assert (listed["origin"], listed["password"]) == ("added", "gwen-password")


def test_a_person_is_replaced_and_former_addresses_are_free(driver: Driver) -> None:
    driver.admin("POST", "/people", GWEN)
    other = {**GWEN, "emails": [{"email": "g@example.com"}], "profile": {"location": "Here"}}
    driver.admin("PUT", "/people/gwen", other)
    assert driver.get(f"/v3/profiles/{email_hash('gwen@example.com')}").status_code == 404
    found = driver.get(f"/v3/profiles/{email_hash('g@example.com')}")
    assert found.json()["location"] == "Here"
    driver.admin("POST", "/people", {**GWEN, "slug": "hal"})


def test_what_is_shown_of_a_person_can_be_sent_back(driver: Driver) -> None:
    shown = driver.admin("GET", "/people/ada")
    assert driver.admin("PUT", "/people/ada", shown) == shown


@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        ({"slug": "ada"}, 409, "there is a person 'ada' already"),
        ({"emails": [{"email": "ada@example.com"}]}, 409, "belongs to 'ada'"),
        ({"emails": [{"email": "none"}]}, 400, "is not an e-mail address"),
        ({"profile": {"place": "Here"}}, 400, "place"),
        ({"slug": "me"}, 400, "path of the service"),
        ({"profile": {"gallery": [{"image": "none.png"}]}}, 400, "no image 'none.png'"),
    ],
)
def test_a_person_who_is_no_valid_fixture_is_refused(driver, change, status, reason) -> None:
    before = driver.mock.world.changed()
    refused = driver.refused("POST", "/people", {**GWEN, **change})
    assert (refused[0], reason in refused[1]) == (status, True)
    assert driver.mock.world.changed() == before


def test_a_person_keeps_the_slug(driver: Driver) -> None:
    driver.admin("POST", "/people", GWEN)
    status, reason = driver.refused("PUT", "/people/gwen", {**GWEN, "slug": "gwyn"})
    assert (status, "keeps the slug" in reason) == (400, True)


def test_a_person_who_is_not_there_is_not_found(driver: Driver) -> None:
    status, reason = driver.refused("GET", "/people/adda")
    assert (status, "ada" in reason) == (404, True)


def test_the_fixture_of_a_person_can_be_added_to_another_world(driver: Driver) -> None:
    driver.admin("POST", "/people", GWEN)
    answer = driver.get("/__admin/people/gwen/fixture")
    assert answer.headers["content-type"] == "application/yaml"
    assert 'filename="gwen.yaml"' in answer.headers["content-disposition"]
    driver.admin("POST", "/worlds", {"name": "other"})
    driver.admin("POST", "/people", yaml.safe_load(answer.text), world="other")
    assert driver.get("/__world/other/v3/profiles/gwen").status_code == 200


def test_each_switch_says_the_sentence_of_its_rule(driver: Driver) -> None:
    choices = driver.admin("GET", "/choices")
    assert all(choice["statement"].endswith(".") and choice["section"] for choice in choices)


def test_rules_are_listed_with_the_operations_that_hold_them(driver: Driver) -> None:
    rules = {rule["id"]: rule for rule in driver.admin("GET", "/rules")}
    assert "getProfile" in rules["profile-unknown-404"]["operations"]
    assert all(rule["statement"] and rule["section"] for rule in rules.values())

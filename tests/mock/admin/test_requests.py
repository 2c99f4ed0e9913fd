"""The journal: what was asked, searched, counted, explained, taken out."""

import json
import re
from typing import Any

import orjson
import pytest
from tests.mock.admin.conftest import AUTHORIZATION, Driver
from tests.verify.packages import har_faults

from understudy.limits import JOURNAL_BODY_BYTES, PATTERN_CHARACTERS, PATTERNS, Limit
from understudy.mock.server import json_bodies
from understudy.mock.settings import Settings


@pytest.fixture
def asked(driver: Driver) -> Driver:
    """A mock that was asked a few things."""
    driver.get("/v3/profiles/ada?utm=1", headers={"X-Case": "7"})
    driver.ask("PATCH", "/v3/me/profile", json={"location": "Here"}, token="ada-full")
    driver.ask("PATCH", "/v3/me/profile", json={"location": 7}, token="ben-full")
    driver.get("/v3/profile/ada")
    return driver


def test_every_exchange_is_listed_the_newest_first(asked: Driver) -> None:
    found = asked.admin("GET", "/requests")
    assert found["meta"] == {"total": 4}
    said = [(e["id"], e["operation"], e["response"]["status"]) for e in found["requests"]]
    assert said == [
        (4, None, 404),
        (3, "updateOwnProfile", 400),
        (2, "updateOwnProfile", 200),
        (1, "getProfile", 200),
    ]
    assert found["requests"][-1]["notes"] == ["query parameters not in the document: utm"]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("operation=updateOwnProfile", [3, 2]),
        ("status=4XX", [4, 3]),
        ("status=200", [2, 1]),
        ("person=ben", [3]),
        ("limit=1", [4]),
        ("since=2026-06-01T09:00:00Z", [4, 3, 2, 1]),
        ("since=2026-06-01T09:00:01Z", []),
    ],
)
def test_the_list_is_narrowed(asked: Driver, query, ids) -> None:
    assert [e["id"] for e in asked.admin("GET", f"/requests?{query}")["requests"]] == ids


@pytest.mark.parametrize(
    ("pattern", "ids"),
    [
        ({}, [1, 2, 3, 4]),
        ({"method": "PATCH"}, [2, 3]),
        ({"method": "ANY", "urlPath": "/v3/profiles/ada"}, [1]),
        ({"url": "/v3/profiles/ada?utm=1"}, [1]),
        ({"urlPathPattern": "/v3/profiles?/.*"}, [1, 4]),
        ({"urlPattern": r".*\?utm=\d"}, [1]),
        ({"headers": {"x-case": {"equalTo": "7"}}}, [1]),
        ({"headers": {"X-Case": {"absent": True}}}, [2, 3, 4]),
        ({"queryParameters": {"utm": {"matches": "[0-9]"}}}, [1]),
        ({"bodyPatterns": [{"contains": "Here"}]}, [2]),
        ({"bodyPatterns": [{"equalToJson": {"location": 7}}]}, [3]),
        ({"bodyPatterns": [{"equalTo": '{"LOCATION":"HERE"}', "caseInsensitive": True}]}, [2]),
        ({"bodyPatterns": [{"doesNotContain": "location"}]}, [1, 4]),
        ({"operation": "updateOwnProfile", "person": "ada", "status": "200"}, [2]),
        ({"identity": "anonymous"}, [1, 4]),
    ],
)
def test_requests_are_found_and_counted_by_wiremocks_patterns(asked: Driver, pattern, ids) -> None:
    assert [e["id"] for e in asked.admin("POST", "/requests/find", pattern)["requests"]] == ids
    assert asked.admin("POST", "/requests/count", pattern) == {"count": len(ids)}


def test_what_nothing_answers_is_unmatched_and_has_near_misses(asked: Driver) -> None:
    assert [e["id"] for e in asked.admin("GET", "/requests/unmatched")["requests"]] == [4]
    near = asked.admin("GET", "/requests/unmatched/near-misses")["nearMisses"]
    assert near[0]["stubMapping"]["name"] == "getProfile"
    assert near[0]["request"]["url"] == "/v3/profile/ada"
    distances = [miss["matchResult"]["distance"] for miss in near]
    assert distances == sorted(distances)


def test_a_path_that_leads_nowhere_is_told_what_was_meant(driver: Driver) -> None:
    assert "did you mean '/v3/profiles/{profileIdentifier}'?" in driver.get("/v3/profile/ada").text
    assert "did you mean '/avatar/ada'?" in driver.get("/v3/avatar/ada").text
    assert "did you mean '/avatar/{identifier}'?" in driver.get("/v3/avatars/ada").text


@pytest.mark.parametrize("path", ["requests", "requests/unmatched", "requests/har"])
def test_a_full_journal_is_written_entry_by_entry_so_that_nobody_waits(
    asked: Driver, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    asked.ask("POST", "/nowhere", content=b"x" * JOURNAL_BODY_BYTES.most)
    sizes: list[int] = []
    whole = json_bodies.json_bytes

    def written(value: Any) -> bytes:
        sizes.append(len(whole(value)))
        return whole(value)

    monkeypatch.setattr(json_bodies, "json_bytes", written)
    listed = asked.get(f"/__admin/{path}")
    assert orjson.dumps(listed.json()) == listed.content
    assert max(sizes) < len(listed.content)


def test_the_journal_forgets_on_demand_and_numbers_go_on(asked: Driver) -> None:
    asked.admin("DELETE", "/requests")
    asked.get("/v3/profiles/ada")
    assert [e["id"] for e in asked.admin("GET", "/requests")["requests"]] == [5]


def test_the_journal_remembers_so_many_and_no_more(time) -> None:
    driver = Driver(Settings(journal=2), time)
    for _ in range(5):
        driver.get("/v3/profiles/ada")
    assert [e["id"] for e in driver.admin("GET", "/requests")["requests"]] == [5, 4]
    status, detail = driver.refused("GET", "/requests/1")
    assert (status, "it remembers 4 to 5" in detail) == (404, True)
    driver.close()


def test_secrets_are_masked_wherever_they_stand(driver: Driver) -> None:
    form = {
        "grant_type": "password",
        "client_id": "server-app",
        "client_secret": "server-app-secret",
        "username": "ada",
        "password": "ada-password",
    }
    issued = driver.ask("POST", f"{AUTHORIZATION}/oauth2/token", data=form).json()["access_token"]
    driver.get(f"/v3/me/profile?access_token={issued}", token=issued)
    driver.get("/sign-in", headers={"Cookie": "understudy_session=abc"})
    text = json.dumps(driver.admin("GET", "/requests")) + json.dumps(
        driver.admin("GET", "/requests/har")
    )
    for secret in (issued, "server-app-secret", "ada-password", "understudy_session=abc"):
        assert secret not in text
    assert "Bearer ***" in text


def test_the_journal_is_taken_out_as_an_archive(asked: Driver) -> None:
    log = asked.admin("GET", "/requests/har")["log"]
    assert log["version"] == "1.2"
    entry = log["entries"][1]
    assert entry["request"]["url"] == "http://127.0.0.1:8080/v3/me/profile"
    assert json.loads(entry["request"]["postData"]["text"]) == {"location": "Here"}
    assert json.loads(entry["response"]["content"]["text"])["location"] == "Here"


def test_the_archive_is_har(asked: Driver) -> None:
    asked.get("/v3/qr-code/ada?size=240")
    asked.ask("POST", "/v3/me/avatars", content=b"\xff\x00", token="ada-full")
    asked.ask("DELETE", "/v3/nowhere")
    assert har_faults(json.dumps(asked.admin("GET", "/requests/har"))) == ""


def test_a_picture_in_an_archive_is_base64(driver: Driver) -> None:
    driver.get("/v3/qr-code/ada")
    content = driver.admin("GET", "/requests/har")["log"]["entries"][0]["response"]["content"]
    assert content["encoding"] == "base64"
    assert content["mimeType"] == "image/png"


def test_a_refusal_is_explained_with_the_place_in_body_and_document(asked: Driver) -> None:
    why = asked.admin("GET", "/requests/3")["explanation"]
    assert why["operation"]["id"] == "updateOwnProfile"
    assert why["refusal"]["breach"] == {
        "where": "/location",
        "expected": "string",
        "actual": 7,
        "document": "#/paths/~1me~1profile/patch/requestBody/content/application~1json/schema"
        "/properties/location/type",
    }


def test_a_refused_parameter_is_explained_too(driver: Driver) -> None:
    driver.get("/v3/qr-code/ada?size=x")
    breach = driver.admin("GET", "/requests/1")["explanation"]["refusal"]["breach"]
    assert (breach["where"], breach["actual"]) == ("query size", "x")


def test_an_answer_is_explained_by_person_fixture_rules_and_switches(driver: Driver) -> None:
    driver.ask("PATCH", "/v3/me/profile", json={"location": "Here"}, token="ada-full")
    driver.get("/v3/profiles/hush", headers={"X-Mock-Choose": "private-profile-lookup=404"})
    why = driver.admin("GET", "/requests/1")["explanation"]
    assert why["about"] == {"person": "ada", "fixture": "people/ada.yaml", "changed": True}
    refused = driver.admin("GET", "/requests/2")["explanation"]
    assert refused["rules"][0]["id"] == "profile-private"
    assert {"name": "private-profile-lookup", "option": "404", "rule": "profile-private"} in (
        refused["switches"]
    )


@pytest.mark.parametrize(
    ("method", "path", "token", "rule", "others"),
    [
        ("GET", "/v3/me/profile", None, "unauthorized-challenge", "scope-|invalid-token|qr-"),
        ("GET", "/v3/me/profile", "nobody", "unauthorized-challenge", "invalid-token|qr-"),
        ("GET", "/v3/profiles/ada", "nobody", "invalid-token-refused", "scope-|qr-"),
        ("DELETE", "/v3/me/avatars/none", "ada-full", "avatar-unknown-404", "scope-|-token|qr-"),
        (
            "PATCH",
            "/v3/me/profile",
            "ada-read-only",
            "scope-per-operation",
            "scope-of-|^bearer|qr-",
        ),
        ("GET", "/v3/me/avatars", "ada-auth-only", "scope-of-avatar-list", "-of-own|challenge|qr-"),
    ],
)
def test_a_refusal_is_explained_by_the_rules_of_what_raised_it_and_no_others(
    driver: Driver, method, path, token, rule, others
) -> None:
    driver.ask(method, path, token=token)
    rules = [it["id"] for it in driver.admin("GET", "/requests/1")["explanation"]["rules"]]
    assert rule in rules
    assert [name for name in rules if re.search(others, name)] == []


def test_a_fault_that_struck_is_in_the_explanation(driver: Driver) -> None:
    driver.admin("POST", "/faults", {"id": "down", "status": 503})
    driver.get("/v3/profiles/ada")
    assert driver.admin("GET", "/requests/1")["explanation"]["fault"] == "down"


@pytest.mark.parametrize(
    ("method", "path", "body", "reason"),
    [
        ("GET", "/requests?operation=getProfle", None, "did you mean 'getProfile'?"),
        ("GET", "/requests?since=today", None, "not a date and time"),
        ("GET", "/requests?since=2026-06-01T09:00:00", None, "end it with Z"),
        ("POST", "/requests/find", {"urlPattern": "("}, "not a regular expression"),
        ("POST", "/requests/count", {"operation": "nothing"}, "there is no operation 'nothing'"),
        ("POST", "/requests/count", {"opration": "x"}, "Did you mean 'operation'?"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(
    asked: Driver, method, path, body, reason
) -> None:
    status, detail = asked.refused(method, path, body)
    assert (status, reason in detail) == (400, True), detail


def test_no_expression_takes_longer_than_its_text_is_long(asked: Driver) -> None:
    asked.get("/" + "a" * 15_000 + "b")
    assert asked.admin("POST", "/requests/count", {"urlPattern": "/(a|a)*$"}) == {"count": 0}
    found = asked.admin("POST", "/requests/count", {"urlPattern": "/(a|a)*b"})
    assert found == {"count": 1}


def test_long_paths_that_match_nothing_are_compared_with_nothing(driver: Driver) -> None:
    for number in range(60):
        driver.get(f"/{number}/" + "a" * 16_000)
    assert driver.admin("GET", "/requests/unmatched/near-misses") == {"nearMisses": []}


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ({"urlPattern": "x{0,1000}" * 110}, "pattern too large"),
        ({"urlPathPattern": "(a{1000}){1000}"}, "not a regular expression"),
        ({"urlPattern": "a" * 1001}, PATTERN_CHARACTERS.name),
        ({"bodyPatterns": [{"matches": "(a|a)*$"}] * 51}, PATTERNS.name),
        ({"headers": {f"x-{n}": {"absent": True} for n in range(51)}}, PATTERNS.name),
    ],
    ids=["compiled", "nested", "characters", "comparisons of bodies", "comparisons of headers"],
)
@pytest.mark.parametrize("path", ["/requests/find", "/requests/count"])
def test_a_search_beyond_a_limit_is_refused(asked: Driver, path, pattern, reason) -> None:
    status, detail = asked.refused("POST", path, pattern)
    assert (status, reason in detail) == (400, True), detail


def test_a_search_ends_when_it_takes_too_long(asked: Driver, monkeypatch) -> None:
    none = Limit("search-seconds", 0, "seconds", 413)
    monkeypatch.setattr("understudy.mock.admin.requests.SEARCH_SECONDS", none)
    assert asked.refused("POST", "/requests/find", {"urlPattern": ".*"})[0] == 413


def test_near_misses_are_looked_for_among_the_newest(asked: Driver, monkeypatch) -> None:
    asked.get("/v3/qrcode/ada")
    monkeypatch.setattr("understudy.mock.admin.requests.NEWEST", 1)
    near = asked.admin("GET", "/requests/unmatched/near-misses")["nearMisses"]
    assert {miss["request"]["url"] for miss in near} == {"/v3/qrcode/ada"}

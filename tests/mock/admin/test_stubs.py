"""Stubs answer whom they name, say what the document allows, and are kept wherever faults are."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.mock.admin.conftest import Driver, Time

from understudy.errors import FixtureError
from understudy.mock.app import Mock
from understudy.mock.server.request_context import Peer, RequestHead
from understudy.mock.settings import Settings
from understudy.openapi.bundled import fixtures_directory

ADA, BEN = "/v3/profiles/ada", "/v3/profiles/ben"
MOVED = {"merge": {"location": "Elsewhere"}}


def stub(driver: Driver, operation: str = "getProfile", **members: Any) -> dict[str, Any]:
    made: dict[str, Any] = driver.admin("POST", "/stubs", {"operation": operation, **members})
    return made


def refusal(driver: Driver, **members: Any) -> dict[str, Any]:
    body = {"operation": "getProfile", **members}
    answer = driver.ask("POST", "/__admin/stubs", json=body)
    assert answer.status_code in {400, 409, 422}
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    return problem


def statuses(driver: Driver, count: int, path: str = ADA, **options: Any) -> list[int]:
    return [driver.get(path, **options).status_code for _ in range(count)]


def test_a_stub_answers_whom_it_names_and_nobody_else(driver: Driver) -> None:
    body = {**driver.get(BEN).json(), "display_name": "Another Ben"}
    when = {"path": {"profileIdentifier": "ben"}}
    assert stub(driver, when=when, response={"body": body})["id"] == "stub-1"
    answer = driver.get(BEN)
    assert answer.json() == body
    assert answer.headers["x-mock-stub"] == "stub-1"
    assert answer.headers["content-security-policy"] == "sandbox"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert driver.get(ADA).json()["display_name"] == "Ada Merrowdale"
    assert "x-ratelimit-limit" in answer.headers
    assert driver.admin("GET", "/worlds/default")["faults"] == 0


def test_a_merge_changes_only_the_members_that_it_names(driver: Driver) -> None:
    before = driver.get(ADA).json()
    stub(driver, response=MOVED)
    assert driver.get(ADA).json() == {**before, "location": "Elsewhere"}
    assert driver.get("/v3/profiles/nobody").status_code == 404


@pytest.mark.parametrize(
    ("when", "fitting", "other"),
    [
        ({"query": {"a": "1"}}, {"params": {"a": "1"}}, {"params": {"a": "2"}}),
        ({"query": {"a": {"matches": "[0-9]+"}}}, {"params": {"a": "77"}}, {"params": {"a": "x"}}),
        ({"header": {"X-Case": "7"}}, {"headers": {"x-case": "7"}}, {}),
        ({"header": {"x-case": {"absent": True}}}, {}, {"headers": {"x-case": "7"}}),
        ({"person": "ben"}, {"token": "ben-full"}, {"token": "ada-full"}),
    ],
)
def test_a_condition_is_a_text_a_pattern_or_a_person(
    driver: Driver, when: dict[str, Any], fitting: dict[str, Any], other: dict[str, Any]
) -> None:
    stub(driver, when=when, response={"status": 404})
    assert statuses(driver, 1, **fitting) == [404]
    assert statuses(driver, 1, **other) == [200]


def test_a_body_is_compared_by_the_members_that_the_stub_names(driver: Driver) -> None:
    when = {"body": {"location": "Turin"}}
    stub(driver, "updateOwnProfile", when=when, response={"status": 429})

    def changed(**members: str) -> int:
        options = {"json": members, "token": "ada-full"}
        return driver.ask("PATCH", "/v3/me/profile", **options).status_code

    assert changed(location="Turin", company="Mill") == 429
    assert changed(location="Bari") == 200


def test_the_latest_that_fits_answers_until_its_times_are_used_up(driver: Driver) -> None:
    stub(driver, response=MOVED)
    stub(driver, response={"status": 404}, times=2)
    assert statuses(driver, 3) == [404, 404, 200]
    assert driver.get(ADA).json()["location"] == "Elsewhere"
    assert [it["id"] for it in driver.admin("GET", "/stubs")] == ["stub-2", "stub-1"]


def test_a_list_is_answered_in_order_and_its_last_response_again(driver: Driver) -> None:
    stub(driver, response=[{"status": 429}, {"status": 404}])
    assert statuses(driver, 4) == [429, 404, 404, 404]


def test_what_a_stub_leaves_out_is_the_mocks_own(driver: Driver) -> None:
    stub(driver, response=[{"status": 404}, {"headers": {"X-Extra": "1"}}])
    assert driver.get(ADA).json()["code"] == "not_found"
    plain = driver.get(ADA)
    assert (plain.json()["display_name"], plain.headers["x-extra"]) == ("Ada Merrowdale", "1")


@pytest.mark.parametrize(
    ("response", "where"),
    [
        ({"status": 299}, ["/response/status"]),
        ({"body": {"display_name": 7}}, ["/response/body/display_name", "/response/body"]),
        (
            {"merge": {"display_name": 7, "location": 8}},
            ["/response/merge/display_name", "/response/merge/location"],
        ),
        (
            {"headers": {"content-type": "text/html"}, "body": "<p>"},
            ["/response/headers/content-type"],
        ),
        ([{"status": 404}, {"status": 418}], ["/response/1/status"]),
    ],
)
def test_what_the_document_does_not_allow_is_refused_with_every_place(
    driver: Driver, response: Any, where: list[str]
) -> None:
    problem = refusal(driver, response=response)
    assert problem["status"] == 422
    places = [it["where"] for it in problem["violations"]]
    assert set(where) <= set(places)
    assert [problem["detail"].count(f"{it}: ") for it in where] == [1] * len(where)
    assert driver.admin("GET", "/stubs") == []


def test_an_error_is_merged_too(driver: Driver) -> None:
    stub(driver, response={"status": 500, "merge": {"error": "The disk is full."}})
    answer = driver.get(ADA)
    assert (answer.status_code, answer.json()["error"]) == (500, "The disk is full.")


def test_a_status_is_answered_where_the_mock_refuses(driver: Driver) -> None:
    stub(driver, response={"status": 200, "merge": {"display_name": "Zoe"}})
    answer = driver.get("/v3/profiles/zoe")
    assert (answer.status_code, answer.headers["x-mock-stub"]) == (200, "stub-1")
    assert answer.json()["display_name"] == "Zoe"


def test_a_stub_that_only_changes_an_answer_is_not_used_up_by_a_refusal(driver: Driver) -> None:
    stub(driver, response=MOVED, times=1)
    assert statuses(driver, 1, "/v3/profiles/nobody") == [404]
    assert driver.admin("GET", "/stubs/stub-1")["used"] is False
    [entry] = driver.admin("GET", "/requests", params={"limit": 1})["requests"]
    assert "name a status to have another answer" in entry["notes"][-1]
    assert driver.get(ADA).json()["location"] == "Elsewhere"


@pytest.mark.parametrize(
    ("response", "remaining"),
    [
        ({"status": 404}, "98"),
        ({"status": 429}, "0"),
        ({"status": 429, "body": {"error": "Slow down."}}, "0"),
        ({"headers": {"X-RateLimit-Remaining": "7"}}, "7"),
    ],
)
def test_each_header_is_sent_once_the_stubs_own_before_the_mocks(
    driver: Driver, response: dict[str, Any], remaining: str
) -> None:
    driver.get(ADA)
    stub(driver, response=response)
    sent = driver.get(ADA).headers.get_list("x-ratelimit-remaining")
    assert sent == [remaining]


def test_a_stub_counts_none_of_what_one_before_it_answered(driver: Driver) -> None:
    stub(driver, response=MOVED)
    driver.get(ADA)
    driver.admin("DELETE", "/stubs")
    assert stub(driver, response=MOVED)["answered"] == 0


def test_a_text_within_a_body_is_compared_by_a_pattern(driver: Driver) -> None:
    when = {"body": {"location": {"matches": "T.*"}}}
    stub(driver, "updateOwnProfile", when=when, response={"status": 429})
    for location, status in (("Turin", 429), ("Bari", 200)):
        options = {"json": {"location": location}, "token": "ada-full"}
        assert driver.ask("PATCH", "/v3/me/profile", **options).status_code == status


def test_a_parameter_that_is_sent_twice_fits_by_either(driver: Driver) -> None:
    stub(driver, when={"query": {"a": "1"}}, response={"status": 404})
    for query in ("a=1&a=2", "a=2&a=1"):
        assert statuses(driver, 1, f"{ADA}?{query}") == [404]


def test_an_invalid_response_is_sent_to_those_who_insist_and_marked(driver: Driver) -> None:
    stub(driver, response={"status": 299, "body": {"display_name": 7}}, allow_invalid=True)
    answer = driver.get(ADA)
    assert (answer.status_code, answer.json()) == (299, {"display_name": 7})
    assert answer.headers["x-mock-violation"] == "stub"
    [entry] = driver.admin("GET", "/requests", params={"limit": 1})["requests"]
    assert (entry["stub"], entry["invalid"]) == ("stub-1", True)
    assert entry["notes"] == ["the stub stub-1 answers what the document does not allow"]


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"operation": "getProfil"}, "did you mean 'getProfile'?"),
        ({"when": {"path": {"profile": "a"}}}, "no path parameter 'profile'"),
        ({"when": {"person": "bem"}}, "did you mean 'ben'?"),
        ({"when": {"query": {"a": {"matches": "("}}}}, "not a regular expression"),
        ({"when": {"body": {"a": [{"matches": "("}]}}}, "not a regular expression"),
        ({"response": {"body": {}, "merge": {}}}, "give body or merge"),
        ({"when": {"person": "ben"}}, "give a status, headers, a body, a merge or a delay"),
        ({"delay": "soon"}, "such as 200ms or 1.5s"),
        (
            {"response": {"status": "200"}},
            '{"status":"200"} fits none of the alternatives of oneOf; of the',
        ),
    ],
)
def test_a_stub_that_names_what_is_not_there_is_refused_with_the_remedy(
    driver: Driver, members: dict[str, Any], reason: str
) -> None:
    problem = refusal(driver, **members)
    assert problem["status"] == 400
    assert reason in problem["detail"]


def test_a_name_instead_of_a_stub_is_told_the_members_of_one(driver: Driver) -> None:
    answer = driver.ask("POST", "/__admin/stubs", json="getProfile")
    told = '"getProfile" is not of type "object". Its members are id, operation, when, response,'
    assert answer.json()["detail"].startswith(told)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a\r\nX-Other", "1"),
        ("a b", "1"),
        ("", "1"),
        ("x-a", "1\r\nX-Other: 1"),
        ("x-a", "\N{SNOWMAN}"),
        ("Content-Length", "1"),
        ("transfer-encoding", "chunked"),
    ],
)
def test_a_header_that_would_break_the_message_is_refused(
    driver: Driver, name: str, text: str
) -> None:
    response = {"headers": {name: text}, "body": {}}
    assert "headers" in refusal(driver, response=response, allow_invalid=True)["detail"]


def test_refusals_come_before_a_stub_unless_it_says_otherwise(driver: Driver) -> None:
    made = stub(driver, "getOwnProfile", response={"status": 200})
    assert statuses(driver, 1, "/v3/me/profile") == [401]
    driver.admin("DELETE", f"/stubs/{made['id']}")
    stub(driver, "getOwnProfile", response={"status": 429}, before_validation=True)
    assert statuses(driver, 1, "/v3/me/profile") == [429]
    assert statuses(driver, 1, "/v3/me/profile", token="nonsense") == [429]


def test_addresses_in_an_early_stubs_example_lead_to_this_mock(driver: Driver) -> None:
    stub(driver, "getOwnProfile", response={"status": 200}, before_validation=True)
    profile = driver.ask("GET", "/v3/me/profile", headers={"Host": "localhost:9"}).json()
    assert profile["avatar_url"].startswith("http://localhost:9/avatar/")
    assert "127.0.0.1" not in str(profile)
    assert profile["links"][0]["url"].startswith("https://tides.example.org/")


def test_an_early_stub_may_be_for_one_person(driver: Driver) -> None:
    when = {"person": "ben"}
    stub(driver, "getOwnProfile", when=when, response={"status": 429}, before_validation=True)
    assert statuses(driver, 1, "/v3/me/profile", token="ben-full") == [429]
    assert statuses(driver, 1, "/v3/me/profile", token="ada-full") == [200]


def test_a_stub_of_what_was_ends_with_the_first_change_of_somebody(driver: Driver) -> None:
    stub(driver, response=MOVED, until_changed=True)
    stub(driver, response={"merge": {"company": "Any"}}, when={"person": "ben"})
    assert driver.get(ADA).json()["location"] == "Elsewhere"
    token = {"Authorization": "Bearer ada-full"}
    changed = driver.ask("PATCH", "/v3/me/profile", json={"location": "Turin"}, headers=token)
    assert changed.status_code == 200
    assert driver.get(ADA).json()["location"] == "Turin"
    assert [it["id"] for it in driver.admin("GET", "/stubs")] == ["stub-2"]


@pytest.mark.parametrize("is_early", [False, True])
def test_a_stub_answers_after_its_delay(driver: Driver, is_early: bool) -> None:
    stub(driver, response={"status": 404}, delay="50ms", before_validation=is_early)
    assert driver.get(ADA).status_code == 404
    [entry] = driver.admin("GET", "/requests")["requests"]
    assert entry["timing"]["totalTime"] >= 45


def test_a_fault_strikes_what_a_stub_answers(driver: Driver) -> None:
    stub(driver, response=MOVED)
    driver.admin("POST", "/faults", {"effect": "null-field", "field": "location"})
    assert driver.get(ADA).json()["location"] is None
    assert [it["id"] for it in driver.admin("GET", "/faults")] == ["fault-2"]


def test_deleting_faults_leaves_stubs_and_the_other_way_round(driver: Driver) -> None:
    stub(driver, response={"status": 404})
    driver.admin("POST", "/faults", {"status": 429})
    driver.admin("DELETE", "/faults")
    assert statuses(driver, 1) == [404]
    driver.admin("DELETE", "/stubs")
    assert statuses(driver, 1) == [200]


@pytest.mark.parametrize("kind", ["stubs", "faults"])
def test_an_operation_is_named_by_method_and_path_too(driver: Driver, kind: str) -> None:
    answer = {"response": {"status": 404}} if kind == "stubs" else {"status": 404}
    made = driver.admin("POST", f"/{kind}", {"operation": "GET /profiles/{who}", **answer})
    assert made["operation"] == "getProfile"
    assert statuses(driver, 1) == [404]
    found = driver.admin("POST", "/requests/count", {"operation": "GET /profiles/{who}"})
    assert found == {"count": 1}


def test_a_request_in_place_of_an_operation_is_refused_with_the_operation_meant(
    driver: Driver,
) -> None:
    said = refusal(driver, operation="get /v3/profiles/ada")["detail"]
    assert said.endswith("did you mean 'getProfile', which is GET /profiles/{profileIdentifier}?")


def test_a_stub_that_never_answered_says_what_the_nearest_request_lacks(driver: Driver) -> None:
    when = {"path": {"profileIdentifier": "ben"}, "header": {"x-case": "7"}}
    stub(driver, when=when, response={"status": 404})
    statuses(driver, 1, ADA)
    statuses(driver, 1, BEN)
    shown = driver.admin("GET", "/stubs/stub-1")
    assert (shown["used"], shown["answered"]) == (False, 0)
    missing = {"where": "header x-case", "expected": "7", "actual": None}
    assert shown["nearest"] == {"request": 2, "misfits": [missing]}
    assert shown["why_unused"].endswith(
        "in the nearest, request 2, header x-case is missing, not '7'."
    )
    driver.get(BEN, headers={"x-case": "7"})
    assert driver.admin("GET", "/stubs/stub-1")["answered"] == 1


def test_a_stub_is_of_its_world_and_goes_with_a_capsule(driver: Driver) -> None:
    driver.admin("POST", "/worlds", {"name": "other"})
    driver.get(ADA)
    stub(driver, response=[MOVED, {"status": 404}], times=2)
    assert statuses(driver, 1, f"/__world/other{ADA}") == [200]
    packed = driver.get("/__admin/capsule").content
    assert statuses(driver, 3) == [200, 404, 200]
    headers = {"content-type": "application/zip"}
    driver.ask("POST", "/__admin/capsule", content=packed, headers=headers)
    assert statuses(driver, 3) == [200, 404, 200]


def test_a_rewind_takes_back_what_a_stub_has_answered(driver: Driver) -> None:
    stub(driver, response=[{"status": 404}, {"status": 429}], times=2)
    assert statuses(driver, 3) == [404, 429, 200]
    driver.admin("POST", "/changes/rewind", {"request": 2})
    assert statuses(driver, 2) == [429, 200]


@pytest.fixture
def fixtures(tmp_path: Path) -> Path:
    """A fixtures directory with room for stubs."""
    copied = tmp_path / "fixtures"
    shutil.copytree(fixtures_directory(), copied)
    (copied / "stubs").mkdir()
    return copied


def test_stubs_among_the_fixtures_are_in_every_world_from_the_start(
    fixtures: Path, time: Time
) -> None:
    (fixtures / "stubs" / "gone.yaml").write_text(
        "- {operation: getProfile, response: {status: 404}, delay: 1ms}\n"
        "- {id: moved, operation: getProfile, when: {path: {profileIdentifier: ada}}, "
        "response: {merge: {location: Elsewhere}}}\n"
    )
    driver = Driver(Settings(fixtures=fixtures), time)
    driver.admin("POST", "/worlds", {"name": "w"})
    assert statuses(driver, 1, BEN) == [404]
    assert driver.get(f"/__world/w{ADA}").json()["location"] == "Elsewhere"
    driver.admin("DELETE", "/stubs")
    driver.admin("POST", "/reset")
    assert [it["id"] for it in driver.admin("GET", "/stubs")] == ["moved", "stub-1"]
    driver.close()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{operation: getProfile, response: {status: 299}}", "/response/status"),
        ("{operation: getProfile, respons: {}}", "did you mean 'response'"),
        ("- 7", "a stub is an object"),
        (
            '{operation: getProfile, response: {"a\\r\\nb": 1}}',
            r"response: there is no key 'a\\r\\nb'; there are status, headers, body, merge",
        ),
        (
            "{operation: getProfile, response: [{}, {status: x}]}",
            r"response\[1\]\.status: Expected `int",
        ),
        (
            "{operation: getProfile, when: {path: {profileIdentifier: {pattern: a}}}, "
            "response: {status: 404}}",
            "pattern.* is no comparison; give the whole text, or equalTo",
        ),
        (
            "{operation: getProfile, when: {query: {a: {matches: 7}}}, response: {status: 404}}",
            "query.a: .* is no comparison",
        ),
        (
            "{operation: getProfile, when: {header: {x y: a}}, response: {status: 404}}",
            "'x y' is not the name of a header",
        ),
        ("{operation: getProfile, response: {headers: {a: " + "a" * 10_001 + "}}}", "header field"),
    ],
)
def test_a_stub_among_the_fixtures_that_cannot_be_stops_the_start(
    fixtures: Path, content: str, reason: str
) -> None:
    (fixtures / "stubs" / "wrong.yaml").write_text(content)
    with pytest.raises(FixtureError, match=f"wrong.yaml: stub 1: .*{reason}"):
        Mock(Settings(fixtures=fixtures))


def calls(work: Callable[[], Any]) -> int:
    """Counts the calls of Python and of C that a piece of work takes."""
    count = 0

    def counting(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("kind", ["body", "merge"])
def test_a_stubbed_lookup_takes_at_most_a_fifth_more_calls(driver: Driver, kind: str) -> None:
    site = driver.mock.resource
    fields = [(b"host", b"127.0.0.1:8080"), (b"accept", b"*/*")]

    def lookup() -> None:
        head = RequestHead("GET", site.targets.get("GET", BEN.encode()), fields)
        response = site.site.respond(head, Peer("127.0.0.1", ("127.0.0.1", 8080), "http"), b"")
        assert response is not None

    for _ in range(5):
        lookup()
    ordinary = calls(lookup)
    body = driver.get(BEN).json()
    stub(driver, response={"body": body} if kind == "body" else MOVED)
    for _ in range(5):
        lookup()
    assert calls(lookup) <= ordinary * 1.2

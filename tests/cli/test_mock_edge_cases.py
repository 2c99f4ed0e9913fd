"""Edge cases that a served mock offers: listed, sent to itself, and exported."""

import io
import zipfile
from collections.abc import Iterator

import pytest
from tests.mock.admin.conftest import Driver, Time
from tests.mock.renewal import renew

from understudy.cli.mock_edge_cases import MockEdgeCases
from understudy.mock.app import Mock
from understudy.mock.settings import Settings


@pytest.fixture(scope="module")
def served() -> Mock:
    mock = Mock(Settings())
    mock.edge_cases = MockEdgeCases(mock, None)
    return mock


@pytest.fixture
def driver(served: Mock) -> Iterator[Driver]:
    made = Driver(Settings(), Time(), renew(served))
    yield made
    made.close()


def test_cases_say_what_makes_them_one_and_what_is_expected(driver: Driver) -> None:
    cases = driver.admin("GET", "/edge-cases?operation=getProfile&count=5")["cases"]
    assert len(cases) == 5
    assert all(case["description"] and case["expected"] and case["because"] for case in cases)


@pytest.mark.parametrize("operation", ["getProfile", "updateAvatar"])
def test_every_case_is_sent_and_judged(driver: Driver, operation: str) -> None:
    cases = driver.admin("GET", f"/edge-cases?operation={operation}&count=6")["cases"]
    for case in cases:
        body = {"operation": operation, "id": case["id"], "count": 6}
        sent = driver.admin("POST", "/edge-cases/send", body)
        assert sent["outcome"] == "passed", (case, sent)
        logged = driver.admin("GET", f"/requests/{sent['request']}")
        assert logged["response"]["status"] == sent["status"]
        assert logged["request"]["method"] == case["method"]


def test_a_wrong_response_fails_a_case(driver: Driver) -> None:
    driver.admin("POST", "/faults", {"status": 503, "operation": "getProfile"})
    [case] = driver.admin("GET", "/edge-cases?operation=getProfile&count=1")["cases"]
    body = {"operation": "getProfile", "id": case["id"], "count": 1}
    sent = driver.admin("POST", "/edge-cases/send", body)
    assert sent["outcome"].startswith("failed: answered 503, expected ")


@pytest.mark.parametrize("form", ["curl", "http", "k6", "pytest"])
def test_cases_are_exported_without_secrets(driver: Driver, form: str) -> None:
    url = f"/__admin/edge-cases/export?operation=getOwnProfile&format={form}&count=3"
    answer = driver.get(url)
    assert answer.status_code == 200, answer.text
    assert "http://127.0.0.1:8080/v3" in answer.text
    assert "ada-full" not in answer.text


def test_a_format_of_a_directory_is_exported_as_an_archive(driver: Driver) -> None:
    url = "/__admin/edge-cases/export?operation=getOwnProfile&format=bruno&count=3"
    answer = driver.get(url)
    assert answer.headers["content-type"] == "application/zip"
    assert 'filename="getOwnProfile.zip"' in answer.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        names = archive.namelist()
        texts = [archive.read(name).decode() for name in names]
    assert "bruno.json" in names
    assert len([name for name in names if name.endswith(".bru") and "/" in name]) >= 4
    assert "ada-full" not in "".join(texts)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/edge-cases?operation=getProfil", "getProfile"),
        ("/edge-cases/export?operation=getProfile&format=none", "there are curl, http, har"),
    ],
)
def test_what_does_not_exist_is_refused(driver: Driver, path: str, reason: str) -> None:
    status, text = driver.refused("GET", path)
    assert (status, reason in text) == (400, True)


def test_an_unknown_case_is_not_found(driver: Driver) -> None:
    body = {"operation": "getProfile", "id": "none", "count": 1}
    assert driver.refused("POST", "/edge-cases/send", body)[0] == 404


def test_a_mock_alone_makes_no_cases(driver: Driver) -> None:
    source, driver.mock.edge_cases = driver.mock.edge_cases, None
    try:
        status, reason = driver.refused("GET", "/edge-cases?operation=getProfile")
    finally:
        driver.mock.edge_cases = source
    assert (status, "understudy serve" in reason) == (404, True)

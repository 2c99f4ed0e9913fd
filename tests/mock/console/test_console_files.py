"""The console's files: served without data, guarded like the admin API, and never journalled."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.mock.admin.conftest import Driver, Time
from tests.mock.renewal import renew

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

STATIC = Path(__file__).parents[3] / "src" / "understudy" / "mock" / "console" / "static"
FILES = sorted(path for path in STATIC.rglob("*.*") if path.suffix in {".css", ".js"})
STRANGER = ("192.0.2.7", 4711)
MOST_LINES = 300
CATCH_ALL = """
openapi: 3.0.3
info: {title: Links, version: '1'}
paths:
  /{link}:
    get:
      parameters: [{name: link, in: path, required: true, schema: {type: string}}]
      responses:
        '200': {description: Found., content: {application/json: {schema: {type: string}}}}
  /{link}/{rest}:
    get:
      parameters:
        - {name: link, in: path, required: true, schema: {type: string}}
        - {name: rest, in: path, required: true, schema: {type: string}}
      responses:
        '200': {description: Found., content: {application/json: {schema: {type: string}}}}
"""


@pytest.fixture(scope="module")
def built() -> Mock:
    return Mock(Settings(seed=1))


@pytest.fixture
def driver(built: Mock) -> Iterator[Driver]:
    driver = Driver(Settings(), Time(), renew(built))
    yield driver
    driver.close()


def test_the_page_loads_nothing_from_elsewhere_and_is_framed_by_nobody(driver: Driver) -> None:
    page = driver.get("/__console")
    policy = page.headers["content-security-policy"]
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


def test_a_trailing_slash_leads_to_the_page(driver: Driver) -> None:
    page = driver.get("/__console/")
    assert (page.status_code, page.headers["location"]) == (308, "http://127.0.0.1:8080/__console")


def test_the_console_of_a_world_stays_in_it(driver: Driver) -> None:
    driver.admin("POST", "/worlds", {"name": "w"})
    page = driver.get("/__world/w/__console/")
    assert page.headers["location"] == "http://127.0.0.1:8080/__world/w/__console"
    assert driver.get("/__world/gone/__console").status_code == 404


@pytest.mark.parametrize("name", ["../console_files.py", "nothing.js", "views", "views/"])
def test_there_are_no_other_files(driver: Driver, name: str) -> None:
    page = driver.get(f"/__console/{name}")
    assert page.status_code == 404


def test_it_takes_no_other_method(driver: Driver) -> None:
    page = driver.ask("POST", "/__console", json={})
    assert (page.status_code, page.headers["allow"]) == (405, "GET, HEAD")


def test_a_visit_leaves_no_trace_in_the_journal(driver: Driver) -> None:
    for path in (
        "/__console",
        "/__console/main.js",
        "/__admin/people/ada/avatar",
        "/static/copy.js",
    ):
        assert driver.get(path).status_code == 200
    assert driver.admin("GET", "/requests")["meta"]["total"] == 0


def test_the_picture_of_a_person_is_drawn_at_its_size(driver: Driver) -> None:
    picture = driver.get("/__admin/people/ada/avatar?size=40")
    assert picture.headers["content-type"].startswith("image/")
    assert driver.refused("GET", "/people/adda/avatar") == (
        404,
        "There is no person 'adda' in this world; did you mean 'ada'? GET /__admin/people lists them.",
    )


def test_a_name_that_an_attacker_could_choose_gets_no_console(driver: Driver) -> None:
    page = driver.get("/__console", headers={"Host": "attacker.example:8080"})
    assert page.status_code == 403


def test_a_link_of_any_page_may_lead_to_it(driver: Driver) -> None:
    assert driver.get("/__console", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200


def test_another_machine_sees_it_with_an_admin_token_alone(driver: Driver) -> None:
    assert driver.get("/__console", client=STRANGER).status_code == 403
    guarded = Driver(Settings(admin_token="hush-hush"), Time())
    headers = {"Host": "mock.internal:8080"}
    assert guarded.get("/__console", client=STRANGER, headers=headers).status_code == 200
    assert guarded.get("/__admin/worlds", client=STRANGER, headers=headers).status_code == 403
    guarded.close()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(STATIC).as_posix())
def test_no_file_is_longer_than_its_idea(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert path.suffix == ".css" or len(lines) <= MOST_LINES
    assert not [line for line in lines if "innerHTML" in line or "outerHTML" in line]


def test_a_document_that_fits_every_path_leaves_the_console_its_own(tmp_path: Path) -> None:
    document = tmp_path / "catch-all.yaml"
    document.write_text(CATCH_ALL)
    driver = Driver(Settings(document=document), Time())
    assert driver.get("/anything").headers["content-type"] == "application/json"
    for path in ("/__console", "/__console/main.js"):
        assert "default-src" in driver.get(path).headers["content-security-policy"]
    assert driver.get("/__consoles").headers["content-type"] == "application/json"
    driver.close()

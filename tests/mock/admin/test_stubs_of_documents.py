"""Stubs of another document: the media types that it names, and secrets in what they ask for."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from tests.mock.admin.conftest import Driver, Time

from understudy.mock.settings import Settings

DOCUMENT = """
openapi: 3.1.0
info: {title: Pets, version: "1"}
servers: [{url: /api}]
components:
  schemas:
    Pet: {type: object, required: [name], properties: {name: {type: string}, age: {type: integer}}}
paths:
  /pets/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get:
      operationId: getPet
      responses:
        '200':
          description: ok
          content:
            application/json: {schema: {$ref: '#/components/schemas/Pet'}}
            application/xml: {schema: {$ref: '#/components/schemas/Pet'}}
        4XX:
          description: other
          content: {text/plain: {schema: {type: string, maxLength: 5}}}
    delete:
      operationId: deletePet
      responses: {'204': {description: gone}}
"""
PET = "/api/pets/a"
XML = {"accept": "application/xml"}


@pytest.fixture
def pets(tmp_path: Path, time: Time) -> Iterator[Driver]:
    (tmp_path / "pets.yaml").write_text(DOCUMENT)
    driver = Driver(Settings(document=tmp_path / "pets.yaml"), time)
    yield driver
    driver.close()


def stub(driver: Driver, **response: Any) -> None:
    driver.admin("POST", "/stubs", {"operation": "getPet", "response": response})


@pytest.mark.parametrize("response", [{"merge": {"age": 77}}, {"body": {"name": "A", "age": 77}}])
def test_a_client_gets_the_media_type_that_it_likes_best(
    pets: Driver, response: dict[str, Any]
) -> None:
    stub(pets, **response)
    plain, xml = pets.get(PET), pets.get(PET, headers=XML)
    assert plain.json()["age"] == 77
    assert (xml.headers["content-type"], "<age>77</age>" in xml.text) == ("application/xml", True)


@pytest.mark.parametrize("response", [{}, {"merge": {"age": 77}}, {"status": 200}])
def test_a_stub_chooses_the_media_type_of_what_the_mock_says(
    pets: Driver, response: dict[str, Any]
) -> None:
    stub(pets, headers={"Content-Type": "application/xml"}, **response)
    answer = pets.get(PET)
    assert answer.headers["content-type"] == "application/xml"
    assert answer.text.startswith("<?xml")


@pytest.mark.parametrize(
    ("operation", "response", "where"),
    [
        ("getPet", {"headers": {"content-type": "text/html"}}, "/response/headers/content-type"),
        (
            "deletePet",
            {"headers": {"content-type": "application/json"}},
            "/response/headers/content-type",
        ),
        ("getPet", {"status": 418, "body": "too long"}, "/response/body"),
    ],
)
def test_a_media_type_and_a_text_are_held_to_the_document(
    pets: Driver, operation: str, response: dict[str, Any], where: str
) -> None:
    body = {"operation": operation, "response": response}
    answer = pets.ask("POST", "/__admin/stubs", json=body)
    assert (answer.status_code, answer.json()["violations"][0]["where"]) == (422, where)


def test_an_error_that_is_a_text_is_answered_as_one(pets: Driver) -> None:
    stub(pets, status=418)
    answer = pets.get(PET)
    assert (answer.status_code, answer.headers["content-type"]) == (418, "text/plain")
    assert len(answer.text) <= 5
    assert "x-mock-violation" not in answer.headers


def test_a_body_that_did_not_fit_is_told_member_by_member(driver: Driver) -> None:
    sent = {"location": "Bari", "company": "Mill"}
    wanted = {"location": "Turin", "company": {"matches": "M.*"}, "job_title": "Miller"}
    condition = {"operation": "updateOwnProfile", "when": {"body": wanted}}
    driver.admin("POST", "/stubs", {**condition, "response": {"status": 429}})
    driver.ask("PATCH", "/v3/me/profile", json=sent, token="ada-full")
    shown = driver.admin("GET", "/stubs/stub-1")
    assert shown["nearest"]["misfits"] == [
        {"where": "body/location", "expected": "Turin", "actual": "Bari"},
        {"where": "body/job_title", "expected": "Miller", "actual": None},
    ]


def test_a_member_that_must_not_be_sent_is_a_condition_too(driver: Driver) -> None:
    condition = {"operation": "updateOwnProfile", "when": {"body": {"company": {"absent": True}}}}
    driver.admin("POST", "/stubs", {**condition, "response": {"status": 429}})
    for members, status in (({"location": "Bari"}, 429), ({"company": "Mill"}, 200)):
        answer = driver.ask("PATCH", "/v3/me/profile", json=members, token="ada-full")
        assert answer.status_code == status


SECRETS = {"authorization": "Bearer ada-full", "cookie": "session=of-a-stranger"}


def test_why_a_stub_was_not_used_tells_no_secret(driver: Driver) -> None:
    condition = {"operation": "getOwnProfile", "when": {"header": SECRETS}}
    driver.admin("POST", "/stubs", {**condition, "response": {"status": 429}})
    driver.get("/v3/me/profile", token="not-to-be-told", headers={"cookie": "session=mine-alone"})
    shown = driver.admin("GET", "/stubs/stub-1")
    said = shown["why_unused"] + str(shown["nearest"])
    assert "header authorization is 'Bearer ***', not this one" in said
    secrets = ("ada-full", "not-to-be-told", "stranger", "mine-alone")
    assert [it for it in secrets if it in said] == []


def test_a_capsule_tells_no_secret_of_a_stub_and_brings_it_back(driver: Driver) -> None:
    header = {"authorization": {"contains": "ada-full"}}
    condition = {"operation": "getOwnProfile", "when": {"header": header}}
    driver.admin("POST", "/stubs", {**condition, "response": {"status": 429}})
    strange = {"operation": "issueToken", "when": {"body": {"client_secret": "of-a-stranger"}}}
    driver.admin("POST", "/stubs", {**strange, "response": {"status": 400}})
    packed = driver.get("/__admin/capsule").content
    assert [it for it in ("ada-full", "of-a-stranger") if it in unpacked(packed)] == []
    headers = {"content-type": "application/zip"}
    driver.ask("POST", "/__admin/capsule", content=packed, headers=headers)
    assert driver.get("/v3/me/profile", token="ada-full").status_code == 429
    assert driver.get("/v3/me/profile", token="ben-full").status_code == 200


def unpacked(packed: bytes) -> str:
    with ZipFile(BytesIO(packed)) as archive:
        return archive.read("capsule.json").decode()

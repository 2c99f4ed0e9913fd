"""Bodies that a request prefers: made up anew at each call, examples by name, and hints of Faker."""

from pathlib import Path

import pytest
from tests.mock.asking import Ask, asking

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

DOCUMENT = """
openapi: 3.1.0
info: {title: Pets, version: '1'}
paths:
  /pet:
    get:
      responses:
        '200':
          description: ok
          headers: {X-Left: {required: true, schema: {type: integer, minimum: 3, maximum: 9}}}
          content:
            application/json:
              schema: {$ref: '#/components/schemas/Pet'}
              examples: {rex: {value: {name: Rex, age: 3, kind: dog}}, tom: {value: {name: Tom, age: 4, kind: cat}}}
components:
  schemas:
    Pet:
      type: object
      required: [name, age, kind]
      properties:
        name: {type: string, example: Rex}
        age: {type: integer, minimum: 1, maximum: 900, example: 3}
        kind: {enum: [cat, dog, fish, bird]}
        owner: {type: string, x-faker: person.firstName}
        card: {type: string, x-faker: no.such_provider}
"""


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    (tmp_path / "pets.yaml").write_text(DOCUMENT)
    return asking(Mock(Settings(document=tmp_path / "pets.yaml")))


def test_a_dynamic_body_differs_from_call_to_call_and_never_shows_the_example(ask: Ask) -> None:
    bodies = [ask("GET", "/pet", headers={"prefer": "dynamic=true"}).json() for _ in range(6)]
    for name in ("name", "age", "owner"):
        assert len({body[name] for body in bodies}) > 3
    assert len({body["kind"] for body in bodies}) > 1
    assert all(1 <= body["age"] <= 900 for body in bodies)


def test_the_same_seed_and_calls_give_the_same_dynamic_bodies(tmp_path: Path, ask: Ask) -> None:
    other = asking(Mock(Settings(document=tmp_path / "pets.yaml")))
    calls = [[each("GET", "/pet?__dynamic=true").json() for _ in range(3)] for each in (ask, other)]
    assert calls[0] == calls[1]
    seeded = [ask("GET", "/pet?__dynamic=true&__seed=7").json() for _ in range(2)]
    assert seeded[0] == seeded[1]


def test_an_example_by_name_keeps_the_headers_that_are_required(ask: Ask) -> None:
    response = ask("GET", "/pet", headers={"prefer": "example=tom"})
    assert response.json()["name"] == "Tom"
    assert 3 <= int(response.headers["x-left"]) <= 9


def test_a_hint_names_a_provider_of_faker_and_an_unknown_one_is_passed_over(ask: Ask) -> None:
    body = ask("GET", "/pet?__dynamic=true&__seed=1").json()
    assert body["owner"].isalpha()
    assert body["owner"][0].isupper()
    assert body["card"]


@pytest.mark.parametrize(("prefer", "status"), [("", 200), ("handling=strict", 406)])
def test_a_strict_request_is_refused_where_nothing_acceptable_is_declared(ask, prefer, status):
    response = ask("GET", "/pet", headers={"accept": "text/csv", "prefer": prefer})
    assert response.status_code == status


@pytest.mark.usefixtures("ask")
def test_a_strict_mock_refuses_every_request_that_accepts_nothing_declared(tmp_path):
    strict = asking(Mock(Settings(document=tmp_path / "pets.yaml", accept="strict")))
    statuses = [
        strict("GET", "/pet", headers={"accept": a}).status_code for a in ("text/csv", "*/*")
    ]
    assert statuses == [406, 200]

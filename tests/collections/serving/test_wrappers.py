"""Items within other objects: a list of one in a member of the items' name, and what is beside it."""

from pathlib import Path

import pytest
from tests.collections.serving.conftest import document_with
from tests.mock.asking import Ask, asking

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

RATES = """
  /tax-rates:
    get:
      responses: {'200': {description: Rates., content: {application/json: {schema: {$ref: '#/components/schemas/Rates'}}}}}
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/NewRates'}}}}
      responses: {'201': {description: Made., content: {application/json: {schema: {$ref: '#/components/schemas/Rates'}}}}}
  /tax-rates/{rateId}:
    parameters: [{name: rateId, in: path, required: true, schema: {type: string}}]
    get:
      responses:
        '200': {description: It., content: {application/json: {schema: {$ref: '#/components/schemas/Rates'}}}}
        '404': {description: None.}
    put:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/NewRates'}}}}
      responses:
        '200': {description: It., content: {application/json: {schema: {$ref: '#/components/schemas/Rates'}}}}
        '404': {description: None.}
"""
SCHEMAS = """
    Rates: {type: object, required: [taxRates], properties: {status: {type: string}, taxRates: {type: array, items: {$ref: '#/components/schemas/Rate'}}}}
    NewRates: {type: object, properties: {taxRates: {type: array, maxItems: 9, items: {$ref: '#/components/schemas/NewRate'}}}}
    NewRate: {type: object, properties: {label: {type: string}, percentage: {type: number}}}
    Rate: {type: object, required: [rateId, label], properties: {rateId: {type: string}, label: {type: string}, percentage: {type: number}}}
"""


@pytest.fixture
def rates(tmp_path: Path) -> Ask:
    return asking(Mock(Settings(document=document_with(tmp_path, RATES, SCHEMAS))))


def test_items_of_a_list_in_a_wrapper_are_created_listed_and_read(rates: Ask):
    sent = {"taxRates": [{"label": "Food", "percentage": 7}, {"label": "Books", "percentage": 5}]}
    created = rates("POST", "/tax-rates", json=sent).json()["taxRates"]
    assert [it["label"] for it in created] == ["Food", "Books"]
    listed = rates("GET", "/tax-rates").json()["taxRates"]
    assert [it for it in listed if it in created] == created
    for one in created:
        assert rates("GET", f"/tax-rates/{one['rateId']}").json()["taxRates"] == [one]


def test_an_item_in_a_wrapper_is_replaced(rates: Ask):
    (made,) = rates("POST", "/tax-rates", json={"taxRates": [{"label": "Food"}]}).json()["taxRates"]
    path = f"/tax-rates/{made['rateId']}"
    changed = rates("PUT", path, json={"taxRates": [{"label": "Bread", "percentage": 4}]})
    expected = {"rateId": made["rateId"], "label": "Bread", "percentage": 4}
    assert changed.json()["taxRates"] == [expected]
    assert rates("GET", path).json()["taxRates"] == [expected]


SWITCHES = """
  /switches:
    get:
      responses: {'200': {description: All., content: {application/json: {schema: {type: object, properties: {results: {type: array, items: {$ref: '#/components/schemas/Switch'}}}}}}}}
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/NewSwitch'}}}}
      responses: {'201': {description: Made., content: {application/json: {schema: {$ref: '#/components/schemas/Switch'}}}}}
  /switches/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get:
      responses:
        '200': {description: It., content: {application/json: {schema: {$ref: '#/components/schemas/Result'}}}}
        '404': {description: None.}
"""
SWITCH = """
    Result: {type: object, properties: {code: {type: integer}, message: {type: string}, data: {$ref: '#/components/schemas/Switch'}}}
    NewSwitch: {type: object, properties: {host: {type: string}, credentials: {type: object, properties: {username: {type: string}}}}}
    Switch: {type: object, required: [entity_id], properties: {entity_id: {type: string}, kind: {type: string}, host: {type: string}}}
"""


def test_the_item_is_where_its_members_are_whatever_is_named_like_an_identifier(tmp_path: Path):
    ask = asking(Mock(Settings(document=document_with(tmp_path, SWITCHES, SWITCH))))
    sent = {"host": "a.example", "credentials": {"username": "me"}}
    made = ask("POST", "/switches", json=sent).json()
    assert made["host"] == "a.example"
    assert ask("GET", f"/switches/{made['entity_id']}").json()["data"] == made
    assert made in ask("GET", "/switches").json()["results"]
    assert ask("GET", "/switches/other").status_code == 404


NOTES = """
  /notes:
    get:
      parameters: [{name: tag, in: query, schema: {type: string}}, {name: writer, in: query, schema: {type: string}}]
      responses: {'200': {description: Notes., content: {application/json: {schema: {type: object, required: [notes, notesCount], properties: {notes: {type: array, items: {$ref: '#/components/schemas/Note'}}, notesCount: {type: integer}}}}}}}
    post:
      requestBody: {content: {application/json: {schema: {type: object, properties: {note: {$ref: '#/components/schemas/NewNote'}}}}}}
      responses: {'201': {description: Made., content: {application/json: {schema: {type: object, properties: {note: {$ref: '#/components/schemas/Note'}}}}}}}
  /notes/{slug}:
    parameters: [{name: slug, in: path, required: true, schema: {type: string}}]
    get: {responses: {'200': {description: It., content: {application/json: {schema: {type: object, properties: {note: {$ref: '#/components/schemas/Note'}}}}}}, '404': {description: None.}}}
  /writers/{login}:
    parameters: [{name: login, in: path, required: true, schema: {type: string}}]
    get: {responses: {'200': {description: It., content: {application/json: {schema: {type: object, required: [writer], properties: {status: {type: string}, writer: {$ref: '#/components/schemas/Writer'}}}}}}}}
  /login:
    post:
      requestBody: {content: {application/json: {schema: {type: object, properties: {writer: {type: object, properties: {login: {type: string}, password: {type: string}}}}}}}}
      responses: {'200': {description: It., content: {application/json: {schema: {type: object, required: [writer], properties: {writer: {$ref: '#/components/schemas/Writer'}}}}}}}
"""
NOTE_SCHEMAS = """
    Writer: {type: object, required: [login, score], properties: {login: {type: string}, score: {type: integer}}}
    NewNote: {type: object, required: [title], properties: {title: {type: string}, tagList: {type: array, items: {type: string}}}}
    Note: {type: object, required: [slug, title, tagList, writer], properties: {slug: {type: string}, title: {type: string}, tagList: {type: array, items: {type: string}}, writer: {$ref: '#/components/schemas/Writer'}}}
"""


@pytest.fixture
def notes(tmp_path: Path) -> Ask:
    return asking(Mock(Settings(document=document_with(tmp_path, NOTES, NOTE_SCHEMAS))))


def test_a_slug_is_made_from_the_title_and_is_another_one_for_the_next(notes: Ask):
    made = [
        notes("POST", "/notes", json={"note": {"title": it}}).json()["note"]["slug"]
        for it in ("By the Sea", "By the sea!", "…")
    ]
    assert made[0] == "by-the-sea"
    assert made[1].startswith("by-the-sea-")
    assert len(set(made)) == 3
    assert notes("GET", "/notes/by-the-sea").json()["note"]["title"] == "By the Sea"


def test_a_list_is_filtered_by_one_of_several_values_and_by_a_value_of_an_object(notes: Ask):
    sent = {"title": "Sea", "tagList": ["blue", "wide"]}
    note = notes("POST", "/notes", json={"note": sent}).json()["note"]
    assert notes("GET", "/notes?tag=wide").json() == {"notes": [note], "notesCount": 1}
    assert note in notes("GET", f"/notes?writer={note['writer']['login']}").json()["notes"]
    assert notes("GET", "/notes?writer=nobody").json() == {"notes": [], "notesCount": 0}


def test_a_count_that_is_named_like_the_list_counts_it(notes: Ask):
    listed = notes("GET", "/notes").json()
    assert listed["notesCount"] == len(listed["notes"]) > 1


def test_an_object_in_an_envelope_has_what_the_request_named(notes: Ask):
    assert notes("GET", "/writers/mia").json()["writer"]["login"] == "mia"
    sent = {"writer": {"login": "mia", "password": "tea"}}
    assert notes("POST", "/login", json=sent).json()["writer"].keys() == {"login", "score"}
    assert notes("POST", "/login", json=sent).json()["writer"]["login"] == "mia"

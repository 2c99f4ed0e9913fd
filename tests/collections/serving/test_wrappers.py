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

"""Items that are created below a parent, and addressed without it."""

from pathlib import Path

import pytest
from tests.collections.serving.conftest import document_with
from tests.mock.asking import SITE, Ask, asking

from understudy.cases import selection
from understudy.cases.test_data import TestData
from understudy.collections.sequences import sequence_source
from understudy.mock.app import Mock
from understudy.mock.settings import Settings

PATHS = """
  /v1/orders:
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}
      responses: &order {'201': {description: a, content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}}
  /v1/orders/{id}:
    parameters: &id [{name: id, in: path, required: true, schema: {type: string}}]
    get: {responses: *order}
    delete: {responses: {'204': {description: gone}}}
  /v1/orders/{id}/lines:
    parameters: *id
    get: {responses: {'200': {description: all, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Line'}}}}}}}
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Line'}}}}
      responses: &line {'201': {description: a, headers: {Location: {schema: {type: string}}}, content: {application/json: {schema: {$ref: '#/components/schemas/Line'}}}}}
  /v1/lines/{lineId}:
    parameters: &lineId [{name: lineId, in: path, required: true, schema: {type: string}}]
    get: {responses: *line}
    patch:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Line'}}}}
      responses: *line
    delete: {responses: {'204': {description: gone}, '404': {description: none}}}
  /v1/lines/{lineId}/cancel:
    parameters: *lineId
    post: {responses: *line}"""
SCHEMAS = """
    Order: {type: object, required: [id], properties: {id: {type: string, readOnly: true}, name: {type: string}}}
    Line:
      type: object
      required: [id]
      properties: {id: {type: string, readOnly: true}, orderId: {type: string, readOnly: true}, sku: {type: string}, status: {enum: [open, cancelled]}}"""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    return document_with(tmp_path, PATHS, SCHEMAS)


@pytest.fixture
def ask(document: Path) -> Ask:
    return asking(Mock(Settings(document=document)))


def test_an_item_is_read_and_changed_without_its_parent_and_listed_below_it(ask: Ask):
    order = ask("POST", "/v1/orders", json={"name": "a"}).json()["id"]
    created = ask("POST", f"/v1/orders/{order}/lines", json={"sku": "x"})
    line = f"/v1/lines/{created.json()['id']}"
    assert created.headers["location"] == SITE + line
    assert ask("GET", line).json() == created.json()
    assert ask("PATCH", line, json={"sku": "y"}).json()["sku"] == "y"
    assert ask("POST", f"{line}/cancel").json()["status"] == "cancelled"
    (listed,) = ask("GET", f"/v1/orders/{order}/lines").json()
    assert (listed["sku"], listed["status"], listed["orderId"]) == ("y", "cancelled", order)


@pytest.mark.parametrize("deleted", ["item", "parent"])
def test_an_item_is_gone_after_its_own_deletion_or_that_of_its_parent(ask: Ask, deleted: str):
    order = ask("POST", "/v1/orders", json={"name": "a"}).json()["id"]
    line = f"/v1/lines/{ask('POST', f'/v1/orders/{order}/lines', json={'sku': 'x'}).json()['id']}"
    assert ask("DELETE", line if deleted == "item" else f"/v1/orders/{order}").status_code == 204
    assert ask("GET", line).status_code == 404
    assert ask("DELETE", line).status_code == 404


def test_an_item_with_two_addresses_is_one_item(tmp_path: Path):
    listing = "get: {responses: {'200': {description: all, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Line'}}}}}}}"
    nested = (
        "  /v1/orders/{id}/lines/{line}:\n    parameters: [{name: id, in: path, required: true, schema: {type: string}}, "
        "{name: line, in: path, required: true, schema: {type: string}}]\n    get: {responses: *line}\n"
        "    delete: {responses: {'204': {description: gone}, '404': {description: none}}}"
    )
    document = document_with(tmp_path, f"{PATHS}\n  /v1/lines:\n    {listing}\n{nested}", SCHEMAS)
    ask = asking(Mock(Settings(document=document)))
    order = ask("POST", "/v1/orders", json={"name": "a"}).json()["id"]
    below = f"/v1/orders/{order}/lines"
    line = ask("POST", below, json={"sku": "x"}).json()["id"]
    changed = ask("PATCH", f"/v1/lines/{line}", json={"sku": "y"}).json()
    assert changed == ask("GET", f"{below}/{line}").json() == ask("GET", f"/v1/lines/{line}").json()
    assert changed in ask("GET", "/v1/lines").json()
    assert ask("GET", below).json() == [changed]
    assert ask("DELETE", f"{below}/{line}").status_code == 204
    assert ask("GET", f"/v1/lines/{line}").status_code == 404
    assert changed not in ask("GET", "/v1/lines").json()


def test_a_sequence_creates_the_parent_and_addresses_the_item_alone(document: Path):
    source = sequence_source(selection.planners(document, TestData()))
    life = next(source.collections[1].sequences(1, 0, selection.WORDS["valid"]))
    assert [f"{it.request.method} {it.request.path}" for it in life[:3]] == [
        "POST /v1/orders",
        "POST /v1/orders/~~ITEM_1_ENCODED~~/lines",
        "GET /v1/lines/~~ITEM_2_ENCODED~~",
    ]

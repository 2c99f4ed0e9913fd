"""Sequences: what they create first, what they check, and where there is none."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from click.testing import CliRunner, Result

from understudy.cases import selection
from understudy.cases.model import Case
from understudy.cases.test_data import TestData
from understudy.cli import main
from understudy.collections.sequences import sequence_source
from understudy.errors import StartupError
from understudy.generate.formats import jsonl

LABELLED = Path(__file__).parents[2] / "collections" / "inference" / "labelled"
SCHEMA = Path(jsonl.__file__).with_name("case.schema.json")
TODO_LIST, STORE = LABELLED / "todo.yaml", LABELLED / "store.yaml"

SHOP = """
openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /shops:
    post:
      operationId: createShop
      requestBody: &shop {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Shop'}}}}
      responses: &one {'201': {description: a, content: {application/json: {schema: {$ref: '#/components/schemas/Shop'}}}}}
  /shops/{shopId}:
    parameters: [{name: shopId, in: path, required: true, schema: {type: integer}}]
    get: {operationId: readShop, responses: *one}
    delete: {operationId: deleteShop, responses: {'204': {description: gone}}}
  /shops/{shop}/orders:
    parameters: [{name: shop, in: path, required: true, schema: {type: integer}}]
    post:
      operationId: createOrder
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}
      responses: &order {'201': {description: a, content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}}
    get:
      operationId: listOrders
      parameters: [{name: limit, in: query, schema: {type: integer}}]
      responses: {'200': {description: a, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Order'}}}}}}
  /shops/{shop}/orders/{orderId}:
    parameters:
      - {name: shop, in: path, required: true, schema: {type: integer}}
      - {name: orderId, in: path, required: true, schema: {type: integer}}
    get: {operationId: readOrder, responses: *order}
  /customers:
    post:
      operationId: createCustomer
      requestBody: &customer {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Customer'}}}}
      responses: &person {'201': {description: a, content: {application/json: {schema: {$ref: '#/components/schemas/Customer'}}}}}
  /customers/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get: {operationId: readCustomer, responses: *person}
components:
  schemas:
    Shop: {type: object, required: [name], properties: {id: {type: integer, readOnly: true}, name: {type: string}}}
    Order:
      type: object
      required: [customerId, size]
      properties: {id: {type: integer, readOnly: true}, customerId: {type: string}, shopId: {type: integer}, size: {enum: [small, large]}}
    Customer: {type: object, required: [name], properties: {id: {type: string, readOnly: true}, name: {type: string}}}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.yaml"
    path.write_text(SHOP)
    return path


def sequences(document: Path, *names: str, count: int = 1, kind: str = "all") -> list[list[Case]]:
    """Returns the sequences of the collections whose operations are named."""
    source = sequence_source(selection.planners(document, TestData()), names)
    kinds = selection.WORDS[kind]
    return [
        steps for it in source.collections for steps in it.sequences(count, seed=0, kinds=kinds)
    ]


def lines(steps: list[Case]) -> list[str]:
    return [f"{step.request.method} {step.request.target}" for step in steps]


def generate(*words: object) -> Result:
    return CliRunner().invoke(main, ["generate", "--sequences", *map(str, words)])


def test_a_sequence_creates_parents_and_what_its_item_refers_to_first(shop: Path):
    (steps,) = sequences(shop, "createOrder")
    assert lines(steps) == [
        "POST /shops",
        "POST /customers",
        "POST /shops/~~ITEM_1_ENCODED~~/orders",
        "GET /shops/~~ITEM_1_ENCODED~~/orders/~~ITEM_3_ENCODED~~",
        "GET /shops/~~ITEM_1_ENCODED~~/orders",
        "DELETE /shops/~~ITEM_1_ENCODED~~",
    ]
    created = steps[2].request.body
    assert created == b'{"customerId": "~~ITEM_2~~", "size": "small"}'


def test_an_item_is_compared_with_what_was_sent_and_is_gone_after_deletion():
    steps = sequences(TODO_LIST, "createTodo")[0]
    shown = {n: step.step.as_json()["assertions"] for n, step in enumerate(steps, 1) if step.step}
    sent = json.loads(steps[1].request.body or b"")
    assert {"kind": "equals", "place": ["title"], "value": sent["title"]} in shown[3]
    listed = {"kind": "contains", "place": ["data"], "member": "id", "variable": "ITEM_2"}
    assert shown[4] == [listed]
    assert steps[9].expected.statuses == ("404",)
    assert shown[11] == [{**listed, "kind": "lacks"}]


def test_an_update_changes_a_member_so_that_reading_shows_it():
    steps = sequences(TODO_LIST, "createTodo")[0]
    created, replaced = (json.loads(steps[n].request.body or b"") for n in (1, 4))
    changed = {name for name in created if created[name] != replaced[name]}
    assert len(changed) == 1
    (name,) = changed
    assert steps[5].step is not None
    shown = {it.place: it.value for it in steps[5].step.assertions}
    assert shown[(name,)] == replaced[name]


def test_every_step_is_about_the_item_that_the_client_chose_a_name_for():
    labels = LABELLED / "projects.yaml"
    made = sequences(labels, "PUT /projects/{key}/variables/{name}", count=30, kind="valid")
    paths = {
        step.request.path for steps in made for step in steps if "variables/" in step.request.path
    }
    assert len(made) > 5
    assert len(paths) == 1, paths


def test_a_client_chooses_a_number_where_items_have_numbers(tmp_path: Path):
    path = tmp_path / "shop.yaml"
    puts = SHOP.replace("post:\n      operationId: createCustomer", "head:\n      operationId: h")
    put = "put: {operationId: putCustomer, requestBody: *customer, responses: *person}"
    numbered = puts.replace(
        "Customer: {type: object, required: [name], properties: {id: {type: string, readOnly: true}",
        "Customer: {type: object, required: [name], properties: {id: {type: integer}",
    )
    path.write_text(
        numbered.replace(
            "get: {operationId: readCustomer", f"{put}\n    get: {{operationId: readCustomer"
        )
    )
    (steps,) = sequences(path, "putCustomer")
    assert steps[0].request.path == "/customers/90210001"


def test_a_body_that_names_its_own_item_has_the_captured_identifier():
    (steps,) = sequences(STORE, "PUT /pet")
    replaced = next(step for step in steps if step.request.method == "PUT")
    assert (replaced.request.body or b"").startswith(b'{"id": ~~ITEM_1~~, "name": ')


@pytest.mark.parametrize("kind", ["valid", "invalid"])
def test_further_sequences_try_edge_cases_on_an_item_that_exists(kind: str):
    made = sequences(TODO_LIST, "createTodo", count=12, kind=kind)[int(kind == "valid") :]
    tried = {step.operation for steps in made for step in steps if step.step and step.step.title}
    assert {"changeTodo", "getTodo", "deleteTodo"} <= tried
    for steps in made:
        title = steps[0].step.title if steps[0].step else ""
        named = [step for step in steps if step.description.endswith(title.partition(": ")[2])]
        assert named[0].kind == kind, title


def test_every_step_is_below_the_parent_that_no_operation_creates(tmp_path: Path):
    path = tmp_path / "shop.yaml"
    path.write_text(
        SHOP.replace("post:\n      operationId: createShop", "head:\n      operationId: s")
    )
    steps = [step for it in sequences(path, "createOrder", count=30) for step in it]
    targets = [it.request.target for it in steps if it.request.target.startswith("/shops")]
    assert len({target.split("/")[2] for target in targets}) == 1


def test_a_refused_change_leaves_the_item_as_it_was():
    made = sequences(TODO_LIST, "changeTodo", count=40, kind="invalid")
    steps = next(it for it in made if it[2].operation == "changeTodo")
    assert steps[3].request.method == "GET"
    sent = json.loads(steps[1].request.body or b"")
    assert steps[3].step is not None
    assert ("title",) in {it.place for it in steps[3].step.assertions}
    assert sent["title"] in {it.value for it in steps[3].step.assertions}


def test_the_same_seed_gives_the_same_sequences_and_every_step_an_identifier_of_its_own():
    once, again = (
        [step.id for steps in sequences(TODO_LIST, count=20) for step in steps] for _ in range(2)
    )
    assert once == again
    assert len(set(once)) == len(once)


def test_a_collection_without_an_identifier_in_its_response_is_named_with_the_reason(
    tmp_path: Path,
):
    path = tmp_path / "shop.yaml"
    silent = "responses: {'204': {description: made}}"
    path.write_text(SHOP.replace("responses: &one {'201'", f"{silent}\n    x-a: &one {{'200'"))
    done = generate("--document", path, "--format", "jsonl", "--count", 1)
    assert done.exit_code == 0, done.stderr
    reason = "the response to POST /shops has no identifier of the new item."
    assert f"/shops: no sequence, as {reason}" in done.stderr


def test_a_format_that_carries_no_values_names_those_that_do():
    done = generate("--document", TODO_LIST, "--format", "har")
    assert done.exit_code == 2
    able = "curl, http, postman, bruno, k6, pytest, jsonl"
    assert f"choose one of {able}." in done.stderr


def test_a_document_without_collections_says_what_shows_why():
    with pytest.raises(StartupError, match="`understudy infer FILE` shows the collections"):
        sequence_source(selection.planners(None, TestData()))


def test_a_state_model_corrects_which_collections_are_tried(tmp_path: Path):
    stated = tmp_path / "model.yaml"
    stated.write_text("collections: {/user: {stateless: true}, /store/order: {stateless: true}}")
    done = generate("--document", STORE, "--state-model", stated, "--format", "jsonl", "--count", 1)
    assert {step["step"]["sequence"].partition("-")[0] for step in read(done)} == {"pet"}


def read(done: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_sequences_that_are_sent_pass_at_the_mock():
    done = generate("--document", TODO_LIST, "--count", 15, "--send", "--format", "jsonl")
    assert done.exit_code == 0, done.stdout
    assert {step["outcome"].partition(":")[0] for step in read(done)} == {"passed"}
    validator = jsonschema_rs.validator_for(json.loads(SCHEMA.read_text()))
    assert [step["id"] for step in read(done) if not validator.is_valid(step)] == []
    assert "30 sequences, with" in done.stderr


def test_a_step_that_is_judged_by_an_item_needs_the_step_that_creates_it(shop: Path):
    listed = "      responses: {'200': {description: a, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Shop'}}}}}}"
    shop.write_text(SHOP.replace("  /shops:\n", f"  /shops:\n    get:\n{listed}\n"))
    steps = sequences(shop, "createShop")[0]
    assert [it.items for it in steps if it.request.method == "POST"] == [()]
    assert [it.items for it in steps if it.request.target == "/shops"][1:] == [("ITEM_1",)] * 2


def test_a_list_whose_items_lack_the_identifier_is_not_searched_for_it(shop: Path):
    listed = "      responses: {'200': {description: a, content: {application/json: {schema: {type: array, items: {type: object, properties: {name: {type: string}}}}}}}}"
    shop.write_text(SHOP.replace("  /shops:\n", f"  /shops:\n    get:\n{listed}\n"))
    steps = sequences(shop, "createShop")[0]
    assert [line for line in lines(steps) if line == "GET /shops"] == []

"""What is asked of items: lists by what only the service sets, and all that is below one at one that exists."""

import re
from types import SimpleNamespace
from typing import Any

import pytest

from understudy.cases.plans import Planner
from understudy.cases.selection import in_turn, plans
from understudy.cases.test_data import TestData
from understudy.collections.asking import ask_lists
from understudy.collections.inference import find_resources
from understudy.collections.judging import CaseItems
from understudy.collections.known_items import KnownItem
from understudy.collections.requests import ItemMembers, RequestMaker
from understudy.openapi.loader import load
from understudy.openapi.schemas import Schemas

TOOLS = """
openapi: 3.1.0
info: {title: Tools, version: '1'}
paths:
  /tools:
    get:
      parameters:
        - {name: state, in: query, schema: {enum: [free, lent]}}
        - {name: created_after, in: query, schema: {type: string, format: date-time}}
        - {name: lent_before, in: query, schema: {type: string, format: date-time}}
      responses: {'200': {description: all, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Tool'}}}}}}
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Tool'}}}}
      responses: {'201': {description: made, content: {application/json: {schema: {$ref: '#/components/schemas/Tool'}}}}}
  /tools/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    get: {responses: &one {'200': {description: one, content: {application/json: {schema: {$ref: '#/components/schemas/Tool'}}}}}}
  /tools/{tool}/lend:
    parameters: [{name: tool, in: path, required: true, schema: {type: integer}}]
    post: {operationId: lend, responses: *one}
components:
  schemas:
    Tool:
      type: object
      required: [id, name]
      properties:
        id: {type: integer, readOnly: true}
        name: {type: string}
        state: {enum: [free, lent], readOnly: true}
        daily: {type: integer, default: 5}
        createdAt: {type: string, format: date-time, readOnly: true}
"""
LATE = "9000-01-01T00:00:00Z"


def test_an_operation_below_an_item_is_tried_at_one_that_exists(tmp_path):
    path = tmp_path / "tools.yaml"
    path.write_text(TOOLS)
    document = load(path)
    run: Any = SimpleNamespace(document=document)
    state: Any = SimpleNamespace(run=run, model=find_resources(document))
    items = CaseItems(state, {"/tools": {"id": "7"}})
    planner = Planner(document, "resource", TestData())
    cases = [it for it in in_turn(plans([planner]), 6, 0) if it.operation == "lend"]
    assert {items.placed(it).path for it in cases if not it.part.startswith("path")} == {
        "/tools/7/lend"
    }
    assert len(cases) > 1


def test_what_only_the_service_sets_may_be_ignored_and_numbers_are_no_defaults(tmp_path):
    path = tmp_path / "tools.yaml"
    path.write_text(TOOLS)
    document = load(path)
    cases = [*in_turn(plans([Planner(document, "resource", TestData())]), 60, 0)]
    kinds = {it.kind for it in cases if (it.part, it.source) == ("body state", "enum")}
    assert kinds == {"open"}
    (tools,) = find_resources(document).collections
    role = tools.operation("create")
    assert role is not None
    maker = RequestMaker(document, 0, "1")
    request = maker.item(role, {}, ItemMembers())
    assert request is not None
    assert request.sent["daily"] != 5
    unique = maker.unique_value(maker.schemas.members(tools.schema)["name"], "email")
    assert re.fullmatch(r"\w+@example\.com", unique)  # a path may hold its identifier to the format


@pytest.mark.parametrize(
    ("created", "found"), [("2026-11-27T17:00:00Z", [False]), ("9999-12-31T00:00:00Z", [True])]
)
def test_a_list_is_asked_for_what_no_item_is(tmp_path, created, found):
    path = tmp_path / "tools.yaml"
    path.write_text(TOOLS)
    document = load(path)
    (tools,) = find_resources(document).collections
    item = KnownItem("1", 1, {"name": "a"}, [], response={"id": 1, "state": "free"})
    asked: list[Any] = []
    judged: list[bool] = []

    def listed(values):
        asked.append(values)
        return None if "state" in values else (None, [{"id": 1, "createdAt": created}])

    client: Any = SimpleNamespace(
        state=SimpleNamespace(maker=SimpleNamespace(schemas=Schemas(document))),
        requests=SimpleNamespace(collection=tools, needed=tools.operation),
        model=SimpleNamespace(creations=()),
        list_by=listed,
        judge=lambda _, results: judged.extend(result.holds for _, result in results),
    )
    ask_lists(client, [item])
    assert asked == [{"state": "lent"}, {"created_after": LATE}]
    assert judged == found

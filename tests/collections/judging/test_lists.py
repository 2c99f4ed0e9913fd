"""What a list is asked for: values of the service's own members, and times that no item is beyond."""

from types import SimpleNamespace
from typing import Any

import pytest

from understudy.collections.asking import ask_lists
from understudy.collections.inference import find_resources
from understudy.collections.known_items import KnownItem
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
    get: {responses: {'200': {description: one, content: {application/json: {schema: {$ref: '#/components/schemas/Tool'}}}}}}
components:
  schemas:
    Tool:
      type: object
      required: [id, name]
      properties:
        id: {type: integer, readOnly: true}
        name: {type: string}
        state: {enum: [free, lent], readOnly: true}
        createdAt: {type: string, format: date-time, readOnly: true}
"""
LATE = "9000-01-01T00:00:00Z"


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

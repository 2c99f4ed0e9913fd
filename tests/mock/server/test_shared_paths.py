"""Operations of one path and method are told apart by what their requests must have."""

from pathlib import Path

import pytest
import yaml

from understudy.interface.operations import Routes
from understudy.openapi.loader import document_of
from understudy.openapi.operations import operations

SHARED = """
openapi: 3.0.3
paths:
  /#Target=Shop.Create:
    post:
      parameters: [{name: X-Target, in: header, required: true, schema: {type: string, enum: [Shop.Create]}}]
      responses: {'201': {description: made}}
  /#Target=Shop.Delete:
    post:
      parameters: [{name: X-Target, in: header, required: true, schema: {type: string, enum: [Shop.Delete]}}]
      responses: {'204': {description: gone}}
  /#key:
    post:
      parameters: [{name: key, in: query, required: true, schema: {type: string}}]
      responses: {'202': {description: queued}}
"""


@pytest.mark.parametrize(
    ("target", "headers", "status"),
    [
        ("/", {"X-Target": "Shop.Create"}, 201),
        ("/", {"X-Target": "Shop.Delete"}, 204),
        ("/?key=a", {}, 202),
        ("/", {}, 400),
    ],
)
def test_a_header_or_a_query_tells_operations_of_one_path_apart(
    serve, target: str, headers: dict[str, str], status: int
) -> None:
    service = serve(SHARED, api={"handlers": {}})
    assert service.post(target, headers=headers).status_code == status


def test_they_are_told_apart_however_often_the_path_comes(serve) -> None:
    service = serve(SHARED, api={"handlers": {}})
    for _ in range(3):
        for target, status in (("Shop.Create", 201), ("Shop.Delete", 204)):
            assert service.post("/", headers={"X-Target": target}).status_code == status


@pytest.mark.parametrize(
    ("target", "headers", "title"),
    [
        ("/", (("x-target", "Shop.Create"),), "POST / (POST /#Target=Shop.Create)"),
        ("/", (("x-target", "Shop.Delete"),), "POST / (POST /#Target=Shop.Delete)"),
        ("/?key=a", (), "POST / (POST /#key)"),
    ],
)
def test_a_judge_tells_them_apart_as_the_mock_does(target: str, headers, title: str) -> None:
    declared = operations(document_of(yaml.safe_load(SHARED), Path("shared.yaml")))
    routes = Routes("http://127.0.0.1", None, declared, ())
    place = routes.find("POST", f"http://127.0.0.1{target}", headers)
    assert place.title == title
    found = routes.operation(place.operation)
    assert found is not None
    assert title == f"POST / ({found.operation_id})"

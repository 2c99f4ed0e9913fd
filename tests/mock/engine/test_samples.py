"""Answers from the document alone, and answers of ours that it completes."""

from pathlib import Path
from typing import Any

import pytest

from understudy.mock.engine.call import HandlerResponse
from understudy.mock.engine.document_responses import complete, sample_response
from understudy.openapi.loader import Document, Node
from understudy.openapi.operations import operations
from understudy.openapi.schemas import Schemas

TREE = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
    },
}


def schemas(schema: Any, version: str = "3.0.3") -> tuple[Schemas, Node]:
    raw = {"openapi": version, "x-schema": schema, "components": {"schemas": {"Tree": TREE}}}
    return Schemas(Document(Path("api.yaml"), raw)), Node("#/x-schema", schema)


def answer(responses: dict[str, Any]) -> HandlerResponse:
    raw = {"openapi": "3.0.3", "paths": {"/a": {"get": {"responses": responses}}}}
    document = Document(Path("api.yaml"), raw)
    return sample_response(operations(document)[0], Schemas(document), 7)


def content(media_type: str, **said: Any) -> dict[str, Any]:
    return {"description": "ok", "content": {media_type: said}}


INTEGER = {"type": "integer"}


@pytest.mark.parametrize(
    ("responses", "expected"),
    [
        ({"204": {"description": "gone"}}, HandlerResponse(None, 204)),
        ({"404": {}, "201": content("application/json", example=[1])}, HandlerResponse([1], 201)),
        ({"2XX": content("application/json", schema=INTEGER)}, HandlerResponse(1, 200)),
        ({"default": content("application/json", schema=INTEGER)}, HandlerResponse(1, 200)),
        ({"404": {}}, HandlerResponse(None, 200)),
        ({"200": content("application/json")}, HandlerResponse({}, 200)),
        (
            {"200": content("text/plain", example="words")},
            HandlerResponse(b"words", 200, "text/plain"),
        ),
        ({"200": content("text/csv", schema=INTEGER)}, HandlerResponse(b"1", 200, "text/csv")),
        ({"200": content("a/b+json", example={})}, HandlerResponse({}, 200, "a/b+json")),
        (
            {"200": content("application/json", examples={"a": {"value": "no"}}, schema=INTEGER)},
            HandlerResponse(1, 200),
        ),
        (
            {
                "200": content(
                    "application/json", example=None, schema={**INTEGER, "nullable": True}
                )
            },
            HandlerResponse(None, 200),
        ),
    ],
    ids=range(11),
)
def test_an_operation_is_answered_by_its_first_success(
    responses, expected: HandlerResponse
) -> None:
    assert answer(responses) == expected


def test_a_body_is_completed_at_every_level() -> None:
    compiler, node = schemas({"type": "array", "items": {"$ref": "#/components/schemas/Tree"}})
    body = [{"children": [{}], "more": 1}, "no tree"]
    completed = complete(body, node, compiler, 7)
    assert body == [{"children": [{}], "more": 1}, "no tree"]
    assert isinstance(completed[0]["name"], str)
    assert isinstance(completed[0]["children"][0]["name"], str)
    assert (completed[0]["more"], completed[1]) == (1, "no tree")
    assert complete(body, node, compiler, 7) == completed


@pytest.mark.parametrize(
    "schema", [{"items": True}, {"type": "object", "required": ["undeclared"]}]
)
def test_what_the_document_does_not_describe_stays_as_it_is(schema: Any) -> None:
    compiler, node = schemas(schema, "3.1.0")
    assert complete([{}], node, compiler, 7) == [{}]
    assert complete({}, node, compiler, 7) == {}

"""Answers from the document alone, and answers of ours that it completes."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from understudy.mock.server.call import HandlerResponse
from understudy.mock.server.completion import Completion
from understudy.mock.server.document_responses import Sampling
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
    return Sampling(operations(document)[0], Schemas(document), 7).principal()


def content(media_type: str, **said: Any) -> dict[str, Any]:
    return {"description": "ok", "content": {media_type: said}}


INTEGER = {"type": "integer"}
TEXTS_AND_NUMBERS = {"id": INTEGER, "genre": {"type": "string"}}


@pytest.mark.parametrize(
    ("responses", "expected"),
    [
        ({"204": {"description": "gone"}}, HandlerResponse(None, 204)),
        ({"404": {}, "201": content("application/json", example=[1])}, HandlerResponse([1], 201)),
        ({"2XX": content("application/json", schema=INTEGER)}, HandlerResponse(1, 200)),
        ({"default": content("application/json", schema=INTEGER)}, HandlerResponse(1, 200)),
        ({"404": {}}, HandlerResponse(None, 404)),
        ({"201": {}, "200": {}}, HandlerResponse(None, 200)),
        ({"404": {}, "301": {}}, HandlerResponse(None, 301, headers=(("location", "/"),))),
        ({"5XX": {}, "101": {}}, HandlerResponse(None, 200)),
        ({}, HandlerResponse(None, 200)),
        ({"200": content("application/json")}, HandlerResponse({}, 200)),
        (
            {"200": content("text/plain", example="words")},
            HandlerResponse(b"words", 200, "text/plain"),
        ),
        ({"200": content("text/csv", schema=INTEGER)}, HandlerResponse(b"1\r\n", 200, "text/csv")),
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
            HandlerResponse(b"null", 200),
        ),
    ],
    ids=range(15),
)
def test_an_operation_is_answered_by_its_first_success(
    responses, expected: HandlerResponse
) -> None:
    assert answer(responses) == expected


def test_a_body_is_completed_at_every_level() -> None:
    compiler, node = schemas({"type": "array", "items": {"$ref": "#/components/schemas/Tree"}})
    body = [{"children": [{}], "more": 1}, "no tree"]
    completed = Completion(compiler, 7, {}).completed(body, node)
    assert body == [{"children": [{}], "more": 1}, "no tree"]
    assert isinstance(completed[0]["name"], str)
    assert isinstance(completed[0]["children"][0]["name"], str)
    assert (completed[0]["more"], completed[1]) == (1, "no tree")
    assert Completion(compiler, 7, {}).completed(body, node) == completed


def test_a_cursor_that_must_be_a_text_is_not_the_word_none() -> None:
    cursor = {"type": "string", "minLength": 1}
    members = {"items": {"type": "array"}, "next_cursor": cursor, "total": {"type": "string"}}
    compiler, node = schemas(
        {"type": "object", "required": [*members], "properties": members}, "3.1.0"
    )
    completed = Completion(compiler, 7, {}).completed([1], node)
    assert completed["total"] == "1"
    assert completed["next_cursor"] != "None"


def test_what_the_document_does_not_describe_stays_as_it_is() -> None:
    compiler, node = schemas({"items": True}, "3.1.0")
    assert Completion(compiler, 7, {}).completed([{}], node) == [{}]
    assert Completion(compiler, 7, {}).completed({}, node) == {}


def test_a_required_member_that_is_not_declared_is_completed_by_any_value() -> None:
    compiler, node = schemas({"type": "object", "required": ["undeclared"]}, "3.1.0")
    assert Completion(compiler, 7, {}).completed({}, node).keys() == {"undeclared"}


def test_a_search_finds_what_it_is_asked_for_and_counts_it() -> None:
    book = {"type": "object", "required": ["id", "genre"], "properties": TEXTS_AND_NUMBERS}
    listed = {"type": "array", "minItems": 2, "items": book}
    page = {"type": "object", "properties": {"items": listed, "total": INTEGER}}
    genre = {"name": "genre", "in": "query", "schema": {"type": "string"}}
    responses = {"200": content("application/json", schema=page)}
    search = {"get": {"parameters": [genre], "responses": responses}}
    document = Document(Path("api.yaml"), {"openapi": "3.0.3", "paths": {"/books": search}})
    found = (
        Sampling(operations(document)[0], Schemas(document), 7).principal({"genre": "maps"}).body
    )
    assert [it["genre"] for it in found["items"]] == ["maps"] * 2
    assert found["total"] == len({it["id"] for it in found["items"]}) == 2


@pytest.mark.parametrize(
    "money", [{"total": {"type": "number"}}, {"total": INTEGER, "tax": INTEGER}]
)
def test_a_total_that_is_a_price_is_not_the_length_of_the_list_beside_it(
    money: dict[str, Any],
) -> None:
    lines = {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "string"}}
    money["total"] = {**money["total"], "example": 95}
    order = {"type": "object", "properties": {"lines": lines, **money}}
    responses = {"200": content("application/json", schema=order)}
    raw = {"openapi": "3.0.3", "paths": {"/order": {"get": {"responses": responses}}}}
    document = Document(Path("api.yaml"), raw)
    found = Sampling(operations(document)[0], Schemas(document), 7).principal({}).body
    assert (len(found["lines"]), found["total"]) == (2, 95)


PETS = """
openapi: 3.0.3
paths:
  /pets/{petId}:
    put:
      parameters: [{name: petId, in: path, required: true, schema: {type: integer}}]
      responses: {'200': {description: ok, content: {application/json: {schema: %s}}}}
components:
  schemas:
    Cat: {type: object, required: [kind, id, lives], properties: {kind: {type: string}, id: {type: integer}, lives: {type: integer, maximum: 9}}}
    Dog: {type: object, required: [kind, bark], properties: {kind: {type: string}, bark: {type: string}}}
    Pet:
      oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}]
      discriminator: {propertyName: kind, mapping: {tabby: Cat, hound: '#/components/schemas/Dog'}}
    Animal: {type: object, required: [kind], properties: {kind: {type: string}}, discriminator: {propertyName: kind}}
    Bird: {allOf: [{$ref: '#/components/schemas/Animal'}, {properties: {wings: {type: integer}}}]}
"""


def pet(schema: str, **arguments: Any) -> dict[str, Any]:
    """Returns the generated body of a response with a schema."""
    raw = yaml.safe_load(PETS % schema)
    document = Document(Path("api.yaml"), raw)
    made = Sampling(operations(document)[0], Schemas(document), 7).principal(arguments).body
    assert isinstance(made, dict)
    return made


@pytest.mark.parametrize(
    ("schema", "kind"), [("Pet", "tabby"), ("Bird", "Bird"), ("Animal", "Animal")]
)
def test_a_discriminator_has_a_name_that_the_document_gives(schema: str, kind: str) -> None:
    assert pet(f"{{$ref: '#/components/schemas/{schema}'}}")["kind"] == kind


def test_a_discriminator_keeps_to_the_schema_of_its_member() -> None:
    closed = "{type: object, required: [k], properties: {k: {enum: [a]}}, discriminator: {propertyName: k, mapping: {b: Cat}}}"
    assert pet(closed) == {"k": "a"}


def test_generated_members_repeat_what_was_sent() -> None:
    cat = "{$ref: '#/components/schemas/Cat'}"
    sent = pet(cat, petId=17, body={"lives": 7, "owner": "ada"})
    assert (sent["id"], sent["lives"]) == (17, 7)
    assert "owner" not in sent
    assert pet(cat, petId=17, body={"lives": 12})["lives"] <= 9


def test_a_member_repeats_the_path_by_its_own_name_too() -> None:
    named = "{type: object, required: [petId], properties: {petId: {type: integer}}}"
    assert pet(named, petId=17) == {"petId": 17}


def test_an_example_is_sent_as_the_document_has_it() -> None:
    example = "{type: object, properties: {id: {type: integer}}}, example: {id: 1}"
    assert pet(example, petId=17) == {"id": 1}


def test_an_operation_that_declares_no_response_is_served(serve) -> None:
    text = "{openapi: 3.1.0, info: {title: a, version: '1'}, paths: {/a: {get: {responses: {}}}}}"
    response = serve(text, api={"handlers": {}}).get("/a")
    assert response.status_code == 200
    assert "x-mock-violation" not in response.headers


def test_a_search_for_any_of_several_finds_the_first() -> None:
    """The list is declared in two parts, and the first says nothing of its items."""
    anything = {
        "type": "object",
        "properties": {"items": {"type": "array", "minItems": 1, "items": {}}},
    }
    book = {"type": "object", "required": ["genre"], "properties": {"genre": {"type": "string"}}}
    listed = {"properties": {"items": {"type": "array", "items": book}}}
    genres = {"type": "array", "items": {"type": "string"}}
    genre = {"name": "genre", "in": "query", "schema": genres}

    def found(schema: dict[str, Any]) -> Any:
        responses = {"200": content("application/json", schema=schema)}
        search = {"get": {"parameters": [genre], "responses": responses}}
        document = Document(Path("api.yaml"), {"openapi": "3.0.3", "paths": {"/books": search}})
        asked = {"genre": ["maps", "poems"]}
        return Sampling(operations(document)[0], Schemas(document), 7).principal(asked).body

    assert found({"type": "array", "minItems": 1, "items": book}) == [{"genre": "maps"}]
    assert isinstance(found({"allOf": [anything, listed]})["items"][0]["genre"], str)


def test_a_schema_that_requires_itself_is_completed_to_some_depth() -> None:
    endless = {
        "required": ["items", "parent"],
        "properties": {"items": {"type": "array"}, "parent": {"$ref": "#/x-schema"}},
    }
    kept, node = schemas({"type": "object", **endless})
    body = Completion(kept, 7, {}).completed({"parent": {"parent": {}}}, node)
    assert {"items", "parent"} <= body["parent"]["parent"].keys()

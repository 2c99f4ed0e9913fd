"""Swagger 2.0 becomes OpenAPI 3.0 that another reader accepts, and nothing in it is lost."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from openapi_spec_validator import validate

from understudy.openapi.loader import Document, document_of
from understudy.openapi.pointers import value_at

SWAGGER = """
swagger: '2.0'
info: {title: a, version: '1'}
host: a.example
basePath: /v1
schemes: [https, http]
consumes: [application/json, application/xml]
produces: [application/json]
tags: [{name: a}]
security: [{key: []}]
parameters:
  List: {name: list, in: query, type: array, items: {type: string}, collectionFormat: multi}
  Body: {name: body, in: body, required: true, schema: {$ref: '#/definitions/Pet'}}
responses:
  Error:
    description: An error.
    schema: {$ref: '#/definitions/Pet'}
    headers: {X-Count: {type: integer, description: How many.}}
securityDefinitions:
  basic: {type: basic}
  key: {type: apiKey, name: key, in: query}
  oauth:
    type: oauth2
    flow: accessCode
    authorizationUrl: https://a.example/authorize
    tokenUrl: https://a.example/token
    scopes: {read: Read.}
paths:
  /a/{id}:
    parameters:
      - {name: id, in: path, required: true, type: integer, format: int64}
      - {$ref: '#/parameters/List'}
    get:
      produces: [application/json, text/csv]
      parameters:
        - {name: pipes, in: query, type: array, items: {type: integer}, collectionFormat: pipes}
        - {name: commas, in: query, type: array, items: {type: integer}}
        - {name: list, in: query, type: string}
      responses:
        200:
          description: Pets.
          schema: {type: array, items: {$ref: '#/definitions/Pet'}}
          examples: {application/json: []}
        204: {description: Nothing.}
        404: {$ref: '#/responses/Error'}
    put:
      parameters: [{$ref: '#/parameters/Body'}]
      responses: {default: {description: Changed.}}
    post:
      consumes: [multipart/form-data]
      parameters:
        - {name: file, in: formData, type: file, required: true, description: A picture.}
        - {name: text, in: formData, type: string}
      responses: {201: {description: Created.}}
    patch:
      consumes: [application/x-www-form-urlencoded]
      parameters: [{name: text, in: formData, type: string}]
      responses: {201: {description: Changed.}}
definitions:
  Pet:
    type: object
    discriminator: kind
    required: [kind]
    properties:
      kind: {type: string}
      name: {type: string, x-nullable: true}
      friend: {$ref: '#/definitions/Pet'}
"""
PET = {"$ref": "#/components/schemas/Pet"}
OPERATION = "#/paths/~1a~1{id}"


@pytest.fixture(scope="module")
def document() -> Document:
    return document_of(yaml.safe_load(SWAGGER), Path("swagger.yaml"))


def test_another_reader_accepts_the_result(document: Document) -> None:
    assert [it.rule for it in document.losses] == ["converted-version"]
    validate(document.raw)


LIST = {"type": "array", "items": {"type": "integer"}}
FORM = {"type": "object", "properties": {"text": {"type": "string"}}}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("#/servers", [{"url": "https://a.example/v1"}, {"url": "http://a.example/v1"}]),
        ("#/security", [{"key": []}]),
        ("#/components/securitySchemes/basic", {"type": "http", "scheme": "basic"}),
        ("#/components/securitySchemes/key", {"type": "apiKey", "name": "key", "in": "query"}),
        ("#/components/securitySchemes/oauth/flows/authorizationCode/scopes", {"read": "Read."}),
        ("#/components/schemas/Pet/discriminator", {"propertyName": "kind"}),
        ("#/components/schemas/Pet/properties/name", {"type": "string", "nullable": True}),
        ("#/components/schemas/Pet/properties/friend", PET),
        (
            f"{OPERATION}/put/parameters",
            [
                {
                    "name": "id",
                    "in": "path",
                    "required": True,
                    "schema": {"type": "integer", "format": "int64"},
                },
                {
                    "name": "list",
                    "in": "query",
                    "style": "form",
                    "explode": True,
                    "schema": {"type": "array", "items": {"type": "string"}},
                },
            ],
        ),
        (
            f"{OPERATION}/get/parameters/1",
            {"name": "list", "in": "query", "schema": {"type": "string"}},
        ),
        (
            f"{OPERATION}/get/parameters/2",
            {
                "name": "pipes",
                "in": "query",
                "style": "pipeDelimited",
                "explode": False,
                "schema": LIST,
            },
        ),
        (
            f"{OPERATION}/get/parameters/3",
            {"name": "commas", "in": "query", "style": "form", "explode": False, "schema": LIST},
        ),
        (
            f"{OPERATION}/get/responses/200/content",
            {
                "application/json": {"schema": {"type": "array", "items": PET}, "example": []},
                "text/csv": {"schema": {"type": "array", "items": PET}},
            },
        ),
        (f"{OPERATION}/get/responses/204", {"description": "Nothing."}),
        (
            f"{OPERATION}/get/responses/404/headers",
            {"X-Count": {"description": "How many.", "schema": {"type": "integer"}}},
        ),
        (
            f"{OPERATION}/put/requestBody",
            {
                "required": True,
                "content": {
                    "application/json": {"schema": PET},
                    "application/xml": {"schema": PET},
                },
            },
        ),
        (
            f"{OPERATION}/post/requestBody/content/multipart~1form-data/schema",
            {
                "type": "object",
                "required": ["file"],
                "properties": {
                    "file": {"type": "string", "format": "binary", "description": "A picture."},
                    "text": {"type": "string"},
                },
            },
        ),
        (
            f"{OPERATION}/patch/requestBody",
            {"content": {"application/x-www-form-urlencoded": {"schema": FORM}}},
        ),
    ],
)
def test_every_part_has_its_place_in_openapi_3(
    document: Document, pointer: str, value: Any
) -> None:
    assert value_at(document.raw, pointer) == value


def test_what_dangles_in_swagger_costs_one_response() -> None:
    content = yaml.safe_load(SWAGGER)
    del content["responses"]
    document = document_of(content, Path("swagger.yaml"))
    item = document.raw["paths"]["/a/{id}"]
    assert item["get"]["responses"]["404"] == {"description": ""}
    assert "application/json" in item["get"]["responses"]["200"]["content"]


@pytest.mark.parametrize(
    "content",
    [
        {"swagger": "2.0"},
        {"swagger": 2.0, "paths": [], "definitions": 7},
        {"swagger": "2.0", "paths": {"/a": {"get": {"parameters": [1], "responses": [2]}}}},
        {"swagger": "2.0", "paths": {"/a": {"get": {"parameters": [{"in": "body"}]}}}},
        {"swagger": "2.0", "paths": {"/a": {"get": {"parameters": [{"in": "formData"}]}}}},
    ],
)
def test_a_broken_swagger_document_is_mended_like_any_other(content: Any) -> None:
    assert len(document_of(content, Path("swagger.yaml")).losses) > 1

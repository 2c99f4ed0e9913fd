"""A document that breaks OpenAPI is read as it was meant, and each break is a loss."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from understudy.openapi.loader import Document, document_of
from understudy.openapi.operations import operations
from understudy.openapi.pointers import value_at

GET = "#/paths/~1a/get"


def lost(document: Document) -> list[tuple[str, str]]:
    return [(it.rule, it.pointer) for it in document.losses]


@pytest.mark.parametrize(
    ("paths", "rule", "pointer", "there"),
    [
        ("{/a: null}", "null-member", "#/paths/~1a", {}),
        ("{/a: {get: null}}", "null-member", GET, {"responses": {}}),
        ("{a: {get: {responses: {}}}}", "invalid-path", GET, {"responses": {}}),
        ("{/__admin/a: {}}", "taken-path", "#/paths/~1__admin~1a", {}),
        ("{/a: {get: {}}}", "missing-member", f"{GET}/responses", {}),
        ("{/a: {get: {responses: {OK: {}}}}}", "invalid-status", f"{GET}/responses", {}),
        (
            '{/a: {get: {responses: {200: {content: {"a/b\\r\\nX-Other: 1": {}}}}}}}',
            "invalid-field",
            f"{GET}/responses/200/content",
            {"a/b": {}},
        ),
        (
            '{/a: {get: {responses: {200: {headers: {"X-A:\\n1": {}, X-B: {}}}}}}}',
            "invalid-field",
            f"{GET}/responses/200/headers",
            {"X-B": {}},
        ),
        (
            "{/a: {get: {responses: {200: null}}}}",
            "null-member",
            f"{GET}/responses/200",
            {"description": ""},
        ),
        (
            "{/a: {get: {responses: {200: {description: null}}}}}",
            "null-member",
            f"{GET}/responses/200",
            {"description": ""},
        ),
        (
            "{/a: {get: {responses: {200: {description: 7}}}}}",
            "converted-value",
            f"{GET}/responses/200/description",
            "7",
        ),
        ("{/a: {get: {responses: {}, summery: a}}}", "unknown-member", f"{GET}/summery", "a"),
        (
            "{/a: {get: {responses: {}, security: [[]]}}}",
            "invalid-security",
            f"{GET}/security",
            [{}],
        ),
        (
            "{/a: {get: {responses: {}, security: {token: null}}}}",
            "invalid-security",
            f"{GET}/security",
            [{"token": []}],
        ),
        (
            "{/a: {get: {responses: {}, parameters: [{name: b, in: path}]}}}",
            "unused-path-parameter",
            f"{GET}/parameters",
            [],
        ),
        (
            "{/a: {get: {responses: {}, parameters: [{in: query}]}}}",
            "invalid-parameter",
            f"{GET}/parameters",
            [],
        ),
        (
            "{/a: {get: {responses: {}, parameters: [{name: b, in: body}]}}}",
            "invalid-parameter",
            f"{GET}/parameters",
            [],
        ),
        (
            "{/a: {get: {responses: {}, parameters: [{name: b, in: querystring}]}}}",
            "not-supported",
            f"{GET}/parameters",
            [],
        ),
        (
            "{/a: {get: {responses: {}, parameters: [1]}}}",
            "wrong-type",
            f"{GET}/parameters",
            [],
        ),
        (
            "{/a: {get: {responses: {}, parameters: [{name: b, in: query},"
            " {name: b, in: query, required: true}]}}}",
            "duplicate-parameter",
            f"{GET}/parameters",
            [{"name": "b", "in": "query", "required": True}],
        ),
        (
            "{/a: {get: {responses: {}, parameters: [{name: b, in: query, type: integer}]}}}",
            "other-dialect",
            f"{GET}/parameters/0/schema",
            {"type": "integer"},
        ),
        (
            "{/a: {get: {responses: {}, parameters: [{name: b, in: query, required: 'true'}]}}}",
            "converted-value",
            f"{GET}/parameters/0/required",
            True,
        ),
        (
            "{/a: {get: {responses: {200: {description: '', schema: {type: object}}}}}}",
            "other-dialect",
            f"{GET}/responses/200/content",
            {"application/json": {"schema": {"type": "object"}}},
        ),
        (
            "{/a: {get: {responses: {200: {description: '', content:"
            " {a/b: {examples: {one: {id: 1}}}}}}}}}",
            "converted-value",
            f"{GET}/responses/200/content/a~1b/examples/one",
            {"value": {"id": 1}},
        ),
    ],
)
def test_what_openapi_has_otherwise_is_read_as_it_was_meant(
    read, paths: str, rule: str, pointer: str, there: object
) -> None:
    document = read(f"paths: {paths}")
    assert rule in dict(lost(document))
    assert value_at(document.raw, pointer) == there
    assert len(operations(document)) == paths.count("get:")


@pytest.mark.parametrize(
    ("member", "pointer"),
    [
        ("requestBody: text", f"{GET}/requestBody"),
        ("requestBody: {content: []}", f"{GET}/requestBody/content"),
        ("parameters: {}", f"{GET}/parameters"),
        ("responses: []", f"{GET}/responses"),
        ("responses: {200: text}", f"{GET}/responses/200"),
        ("security: [7]", f"{GET}/security"),
        ("callbacks: 7", f"{GET}/callbacks"),
    ],
)
def test_what_cannot_be_meant_is_left_out(read, member: str, pointer: str) -> None:
    document = read(f"paths: {{/a: {{get: {{{member}}}}}}}")
    loss = next(it for it in document.losses if it.pointer == pointer)
    assert loss.severity == "error"
    assert loss.message.endswith("it is left out.")
    with suppress(LookupError):  # what must be there is there, and empty
        assert value_at(document.raw, pointer) == {}


def test_a_document_of_hardly_anything_starts() -> None:
    document = document_of({"openapi": 3.0}, Path("api.yaml"))
    assert document.raw == {
        "openapi": "3.0.0",
        "info": {"title": "untitled", "version": "0"},
        "paths": {},
    }
    assert lost(document) == [
        ("converted-value", "#/openapi"),
        ("missing-member", "#"),
        ("missing-member", "#"),
        ("missing-member", "#/info"),
        ("missing-member", "#/info"),
    ]


@pytest.mark.parametrize("version", ["3.1.0", "3.2.0"])
def test_what_a_version_leaves_out_is_not_missed(read, version: str) -> None:
    assert read("paths: {/a: {get: {summary: a}}}", version).losses == ()


def test_methods_of_3_2_are_operations(read) -> None:
    document = read(
        "paths: {/a: {query: {responses: {}}, additionalOperations: {COPY: {operationId: copy},"
        " LINK: {requestBody: {$ref: '#/gone'}}}}}",
        "3.2.0",
    )
    assert [(it.method, it.operation_id) for it in operations(document)] == [
        ("QUERY", "QUERY /a"),
        ("COPY", "copy"),
        ("LINK", "LINK /a"),
    ]
    assert [it.rule for it in document.losses] == ["dangling-reference"]


def test_two_operations_with_one_operation_id_are_told_apart(read) -> None:
    document = read(
        "paths: {/a: {get: {operationId: x, responses: {}}, put: {operationId: x, responses: {}}}}"
    )
    assert [it.operation_id for it in operations(document)] == ["x", "x_2"]
    assert lost(document) == [("duplicate-operation-id", "#/paths/~1a/put/operationId")]


def schema(read, text: str, version: str = "3.0.3") -> tuple[Any, list[str]]:
    document = read(f"paths: {{}}\ncomponents: {{schemas: {{A: {text}}}}}", version)
    return document.raw["components"]["schemas"]["A"], [it.rule for it in document.losses]


@pytest.mark.parametrize(
    ("version", "written", "meant", "rule"),
    [
        ("3.1.0", "{minimum: 1, exclusiveMinimum: true}", {"exclusiveMinimum": 1}, "other-dialect"),
        ("3.1.0", "{minimum: 1, exclusiveMinimum: false}", {"minimum": 1}, "other-dialect"),
        (
            "3.0.3",
            "{exclusiveMaximum: 5}",
            {"maximum": 5, "exclusiveMaximum": True},
            "other-dialect",
        ),
        ("3.0.3", "{type: file}", {"type": "string", "format": "binary"}, "other-dialect"),
        ("3.0.3", "{type: text}", {}, "invalid-keyword"),
        ("3.0.3", "{type: string, required: true}", {"type": "string"}, "invalid-keyword"),
        (
            "3.0.3",
            "{required: [b, c], additionalProperties: false, properties: {c: {}}}",
            {"required": ["c"], "additionalProperties": False, "properties": {"c": {}}},
            "undeclared-required",
        ),
        ("3.0.3", "{enum: []}", {}, "invalid-keyword"),
        ("3.0.3", "{type: object, enum: [a]}", {"enum": ["a"]}, "invalid-keyword"),
        ("3.1.0", "{type: [integer], enum: ['1']}", {"enum": ["1"]}, "invalid-keyword"),
        ("3.0.3", "{maxLength: '7'}", {"maxLength": 7}, "converted-value"),
        ("3.0.3", "{maxLength: -1}", {}, "wrong-type"),
        ("3.0.3", "{required: [a, 1]}", {"required": ["a", "1"]}, "converted-value"),
        ("3.0.3", "{properties: {a: null}}", {"properties": {"a": {}}}, "null-member"),
        ("3.0.3", "{properties: [a]}", {}, "wrong-type"),
        ("3.0.3", "{minLenght: 7}", {"minLenght": 7}, "unknown-member"),
        (
            "3.0.3",
            "{items: [{type: string}]}",
            {"items": {"anyOf": [{"type": "string"}]}},
            "other-dialect",
        ),
        (
            "3.1.0",
            "{items: [{type: string}]}",
            {"prefixItems": [{"type": "string"}]},
            "other-dialect",
        ),
        ("3.0.3", "{pattern: '['}", {}, "invalid-pattern"),
        ("3.0.3", "{pattern: /^a$/}", {"pattern": "^a$"}, "other-pattern"),
        (
            "3.0.3",
            "{discriminator: kind}",
            {"discriminator": {"propertyName": "kind"}},
            "converted-value",
        ),
    ],
)
def test_a_schema_of_another_dialect_is_read_as_it_was_meant(
    read, version: str, written: str, meant: object, rule: str
) -> None:
    assert schema(read, written, version) == (meant, [rule])


@pytest.mark.parametrize(
    "written",
    [
        {"type": "number", "enum": [1, "two"]},
        {"type": "string", "nullable": True, "enum": [None]},
        {"type": "boolean", "enum": [True]},
    ],
)
def test_a_type_stays_that_one_value_of_an_enum_has(read, written: dict[str, object]) -> None:
    assert schema(read, json.dumps(written), "3.0.3") == (written, [])


def test_a_pattern_that_every_engine_reads_alike_loses_nothing(read) -> None:
    assert schema(read, r"{pattern: '^(?<n>\cA)\k<n>$'}".replace("\\\\", "\\")) == (
        {"pattern": r"^(\x01)\1$"},
        [],
    )


def test_a_closed_base_does_not_forbid_the_members_of_what_extends_it(read) -> None:
    document = read(
        "paths: {}\ncomponents: {schemas: {Base: {properties: {a: {}}, additionalProperties: false},"
        " Cat: {allOf: [{$ref: '#/components/schemas/Base'}, {properties: {b: {}}, required: [b],"
        " additionalProperties: false}]}, Dog: {properties: {c: {}}, additionalProperties: false}}}",
    )
    found = document.raw["components"]["schemas"]
    assert [it.rule for it in document.losses] == ["closed-part", "closed-part"]
    assert "additionalProperties" not in {*found["Base"], *found["Cat"]["allOf"][1]}
    assert found["Dog"]["additionalProperties"] is False

"""Each contradiction is found in the smallest document that has it, and in no other."""

import pytest

from understudy.openapi.diagnostics import CONTRADICTIONS
from understudy.openapi.linting import lint
from understudy.openapi.loader import document_of
from understudy.openapi.yaml_files import parse_yaml

A = "#/components/schemas/A"
GET = "#/paths/~1a/get"


def linted(text: str, path) -> list[tuple[str, str]]:
    head = "{openapi: 3.0.3, info: {title: a, version: '1'}, "
    content = parse_yaml(f"{head}{text}}}".encode(), path)
    return [(it.rule, it.pointer) for it in lint(document_of(content, path))]


def a(schema: str) -> str:
    return f"paths: {{}}, components: {{schemas: {{A: {schema}}}}}"


def get(members: str) -> str:
    return f"paths: {{/a: {{get: {{responses: {{}}, {members}}}}}}}"


def ref(name: str) -> str:
    return f"{{$ref: '#/components/schemas/{name}'}}"


CASES = [
    ("invalid-default", f"{A}/default", a("{type: integer, default: one}")),
    ("invalid-enum", f"{A}/enum/1", a("{type: integer, enum: [1, two]}")),
    ("invalid-example", f"{A}/example", a("{type: integer, example: one}")),
    ("invalid-example", f"{A}/examples/0", a("{type: integer, examples: [one]}")),
    (
        "invalid-example",
        f"{GET}/parameters/0/example",
        get("parameters: [{name: b, in: query, schema: {type: integer}, example: one}]"),
    ),
    (
        "invalid-example",
        f"{GET}/requestBody/content/a~1json/examples/c/value",
        get(
            "requestBody: {content: {a/json: {schema: {type: integer}, examples: {c: {value: one}}}}}"
        ),
    ),
    ("contradictory-types", A, a("{allOf: [{type: string}, {type: number}]}")),
    (
        "contradictory-types",
        A,
        a("{allOf: [{properties: {b: {type: number}}}, {properties: {b: {type: string}}}]}"),
    ),
    (
        "contradictory-types",
        A,
        a(
            "{allOf: [{properties: {b: {type: number}}}, {additionalProperties: {type: array, items: {}}}]}"
        ),
    ),
    ("empty-range", f"{A}/minLength", a("{minLength: 2, maxLength: 1}")),
    ("empty-range", A, a("{minimum: 2, maximum: 2, exclusiveMaximum: true}")),
    ("impossible-pattern", f"{A}/pattern", a("{pattern: '^a{5}$', maxLength: 4}")),
    ("impossible-pattern", f"{A}/pattern", a("{pattern: '^a{5}$', minLength: 6}")),
    ("unknown-provider", f"{A}/x-faker", a("{type: string, x-faker: person.fristName}")),
    ("unknown-provider", f"{A}/x-faker", a("{type: string, x-faker: {first_name: []}}")),
    ("undeclared-security-scheme", GET, get("security: [{key: []}]")),
    (
        "unused-security-scheme",
        "#/components/securitySchemes/key",
        "paths: {}, components: {securitySchemes: {key: {type: http, scheme: basic}}}",
    ),
    (
        "not-sent",
        f"{GET}/callbacks/changed/{{$request.cookie.url}}/post",
        get("callbacks: {changed: {'{$request.cookie.url}': {post: {responses: {}}}}}"),
    ),
    (
        "not-sent",
        "#/webhooks/sold/post/callbacks",
        "paths: {}, webhooks: {sold: {post: {responses: {}, callbacks: {b: {'{$request.body#/u}': {}}}}}}",
    ),
    (
        "unreachable-path",
        "#/paths/~1{c}/get",
        "paths: {'/{b}': {get: &get {responses: {}, parameters: [{name: b, in: path,"
        " required: true}]}}, '/{c}': {get: {responses: {}, parameters: [{name: c, in: path,"
        " required: true}]}}}",
    ),
    (
        "required-read-only",
        f"{GET}/requestBody/content/a~1b/schema/properties/c",
        get(
            "requestBody: {content: {a/b: {schema: {required: [c],"
            " properties: {c: {readOnly: true}}}}}}"
        ),
    ),
    (
        "missing-schema",
        f"{GET}/requestBody/content/a~1b",
        get("requestBody: {content: {a/b: {}}}"),
    ),
    (
        "invalid-schema",
        A,
        "paths: {}, components: {schemas: {"
        + ", ".join(
            f"{name}: {{allOf: [{', '.join(9 * [ref(below)])}]}}"
            for name, below in zip("ABCDEF", "BCDEFG", strict=True)
        )
        + ", G: {}}}",
    ),
]


@pytest.mark.parametrize(("rule", "pointer", "text"), CASES)
def test_a_contradiction_is_found_where_it_is(tmp_path, rule: str, pointer: str, text: str) -> None:
    assert (rule, pointer) in linted(text, tmp_path / "api.yaml")


def test_every_rule_has_its_case() -> None:
    assert {rule for rule, _, _ in CASES} == set(CONTRADICTIONS)


@pytest.mark.parametrize(
    "text",
    [
        a("{type: integer, default: 1, enum: [1, 2], example: 2, minimum: 1, maximum: 2}"),
        a("{pattern: '^a{5}$', minLength: 5, maxLength: 5}"),
        a("{pattern: 'a{5}', minLength: 6}"),
        a("{pattern: '^a$|b', minLength: 6}"),
        a(r"{pattern: '^\p{L}{5}$', maxLength: 4}"),
        a("{type: string, x-faker: person.firstName}"),
        a("{required: [b], properties: {c: {}}}"),
        a("{required: [b], additionalProperties: false, patternProperties: {b: {}}}"),
        get("requestBody: {content: {a/xml: {schema: {type: object}, example: '<a/>'}}}"),
        "paths: {/a: {get: {responses: {}}}, /b: {get: {responses: {}}}}",
    ],
)
def test_what_can_be_meant_is_no_contradiction(tmp_path, text: str) -> None:
    assert linted(text, tmp_path / "api.yaml") == []


def test_a_loss_is_listed_too(tmp_path) -> None:
    assert linted(a("{type: text}"), tmp_path / "api.yaml") == [("invalid-keyword", f"{A}/type")]

"""Made-up values keep to rules about several members, to patterns, and to their direction."""

from typing import Any

import pytest
from tests.mock.server.test_sampler import kept, schemas

from understudy.openapi.sampler import PLAIN, PLAUSIBLE, Sampler

NAME = {"type": "object", "properties": {"name": {"type": "string"}}}
CLOSED = {"additionalProperties": False, "type": "object"}
CAT = {**CLOSED, "required": ["meow"], "properties": {"meow": {"type": "boolean"}}}
DOG = {**CLOSED, "required": ["bark"], "properties": {"bark": {"type": "boolean"}}}
EITHER = {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
TWO = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
LETTERS = {"type": "string", "pattern": "^[a-z]+$"}

HARD = [
    {**LETTERS, "minLength": 12, "maxLength": 14},
    {"type": "string", "pattern": "^[A-Z0-9_]*$", "minLength": 40},
    {"type": "string", "pattern": r"^(?=.*[A-Z])(?=.*\d)(?=.*[^A-Za-z0-9]).{8,}$", "minLength": 12},
    {"type": "string", "pattern": r"^(?!-)[a-z-]{3,}$", "maxLength": 5},
    {"type": "string", "pattern": "[0-9]{3}", "minLength": 10},
    {"type": "string", "format": "date", "pattern": "^20"},
    {"allOf": [LETTERS, {"pattern": "^a"}, {"maxLength": 6}]},
    {"oneOf": [CAT, DOG]},
    {"anyOf": [{**CAT, "properties": {}}, DOG]},
    {"allOf": [EITHER, TWO]},
    {"allOf": [{"oneOf": [CAT, DOG]}, {"oneOf": [{"type": "string"}, {"required": ["bark"]}]}]},
    {"oneOf": [NAME, {**NAME, "properties": {"name": {}, "bark": {"type": "boolean"}}}]},
    {"oneOf": [{"type": "integer"}, {"type": "number"}]},
    {**TWO, "not": {"required": ["b"]}},
    {**TWO, "minProperties": 1, "maxProperties": 1},
    {"type": "string", "not": {"enum": ["", "a"]}},
    {"type": "integer", "not": {"enum": [1, 2]}},
    {"not": {"type": "string"}},
    {"type": "number", "multipleOf": 0.01, "exclusiveMinimum": 7.77, "maximum": 7.79},
    {"type": "integer", "multipleOf": 7, "maximum": -50},
    {"allOf": [{"multipleOf": 4}, {"multipleOf": 6}, {"minimum": 13, "type": "integer"}]},
    {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 3, "uniqueItems": True},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "uniqueItems": True},
    {"type": "object", "minProperties": 3, **TWO},
    {"allOf": [{"properties": {"a": {"minimum": 5}}}, {**TWO, "required": ["a"]}]},
    {"type": "array", "items": {"allOf": [{"minimum": 3}, {"type": "integer"}]}, "minItems": 1},
]

HARD_31 = [
    {"type": "array", "contains": {"const": 5}, "minContains": 2, "items": {"type": "integer"}},
    {"type": "array", "prefixItems": [{"const": 1}, {"const": "b"}], "items": False, "minItems": 2},
    {**TWO, "required": ["a"], "dependentRequired": {"a": ["c"], "c": ["d"]}},
    {**TWO, "dependentSchemas": {"a": {"required": ["e"], "properties": {"e": {"const": 4}}}}},
    {"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["z"]}, **TWO},
    {"if": {"required": ["x"]}, "then": {"required": ["y"]}, "else": {"required": ["w"]}, **TWO},
    {"type": "object", "propertyNames": {"pattern": "^x-[a-z]+$"}, "minProperties": 2},
    {"patternProperties": {"^n_": {"type": "integer"}}, "minProperties": 2, **CLOSED},
    {"patternProperties": {"^x-": {}}, "minProperties": 3, "required": ["a"], **TWO, **CLOSED},
    {"allOf": [TWO, {"properties": {"c": {"type": "null"}}}], "unevaluatedProperties": False},
    {"allOf": [{"required": ["c"]}, TWO], "unevaluatedProperties": {"type": "null"}},
    {"type": ["null", "array"], "items": False},
    *(
        {"type": "string", "format": name}
        for name in ("duration", "json-pointer", "relative-json-pointer", "regex", "uri-template")
    ),
    *({"type": "string", "format": name} for name in ("idn-email", "iri", "uri-reference", "time")),
]


@pytest.mark.parametrize(
    ("schema", "version"),
    [
        *((schema, version) for schema in HARD for version in ("3.0.3", "3.1.0")),
        *((schema, "3.1.0") for schema in HARD_31),
    ],
    ids=str,
)
@pytest.mark.parametrize("style", [PLAUSIBLE, PLAIN], ids=["plausible", "plain"])
def test_rules_about_several_members_hold_too(schema: Any, version: str, style) -> None:
    compiler, node = schemas(schema, version)
    value = Sampler(compiler, 7, style=style).value(node)
    assert [error.message for error in compiler.validator(node).iter_errors(value)] == []


def test_a_pattern_never_gives_an_empty_text() -> None:
    assert kept({"type": "string", "pattern": "^[a-z]*$"}, "3.0.3")
    assert kept({"type": "string", "pattern": "^$|^[a-z ]+$"}, "3.0.3")


def test_a_default_that_is_empty_is_no_sample() -> None:
    assert kept({"type": "array", "items": {"type": "integer"}, "default": []}, "3.0.3") == [1]


ACCOUNT = {
    "type": "object",
    "required": ["id", "name", "password"],
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "name": {"type": "string"},
        "password": {"allOf": [{"type": "string"}], "writeOnly": True},
    },
}


@pytest.mark.parametrize("example", [{}, {"example": {"id": 1, "name": "a", "password": "b"}}])
@pytest.mark.parametrize(
    ("style", "names"), [(PLAUSIBLE, {"id", "name"}), (PLAIN, {"name", "password"})]
)
def test_a_direction_has_its_own_members(example: Any, style, names: set[str]) -> None:
    compiler, node = schemas({**ACCOUNT, **example})
    assert Sampler(compiler, 7, style=style).value(node).keys() == names


def test_a_member_may_be_declared_apart_from_what_requires_it() -> None:
    parts = [{"properties": ACCOUNT["properties"]}, {"required": ["id", "name"]}]
    compiler, node = schemas({"allOf": parts})
    assert not compiler.validator(node).is_valid({"name": "a"})
    assert compiler.for_requests.validator(node).is_valid({"name": "a"})
    assert not compiler.for_responses.validator(node).is_valid({"name": "a"})


def test_a_document_without_flags_has_the_same_validators_both_ways() -> None:
    compiler, _ = schemas({"type": "object", "required": ["readOnly"]})
    assert compiler.for_requests is compiler.for_responses is compiler

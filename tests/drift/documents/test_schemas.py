"""Schemas that are large, deep or recursive are compared, each place once."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from understudy.drift.documents.sources import document_changes
from understudy.openapi.loader import Document, document_of


def reading(
    schema: Any, schemas: Mapping[str, Any] | None = None, version: str = "3.1.0"
) -> Document:
    """Returns a document of one operation whose response has a schema."""
    content = {"application/json": {"schema": schema}}
    operation = {"responses": {"200": {"description": "", "content": content}}}
    raw = {
        "openapi": version,
        "info": {"title": "Schemas", "version": "1"},
        "paths": {"/things": {"get": operation}},
        "components": {"schemas": schemas or {}},
    }
    return document_of(raw, Path("schemas.yaml"))


def changes(old: Document, new: Document) -> list[tuple[str, str, str, str]]:
    return [(it.kind, it.member, it.before, it.after) for it in document_changes(old, new)]


def objects(number: int) -> list[dict[str, Any]]:
    return [
        {"type": "object", "properties": {f"member{index}": {"type": "string"}}}
        for index in range(number)
    ]


def layered(keyword: str, leaf: str) -> Document:
    """Returns a document whose schema is composed of nine to the twelfth."""
    layers: dict[str, Any] = {
        f"Layer{index}": {keyword: [{"$ref": f"#/components/schemas/Layer{index + 1}"}] * 9}
        for index in range(12)
    }
    return reading({"$ref": "#/components/schemas/Layer0"}, layers | {"Layer12": {"type": leaf}})


@pytest.mark.parametrize("keyword", ["allOf", "anyOf"])
def test_a_schema_that_is_composed_of_billions_is_split_once(keyword):
    found = changes(layered(keyword, "string"), layered(keyword, "integer"))
    assert found == [("type", "", "string", "integer")]


def test_one_alternative_more_is_told_among_a_hundred():
    old, new = objects(100), [*objects(100), {"type": "integer"}]
    assert changes(reading({"oneOf": old}), reading({"oneOf": new})) == [
        ("alternative-added", "", "", "integer")
    ]


def test_a_change_among_too_many_alternatives_is_not_missed():
    many = {"allOf": [{"anyOf": objects(30)}, {"anyOf": objects(30)}]}
    more = {"allOf": [{"anyOf": objects(30)}, {"anyOf": objects(31)}]}
    ((kind, *_),) = changes(reading(many), reading(more))
    assert kind == "keyword"
    assert changes(reading(many), reading(many)) == []


def tree(leaf: str) -> Document:
    node = {
        "type": "object",
        "properties": {
            "value": {"type": leaf},
            "children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}},
        },
    }
    return reading({"$ref": "#/components/schemas/Node"}, {"Node": node})


def test_a_change_in_a_schema_that_contains_itself_is_told_once():
    assert changes(tree("string"), tree("integer")) == [("type", "value", "string", "integer")]
    assert changes(tree("string"), tree("string")) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"type": "string", "nullable": True}, {"type": ["null", "string"]}),
        (
            {"nullable": True, "type": "object", "properties": {"a": {"type": "string"}}},
            {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"a": {"type": "string"}}}]},
        ),
        (
            {"type": "number", "minimum": 1, "exclusiveMinimum": True},
            {"type": "number", "exclusiveMinimum": 1},
        ),
        ({"type": "string", "enum": ["a"]}, {"const": "a"}),
        (
            {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}},
            {"allOf": [{"type": "object", "required": ["a"]}, {"properties": {"a": {"type": "string"}}}]},
        ),
        ({"not": {"type": "string", "description": "no text"}}, {"not": {"type": "string"}}),
    ],
)  # fmt: skip
def test_two_ways_to_write_a_schema_are_equal(one, other):
    old, new = reading(one, version="3.0.3"), reading(other)
    assert changes(old, new) == changes(new, old) == []


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ({"type": "integer"}, {"type": "number"}, ("type", "", "integer", "number")),
        ({"type": "string"}, {"type": ["string", "null"]}, ("null", "", "", "null")),
        ({"not": {"const": 1}}, {"not": {"const": 2}}, ("keyword", "", 'not: {"const":1}', 'not: {"const":2}')),
        ({"items": {"type": "string"}, "type": "array"}, {"items": {"type": "boolean"}, "type": "array"}, ("type", "[]", "string", "boolean")),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "object", "additionalProperties": {"type": "integer"}}, ("type", "*", "string", "integer")),
        ({"type": "object", "additionalProperties": False}, {"type": "object"}, ("members-opened", "", "", "")),
        ({"type": "integer", "format": "int32"}, {"type": "integer", "format": "int64"}, ("format", "", "int32", "int64")),
    ],
)  # fmt: skip
def test_a_wider_schema_of_a_response_breaks_clients_that_read(old, new, change):
    (wider,) = document_changes(reading(old), reading(new))
    assert (wider.kind, wider.member, wider.before, wider.after) == change
    if change[0] != "format":  # every value of the older format is one of the newer
        assert wider.breaks == {"readers"}

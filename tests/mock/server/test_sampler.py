"""Values made up from a schema keep to it, whatever it says."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import LimitExceeded
from understudy.limits import SAMPLE_SECONDS, Limit
from understudy.openapi.loader import Document, Node
from understudy.openapi.sampler import Sampler
from understudy.openapi.schemas import Schemas

TREE = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
        "twin": {"$ref": "#/components/schemas/Tree"},
    },
}


def schemas(schema: Any, version: str = "3.0.3") -> tuple[Schemas, Node]:
    parts = {"schemas": {"Tree": TREE, "Word": {"type": "string", "enum": ["one"]}}}
    raw = {"openapi": version, "x-schema": schema, "components": parts}
    return Schemas(Document(Path("api.yaml"), raw)), Node("#/x-schema", schema)


def kept(schema: Any, version: str) -> Any:
    """Makes a value up, and expects it to keep to its schema and to be the same again."""
    compiler, node = schemas(schema, version)
    value = Sampler(compiler, 7).value(node, "name")
    assert [error.message for error in compiler.validator(node).iter_errors(value)] == []
    assert Sampler(compiler, 7).value(node, "name") == value
    return value


BOTH = [
    {},
    {"type": "string"},
    {"type": "boolean"},
    {"type": "integer"},
    {"type": "number", "minimum": 0.5, "maximum": 0.6},
    {"type": "integer", "minimum": 5, "multipleOf": 7},
    {"type": "integer", "maximum": -3},
    {"type": "number", "multipleOf": 0.25, "minimum": 3.1},
    {"type": "number", "multipleOf": 0.25, "minimum": 0.3, "maximum": 0.8},
    {"type": "number", "multipleOf": 0.01, "minimum": 0.101, "maximum": 0.115},
    {"type": "number", "minimum": 2.11, "maximum": 2.12},
    {"type": "string", "minLength": 40},
    {"type": "string", "maxLength": 2},
    {"type": "string", "minLength": 3, "maxLength": 3},
    {"type": "string", "maxLength": 0},
    {"type": "string", "pattern": "^[a-z]{3}-[0-9]{2}$"},
    {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?$"},
    {"type": "string", "enum": ["red", "blue"]},
    {"type": "array", "items": {"type": "integer"}},
    {"type": "array", "items": {"type": "string"}, "minItems": 3},
    {"type": "array", "items": {"type": "string"}, "minItems": 3, "uniqueItems": True},
    {"type": "array", "items": {"type": "string"}, "maxItems": 0},
    {"type": "array"},
    {"type": "array", "minItems": 2},
    {"type": "array", "items": {"allOf": [{"type": "string"}, {"type": "integer"}]}},
    {"type": "object"},
    {"type": "object", "required": ["a"]},
    {"type": "object", "required": ["a"], "properties": {"b": {"type": "string"}}},
    {"type": "object", "required": ["a"], "additionalProperties": {"type": "integer"}},
    {"type": "object", "minProperties": 2, "additionalProperties": {"type": "integer"}},
    {"properties": {"a": {"type": "integer"}}, "additionalProperties": False},
    {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/Word"}}},
    {"$ref": "#/components/schemas/Tree"},
    {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
    {
        "allOf": [
            {"$ref": "#/components/schemas/Tree"},
            {"properties": {"more": {"type": "integer"}}},
        ]
    },
    {"allOf": [{"$ref": "#/components/schemas/Word"}]},
    {"allOf": [{"type": "integer"}, {"minimum": 8}]},
    {"allOf": [{"type": "string"}, {"minLength": 20}]},
    {"type": "integer", "allOf": [{"minimum": 8}]},
    {"oneOf": [{"type": "integer"}, {"type": "string"}]},
    {"anyOf": [{"$ref": "#/components/schemas/Word"}, {"type": "string"}]},
    {"type": "object", "required": ["a"], "oneOf": [{"properties": {"a": {"type": "integer"}}}]},
    {
        "type": "object",
        "properties": {"a": {}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    },
    {"default": 5, "type": "integer"},
    {"example": "mine", "type": "string"},
    {"not": {"type": "integer"}},
    *(
        {"type": "string", "format": name}
        for name in ("date", "date-time", "time", "email", "uri", "uuid", "ipv4", "ipv6")
    ),
    *({"type": "string", "format": name} for name in ("hostname", "byte", "binary", "password")),
    {"type": "string", "format": "uri", "minLength": 60},
]

ONLY_30 = [
    {"type": "string", "nullable": True},
    {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
    {"type": "number", "maximum": 1, "exclusiveMaximum": True},
    {"nullable": True, "allOf": [{"$ref": "#/components/schemas/Tree"}]},
]

ONLY_31 = [
    {"type": ["string", "null"]},
    {"type": "null"},
    {"type": ["null", "integer"], "exclusiveMinimum": 4},
    {"const": {"a": 1}},
    {"type": "string", "examples": ["mine"]},
    {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 3},
    {"$ref": "#/components/schemas/Tree", "description": "beside a reference"},
    {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2},
    True,
]

CASES = [
    *((schema, version) for schema in BOTH for version in ("3.0.3", "3.1.0")),
    *((schema, "3.0.3") for schema in ONLY_30),
    *((schema, "3.1.0") for schema in ONLY_31),
]


@pytest.mark.parametrize(("schema", "version"), CASES, ids=str)
def test_a_made_up_value_keeps_to_its_schema(schema: Any, version: str) -> None:
    kept(schema, version)


def _numbers(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    bound = st.integers(-50, 50) if kind == "integer" else st.floats(-50, 50)
    lower = {"minimum": bound, "exclusiveMinimum": st.just(False)}
    return st.fixed_dictionaries({"type": st.just(kind)}, optional=lower) | st.fixed_dictionaries(
        {"type": st.just(kind)}, optional={"maximum": bound, "multipleOf": st.sampled_from([1, 3])}
    )


_LEAVES = st.one_of(
    _numbers("integer"),
    _numbers("number"),
    st.just({"type": "boolean"}),
    st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={"minLength": st.integers(0, 9), "maxLength": st.integers(9, 30)},
    ),
    st.fixed_dictionaries({"enum": st.lists(st.sampled_from([1, "a", 2.5]), min_size=1)}),
    st.just({"$ref": "#/components/schemas/Tree"}),
)
_SCHEMAS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("array"), "items": inner},
            optional={"minItems": st.integers(0, 2), "maxItems": st.integers(2, 4)},
        ),
        st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.dictionaries(st.sampled_from("abc"), inner),
            },
            optional={"required": st.lists(st.sampled_from("abcd"), unique=True)},
        ),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"anyOf": parts}),
        inner.map(lambda part: {"allOf": [part]}),
        inner.map(lambda part: {**part, "nullable": True} if "$ref" not in part else part),
    ),
    max_leaves=6,
)


@given(schema=_SCHEMAS)
def test_any_schema_that_can_be_satisfied_is(schema: Any) -> None:
    kept(schema, "3.0.3")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "required": ["again"], "properties": {"again": {"$ref": "#/x-schema"}}},
        {
            "$ref": "#/x-schema/properties/a",
            "properties": {"a": {"allOf": [{"$ref": "#/x-schema"}]}},
        },
        {"type": "array", "minItems": 1, "items": {"$ref": "#/x-schema"}},
        {"type": "string", "pattern": "^(?!a)b(?=c)d$"},
        {"type": "string", "pattern": r"^\p{L}+$"},
        {"type": "string", "enum": []},
        {"type": ["string"], "allOf": [{"type": "integer"}]},
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"not": {}},
    ],
    ids=str,
)
def test_a_schema_that_cannot_be_satisfied_is_no_failure(schema: Any) -> None:
    compiler, node = schemas(schema, "3.1.0")
    Sampler(compiler, 7).value(node)


def test_an_expression_that_may_contain_itself_comes_to_an_end() -> None:
    reference = {"$ref": "#/x-schema"}
    sums = {"type": "object", "required": ["sum"], "properties": {"sum": reference}}
    value = kept({"oneOf": [sums, {"type": "integer"}]}, "3.0.3")
    assert value == {"sum": 1}


def test_what_contains_itself_is_shown_once_within_itself() -> None:
    value = kept({"$ref": "#/components/schemas/Tree"}, "3.0.3")
    assert set(value) == {"name", "children", "twin"}
    assert set(value["twin"]) == set(value["children"][0]) == {"name"}


def test_schemas_that_all_refer_to_one_another_come_to_an_end() -> None:
    everyone = {name: {"$ref": f"#/x-schema/{name}"} for name in "abcdefgh"}
    members = {name: {"type": "object", "properties": everyone} for name in "abcdefgh"}
    compiler, node = schemas(members)
    first = node.child("a")
    assert first is not None
    assert len(str(Sampler(compiler, 7).value(first))) < 1_000_000


@pytest.mark.parametrize(
    ("name", "part"),
    [("email", "@example."), ("url", "https://example.com/"), ("first_name", "")],
)
def test_a_text_looks_like_what_its_member_is_for(name: str, part: str) -> None:
    value = kept({"type": "object", "properties": {name: {"type": "string"}}}, "3.1.0")
    assert part in value[name]


def test_an_example_that_breaks_its_schema_is_passed_over() -> None:
    assert kept({"type": "integer", "example": "many", "default": 5}, "3.0.3") == 5


MEMBERS = {"name": {"type": "string"}}


@pytest.mark.parametrize("kind", [{"type": "object"}, {}])
def test_an_example_of_an_object_may_be_written_as_a_text_of_json(kind: dict[str, str]) -> None:
    schema = {**kind, "properties": MEMBERS, "example": '{"name": "Ada"}'}
    assert kept(schema, "3.0.3") == {"name": "Ada"}


@pytest.mark.parametrize("kind", [{"type": "array"}, {}])
def test_an_example_of_a_list_may_be_written_as_a_text_of_json(kind: dict[str, str]) -> None:
    schema = {**kind, "items": {"type": "integer"}, "example": "[1, 2]"}
    assert kept(schema, "3.0.3") == [1, 2]


@pytest.mark.parametrize("example", ["see below", "[1]", 7, None, '{"a":' * 900 + "1" + "}" * 900])
def test_an_example_that_is_no_object_is_passed_over_where_a_schema_has_members(
    example: Any,
) -> None:
    made = kept({"properties": MEMBERS, "example": example}, "3.0.3")
    assert isinstance(made["name"], str)


def test_an_example_of_a_text_stays_a_text_where_it_may_be_one() -> None:
    schema = {"type": ["object", "string"], "properties": MEMBERS, "example": '{"name": "Ada"}'}
    assert kept(schema, "3.1.0") == '{"name": "Ada"}'


def test_another_seed_gives_another_value() -> None:
    compiler, node = schemas({"type": "string", "minLength": 30})
    assert Sampler(compiler, 1).value(node) != Sampler(compiler, 2).value(node)


def nested(levels: int) -> dict[str, Any]:
    """Returns a schema that requires four values at each of so many levels."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        members = dict.fromkeys("abcd", schema)
        schema = {"type": "object", "required": [*members], "properties": members}
    return schema


@pytest.mark.parametrize(
    ("schema", "limit"),
    [
        ({"type": "array", "minItems": 10**9, "items": {"type": "string"}}, "sample-values"),
        ({"type": "object", "minProperties": 10**9}, "sample-values"),
        (nested(4), "sample-values"),
        ({"type": "string", "minLength": 10**9}, "sample-characters"),
    ],
)
def test_a_schema_that_requires_too_much_is_refused(schema: Any, limit: str, monkeypatch) -> None:
    few = Limit("sample-values", 100, "values", 500)
    monkeypatch.setattr("understudy.openapi.sampler.SAMPLE_VALUES", few)
    compiler, node = schemas(schema)
    sampler = Sampler(compiler, 7)
    with pytest.raises(LimitExceeded, match=limit):
        sampler.value(node)


def test_the_efforts_for_a_value_share_one_time_limit(monkeypatch) -> None:
    now = itertools.count(0.0, 0.01)  # each look at the clock takes 10 ms
    monkeypatch.setattr("understudy.openapi.sampler.thread_time", lambda: next(now))
    compiler, node = schemas(nested(6))
    with pytest.raises(LimitExceeded, match="sample-seconds"):
        Sampler(compiler, 7).value(node)
    assert next(now) < SAMPLE_SECONDS.most + 1

"""Schemas of both dialects judge alike, and name the place in the document as it was written."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from understudy.errors import StartupError
from understudy.limits import BACKTRACKED_CHARACTERS
from understudy.mock.server.parameters import first_error
from understudy.openapi import validators
from understudy.openapi.composition import knots
from understudy.openapi.loader import Document, Node
from understudy.openapi.schemas import ALL, Schemas
from understudy.openapi.validators import SchemaValidator

PARTS = """
x-schema: {schema}
components:
  schemas:
    Text: {{type: string}}
    Maybe: {{type: string, nullable: true}}
    Tree:
      type: object
      required: [name]
      properties:
        name: {{type: string}}
        children: {{type: array, items: {{$ref: '#/components/schemas/Tree'}}}}
"""


@pytest.fixture(autouse=True, params=[validators.MOST_REFERENCES, 0], ids=["whole", "split"])
def _with_references(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiles schemas with all that they refer to, and as in a document of many references."""
    monkeypatch.setattr(validators, "MOST_REFERENCES", request.param)


def schemas(read, schema: str, version: str = "3.0.3") -> tuple[Schemas, Node]:
    document: Document = read(PARTS.format(schema=schema), version)
    node = document.root.child("x-schema")
    assert node is not None
    return Schemas(document), node


def takes(read, schema: str, value: Any, version: str = "3.0.3") -> bool:
    compiler, node = schemas(read, schema, version)
    return compiler.validator(node).is_valid(value)


NULLABLE = [
    "{type: string, nullable: true}",
    "{type: string, enum: [a], nullable: true}",
    "{type: string, enum: [a, null], nullable: true}",
    "{enum: [a], nullable: true}",
    "{$ref: '#/components/schemas/Text', nullable: true}",
    "{allOf: [{$ref: '#/components/schemas/Text'}], nullable: true}",
    "{type: string, allOf: [{$ref: '#/components/schemas/Text'}], nullable: true}",
    "{allOf: [{type: string}, {allOf: [{enum: [a]}]}], nullable: true}",
    "{anyOf: [{type: string}, {type: integer}], nullable: true}",
    "{oneOf: [{type: string}, {type: integer}], nullable: true}",
    "{oneOf: [{$ref: '#/components/schemas/Maybe'}, {type: integer}], nullable: true}",
    "{$ref: '#/components/schemas/Maybe'}",
    "{nullable: true}",
]


@pytest.mark.parametrize("schema", NULLABLE)
def test_a_nullable_schema_takes_null_and_what_it_took_before(read, schema: str) -> None:
    assert takes(read, schema, None)
    assert takes(read, schema, "a")


@pytest.mark.parametrize("schema", NULLABLE[:-1])
def test_a_nullable_schema_still_refuses_what_it_refused_before(read, schema: str) -> None:
    assert not takes(read, schema, [])


@pytest.mark.parametrize("schema", ["{type: string}", "{type: string, nullable: false}"])
def test_what_is_not_nullable_refuses_null(read, schema: str) -> None:
    assert not takes(read, schema, None)


def test_nullable_means_nothing_in_3_1(read) -> None:
    assert not takes(read, "{type: string, nullable: true}", None, "3.1.0")
    assert takes(read, "{type: [string, 'null']}", None, "3.1.0")


@pytest.mark.parametrize(
    ("schema", "taken", "refused"),
    [
        ("{minimum: 1, exclusiveMinimum: true}", 2, 1),
        ("{maximum: 1, exclusiveMaximum: true}", 0, 1),
        ("{minimum: 1, exclusiveMinimum: false}", 1, 0),
        ("{type: integer, exclusiveMinimum: true}", -5, "a"),
    ],
)
def test_boolean_bounds_of_3_0_are_understood(
    read, schema: str, taken: int, refused: object
) -> None:
    assert takes(read, schema, taken)
    assert not takes(read, schema, refused)


def test_numeric_bounds_of_3_1_are_understood(read) -> None:
    assert not takes(read, "{exclusiveMinimum: 1}", 1, "3.1.0")


@pytest.mark.parametrize(
    "name", ["nullable", "default", "example", "enum", "properties", "minimum"]
)
def test_a_property_may_be_named_like_a_keyword(read, name: str) -> None:
    schema = f"{{properties: {{{name}: {{type: integer, nullable: true}}}}}}"
    assert takes(read, schema, {name: None})
    assert not takes(read, schema, {name: "a"})


def test_the_schema_of_a_default_response_is_read_in_its_dialect(read) -> None:
    document = read(
        "paths: {/a: {get: {responses: {default: {content: {a/b: {schema: "
        "{type: string, nullable: true}}}}}}}}"
    )
    steps = ("paths", "/a", "get", "responses", "default", "content", "a/b", "schema")
    node = document.root.child(*steps)
    assert Schemas(document).validator(node).is_valid(None)


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_what_is_inside_of_a_nullable_schema_keeps_its_pointer(read, keyword: str) -> None:
    compiler, node = schemas(
        read, f"{{nullable: true, {keyword}: [{{properties: {{a: {{type: integer}}}}}}]}}"
    )
    inner = node.child(keyword, 0, "properties", "a")
    assert inner is not None
    assert compiler.validator(inner).is_valid(1)
    assert not compiler.validator(inner).is_valid("a")


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_an_error_names_the_place_in_the_value(read, version: str) -> None:
    compiler, node = schemas(read, "{$ref: '#/components/schemas/Tree'}", version)
    (error,) = compiler.validator(node).iter_errors(
        {"name": "a", "children": [{"name": "b"}, {"name": 3}]}
    )
    assert error.instance_path == ["children", 1, "name"]


_TREES = st.recursive(
    st.fixed_dictionaries({"name": st.text()}),
    lambda inner: st.fixed_dictionaries({"name": st.text(), "children": st.lists(inner)}),
)


@given(tree=_TREES)
@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_schema_that_contains_itself_judges_every_level(read, tree: Any) -> None:
    assert takes(read, "{$ref: '#/components/schemas/Tree'}", tree)
    assert not takes(read, "{$ref: '#/components/schemas/Tree'}", {**tree, "children": [tree, {}]})


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
@pytest.mark.parametrize(
    ("format_", "taken", "refused"),
    [
        ("date", "2026-03-01", "2026-13-01"),
        ("date-time", "2026-03-01T10:00:00Z", "2026-03-01"),
        ("email", "a@example.com", "nobody"),
        ("uri", "https://example.com/a", "not a uri"),
        ("uuid", "12345678-1234-1234-1234-123456789abc", "1"),
        ("ipv4", "127.0.0.1", "999.0.0.1"),
    ],
)
def test_formats_are_judged(read, version: str, format_: str, taken: str, refused: str) -> None:
    schema = f"{{type: string, format: {format_}}}"
    assert takes(read, schema, taken, version)
    assert not takes(read, schema, refused, version)


def test_a_pattern_in_words_of_javascript_is_judged(read) -> None:
    assert takes(read, r"{pattern: '^(?!no)\\d{2}$'}".replace("\\\\", "\\"), "12")


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
@pytest.mark.parametrize("schema", ["{type: text}", "{pattern: '['}", "{required: a}"])
def test_what_is_no_schema_is_refused_by_file_and_pointer(read, version: str, schema: str) -> None:
    compiler, node = schemas(read, schema, version)
    with pytest.raises(StartupError, match=r"api\.yaml: #/x-schema is not a schema: "):
        compiler.compiler.expect_valid(node)
    assert compiler.validator(node).is_valid("anything")  # it is open, and lint reports it


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_a_pattern_that_looks_back_is_not_tried_where_it_takes_long(read, version: str) -> None:
    compiler, node = schemas(read, r"{type: string, pattern: '(?=(a+))\1b'}", version)
    assert compiler.validator(node).is_valid("xb a") is False
    (error,) = compiler.validator(node).iter_errors("a" * BACKTRACKED_CHARACTERS.most)
    assert error.message.endswith(r'does not match "(?=(a+))\1b"')
    assert compiler.validator(node).is_valid("a" * 1_000_000)  # it took the square of that


def test_one_place_has_one_validator(read) -> None:
    compiler, node = schemas(read, "{type: string}")
    assert compiler.validator(node) is compiler.validator(node)


def test_a_schema_that_is_only_a_reference_has_the_validator_of_its_target(read) -> None:
    compiler, node = schemas(read, "{$ref: '#/components/schemas/Text'}")
    assert compiler.validator(node) is compiler.validator(compiler.follow(node))


@pytest.mark.parametrize("beside", ["nullable: true", "description: A name"])
def test_a_reference_beside_other_members_has_a_validator_of_its_own(read, beside: str) -> None:
    compiler, node = schemas(read, f"{{$ref: '#/components/schemas/Text', {beside}}}")
    assert compiler.validator(node) is not compiler.validator(compiler.follow(node))


def test_a_reference_that_leads_nowhere_is_not_reported_before_its_schema_is_compiled(read) -> None:
    compiler, node = schemas(read, "{$ref: '#/components/schemas/Gone'}")
    assert isinstance(compiler.validator(node), SchemaValidator)


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ("{}", set()),
        ("{type: string}", {"string"}),
        ("{type: [integer, 'null']}", {"integer", "null"}),
        ("{type: integer, nullable: true}", {"integer", "null"}),
        ("{$ref: '#/components/schemas/Tree'}", {"object"}),
        ("{allOf: [{type: integer}, {minimum: 1}]}", {"integer"}),
        ("{anyOf: [{type: integer}, {oneOf: [{type: string}]}]}", {"integer", "string"}),
        ("{enum: [1, a, 1.5, true, null]}", {"integer", "string", "number", "boolean", "null"}),
        ("{const: [1]}", {"array"}),
        ("true", set()),
    ],
)
def test_the_types_of_a_schema_are_those_it_names(read, schema: str, types: set[str]) -> None:
    compiler, node = schemas(read, schema, "3.1.0")
    assert compiler.types(node) == types


@pytest.mark.parametrize(
    ("schema", "is_file"),
    [
        ("{type: string, format: binary}", True),
        ("{allOf: [{type: string}, {format: binary}]}", True),
        ("{type: string, contentMediaType: image/png}", True),
        ("{contentMediaType: image/png, contentEncoding: base64}", False),
        ("{}", True),
        ("true", False),
        ("{type: string}", False),
    ],
)
def test_a_member_of_a_form_is_a_file_in_the_words_of_each_version(read, schema, is_file) -> None:
    compiler, node = schemas(read, schema, "3.1.0")
    assert compiler.is_file(node) is is_file


def test_members_are_found_through_references_and_composition(read) -> None:
    compiler, node = schemas(
        read,
        "{allOf: [{$ref: '#/components/schemas/Tree'}, {required: [b], properties: {b: {}}}],"
        " properties: {a: {}}}",
    )
    assert list(compiler.members(node, ALL)) == ["a", "name", "children", "b"]
    assert compiler.required_names(node) == ["name", "b"]
    assert compiler.members(node)["name"].pointer == "#/components/schemas/Tree/properties/name"
    assert compiler.members(None) == {}
    assert compiler.types(None) == set()


def test_the_items_of_an_array_are_found_through_a_reference(read) -> None:
    compiler, node = schemas(read, "{items: {$ref: '#/components/schemas/Text'}}")
    items = compiler.items(node)
    assert items is not None
    assert compiler.follow(items).pointer == "#/components/schemas/Text"


def test_a_schema_that_is_composed_of_too_many_is_refused_before_it_is_compiled(read):
    levels = [f"L{n}: {{allOf: [{', '.join(9 * [ref(n + 1)])}]}}" for n in range(12)]
    document = read("components:\n  schemas:\n    " + "\n    ".join([*levels, "L12: {}"]), "3.1.0")
    compiler = Schemas(document)
    first = document.root.child("components", "schemas", "L0")
    last = document.root.child("components", "schemas", "L10")
    assert first is not None
    assert last is not None
    with pytest.raises(
        StartupError, match=r"#/components/schemas/L0 is composed of [0-9,]{15,} sch"
    ):
        compiler.compiler.expect_bounded(first)
    assert compiler.validator(first).is_valid(1)  # it is open, and was never compiled
    assert compiler.validator(last).is_valid(1)


def test_a_member_that_is_composed_of_too_many_is_refused_with_its_object(read) -> None:
    levels = [f"L{n}: {{allOf: [{', '.join(9 * [ref(n + 1)])}]}}" for n in range(12)]
    top = f"Top: {{properties: {{enum: {{items: {ref(0)}}}}}}}"
    text = "components:\n  schemas:\n    " + "\n    ".join([*levels, "L12: {}", top])
    document = read(text, "3.1.0")
    schema = document.root.child("components", "schemas", "Top")
    assert schema is not None
    with pytest.raises(StartupError, match=r"is composed of [0-9,]{15,} schemas"):
        Schemas(document).compiler.expect_bounded(schema)


def ref(number: int) -> str:
    return f"{{$ref: '#/components/schemas/L{number}'}}"


def in_circles(read, keyword: str, count: int) -> SchemaValidator:
    """Returns the validator of the first of schemas that are each composed of all others."""
    others = {n: ", ".join(ref(m) for m in range(count) if m != n) for n in range(count)}
    levels = [f"L{n}: {{maxLength: {count - n}, {keyword}: [{others[n]}]}}" for n in others]
    document = read("components:\n  schemas:\n    " + "\n    ".join(levels))
    first = document.root.child("components", "schemas", "L0")
    assert first is not None
    return Schemas(document).validator(first)


def test_errors_are_placed_alike_through_references(read) -> None:
    compiler, node = schemas(read, "{properties: {tree: {$ref: '#/components/schemas/Tree'}}}")
    value = {"tree": {"name": "a", "children": [{"name": "b"}, {"name": 1}]}}
    (error,) = compiler.validator(node).iter_errors(value)
    assert error.message == '1 is not of type "string"'
    assert list(error.instance_path) == ["tree", "children", 1, "name"]
    place = compiler.place(error.schema_path)
    assert place.pointer == "#/components/schemas/Tree/properties/name/type"
    assert error.kind.name == "type"
    assert error.instance == 1


def test_an_alternative_that_is_a_reference_is_judged(read) -> None:
    schema = "{anyOf: [{type: integer}, {$ref: '#/components/schemas/Tree'}]}"
    compiler, node = schemas(read, schema)
    (error,) = compiler.validator(node).iter_errors({"name": 1})
    assert error.kind.name == "anyOf"
    assert compiler.validator(node).is_valid({"name": "a", "children": []})


def test_what_keeps_a_value_from_the_closest_alternative_is_said(read) -> None:
    schema = "{oneOf: [{$ref: '#/components/schemas/Tree'}, {$ref: '#/components/schemas/Text'}]}"
    compiler, node = schemas(read, schema)
    value = {"name": "elm", "children": [{}]}
    expected = 'of the closest, children.0: "name" is a required property.'
    assert first_error(compiler.validator(node), value).endswith(expected)


def with_alternatives(errors: Iterable[Any]) -> Iterator[Any]:
    """Yields errors, and those of the alternatives within them."""
    for error in errors:
        yield error
        yield from with_alternatives(chain.from_iterable(getattr(error.kind, "context", ())))


def test_why_no_alternative_fits_is_listed_once_of_schemas_in_circles(read) -> None:
    errors = with_alternatives(in_circles(read, "oneOf", 7).iter_errors("a long text"))
    pointers = ["/".join(map(str, error.schema_path)) for error in errors]
    assert len(pointers) == len(set(pointers))


def test_an_error_behind_a_reference_is_found_in_a_schema_of_a_list(read) -> None:
    compiler, node = schemas(read, "[{type: array, items: {$ref: '#/components/schemas/Text'}}]")
    errors = compiler.validator(Node(f"{node.pointer}/0", node.value[0])).iter_errors([7])
    assert [error.message for error in errors] == ['7 is not of type "string"']


def test_schemas_that_are_each_composed_of_all_others_are_judged_at_once(read) -> None:
    validator = in_circles(read, "allOf", 9)
    assert validator.is_valid("a")
    assert not validator.is_valid("ab")
    messages = [error.message for error in validator.iter_errors("abcdefgh")]
    assert len(messages) == 8 - 1
    assert '"abcdefgh" is longer than 1 character' in messages


def test_schemas_composed_of_one_another_beside_unevaluated_members_are_refused(read) -> None:
    mutual = [f"L{n}: {{allOf: [{ref(n - 1)}, {ref(n + 1)}]}}" for n in range(1, 30)]
    ends = [f"L0: {{allOf: [{ref(1)}]}}", "L30: {unevaluatedProperties: false}"]
    text = "components:\n  schemas:\n    " + "\n    ".join([*mutual, *ends])
    document = read(text, "3.1.0")
    first = document.root.child("components", "schemas", "L0")
    assert first is not None
    with pytest.raises(StartupError, match="is composed of itself in several ways"):
        Schemas(document).compiler.expect_bounded(first)


def test_alternatives_that_contain_their_base_do_not_change_how_references_are_judged(read) -> None:
    kinds = [f"L{n}: {{allOf: [{ref(0)}, {{required: [kind]}}]}}" for n in range(1, 9)]
    base = f"L0: {{oneOf: [{', '.join(map(ref, range(1, 9)))}]}}"
    document = read("components:\n  schemas:\n    " + "\n    ".join([*kinds, base]))
    assert not knots(document.raw)


def test_types_are_named_once_by_levels_of_alternatives(read) -> None:
    levels = [f"L{n}: {{oneOf: [{ref(n + 1)}, {ref(n + 1)}]}}" for n in range(60)]
    end = "L60: {enum: [1, a]}"
    document = read("components:\n  schemas:\n    " + "\n    ".join([*levels, end]))
    first = document.root.child("components", "schemas", "L0")
    assert Schemas(document).types(first) == {"integer", "string"}


def test_a_nullable_reference_says_what_breaks_it(read) -> None:
    schema = "{nullable: true, allOf: [{$ref: '#/components/schemas/Tree'}]}"
    compiler, node = schemas(read, schema)
    assert compiler.validator(node).is_valid(None)
    (error,) = compiler.validator(node).iter_errors({"children": []})
    assert '"name" is a required property' in first_error(
        compiler.validator(node), {"children": []}
    )
    assert error.instance_path == []


def test_the_faults_of_a_large_value_are_not_listed(read) -> None:
    compiler, node = schemas(read, "{type: array, items: {type: integer}}")
    (error,) = compiler.validator(node).iter_errors([""] * 100_001)
    assert error.message == "it breaks its schema, and is too large to say where"
    assert not list(compiler.validator(node).iter_errors([1] * 100_001))
    assert len(list(compiler.validator(node).iter_errors([""] * 1000))) == 1000

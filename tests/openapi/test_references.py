"""References lead to other files, to anchors and identifiers, and where they lead nowhere, to 501."""

from pathlib import Path
from urllib.parse import quote

import pytest

from understudy.openapi.loader import Document, load
from understudy.openapi.operations import operations
from understudy.openapi.pointers import value_at
from understudy.openapi.schemas import Schemas

HEAD = "openapi: 3.1.0\ninfo: {title: a, version: '1'}\n"


def write(directory: Path, **files: str) -> Document:
    """Writes files, named with __ for a slash, and loads the document among them."""
    for name, text in files.items():
        path = directory / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((HEAD if name == "api" else "") + text)
    return load(directory / "api.yaml")


def takes(document: Document, value: object, *steps: str) -> bool:
    node = document.root.child(*steps)
    assert node is not None
    return Schemas(document).validator(node).is_valid(value)


def a(schema: str) -> str:
    return f"components: {{schemas: {{A: {schema}}}}}"


A = ("components", "schemas", "A")


def test_a_file_is_read_with_all_that_it_refers_to(tmp_path: Path) -> None:
    document = write(
        tmp_path,
        api="paths: {/a: {$ref: paths/a.yaml}}",
        paths__a="get: {responses: {200: {$ref: '../all.yaml#/responses/A'}}}",
        all="responses: {A: {description: '', content: {a/b: {schema: {$ref: '#/s/A'}}}}}\n"
        "s: {A: {properties: {a: {$ref: '#/s/A'}, b: {type: integer}}}}",
    )
    (operation,) = operations(document)
    schema = operation.responses["200"].content["a/b"].schema
    assert schema is not None
    validator = Schemas(document).validator(schema)
    assert validator.is_valid({"a": {"b": 1}})
    assert not validator.is_valid({"a": {"b": "one"}})
    assert document.losses == ()


def test_a_reference_in_place_of_a_map_or_a_list_is_read_as_bundlers_read_it(
    tmp_path: Path,
) -> None:
    document = write(
        tmp_path,
        api="paths: {$ref: paths/all.yaml}\ncomponents: {$ref: components.yaml}\nservers: {$ref: servers.yaml}",
        servers="[{url: /v1}]",
        components="schemas: {$ref: schemas.yaml}",
        schemas="A: {required: [a], properties: {$ref: 'parts.yaml#/members'}}",
        parts="members: {a: {$ref: '#/b'}}\nb: {type: integer}\nlimits: [{$ref: '#/limit'}]\n"
        "limit: {name: limit, in: query, schema: {type: integer}}",
        paths__all="$ref: more.yaml",
        paths__more="/a: {parameters: {$ref: '../parts.yaml#/limits'}, get: {responses: {$ref: got.yaml},"
        " requestBody: {content: {a/b: {schema: {$ref: '../api.yaml#/components/schemas/A'}}}}}}",
        paths__got="200: {description: got}",
    )
    (operation,) = operations(document)
    assert operation.parameters[0].name == "limit"
    assert [*operation.responses] == ["200"]
    assert document.base_path == "/v1"
    assert takes(document, {"a": 1}, *A)
    assert not takes(document, {"a": "one"}, *A)
    assert {it.rule for it in document.losses} == {"misplaced-reference"}


def test_an_example_that_is_only_a_reference_is_read_as_what_it_leads_to(tmp_path: Path) -> None:
    document = write(
        tmp_path,
        api="paths: {}\ncomponents: {examples: {A: {value: {$ref: 'all.yaml#/a'}}, B: {value: {$ref: it}}},"
        " schemas: {A: {example: {$ref: 'all.yaml#/a'}}}}",
        all="a: {b: 1}",
    )
    components = document.raw["components"]
    assert components["examples"] == {"A": {"value": {"b": 1}}, "B": {"value": {"$ref": "it"}}}
    assert components["schemas"]["A"]["example"] == {"b": 1}
    assert {it.rule for it in document.losses} == {"misplaced-reference"}


def test_a_reference_to_something_else_in_place_of_a_map_is_left_out(tmp_path: Path) -> None:
    document = write(
        tmp_path,
        api="paths: {}\ncomponents: {schemas: {A: {properties: {$ref: '#/components/schemas/B'}}, B: {type: string}}}",
    )
    assert document.raw["components"]["schemas"]["A"] == {}
    assert [it.rule for it in document.losses] == ["dangling-reference"]


def test_an_operation_may_be_a_file_that_several_paths_share(tmp_path: Path) -> None:
    document = write(
        tmp_path,
        api="paths: {/a: {get: {$ref: get.yaml}}, /b: {get: {$ref: get.yaml}, put: {$ref: no}}}",
        get="{operationId: get, responses: {200: {description: ''}}}",
    )
    assert [it.operation_id for it in operations(document)] == ["get", "get_2", "PUT /b"]
    assert list(operations(document)[2].responses) == ["501"]


def test_a_file_may_refer_back_to_the_document(tmp_path: Path) -> None:
    document = write(
        tmp_path,
        api=a("{$ref: b.yaml}") + "\nx-text: {type: string}",
        b="{items: {$ref: 'api.yaml#/x-text'}}",
    )
    assert takes(document, ["a"], *A)
    assert not takes(document, [1], *A)


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("b.yaml", "there is no file 'b.yaml' in the document's directory"),
        ("../b.yaml", "reads nothing; bundle the document into one file"),
        ("c/../../b.yaml", "leads out of the document's directory"),
        ("/etc/hostname", "leads out of the document's directory"),
        ("link.yaml", "leads through a symbolic link"),
        ("linked/b.yaml", "leads through a symbolic link"),
        ("bad.yaml", "is not readable as YAML"),
        ("http://127.0.0.1:1/b.yaml", "is an address, and understudy fetches nothing"),
        ("#/nowhere", "leads nowhere"),
        ("#", "leads to the whole document"),
        ("#nobody", "names an anchor that no schema has"),
        ("#/components/schemas/A", "leads back to itself"),
    ],
)
def test_a_reference_that_cannot_be_followed_says_why(
    tmp_path: Path, reference: str, reason: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b.yaml").write_text("{type: string}")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link.yaml").symlink_to(outside / "b.yaml")
    (inside / "linked").symlink_to(outside)
    (inside / "bad.yaml").write_text("a: [")
    (loss,) = write(inside, api=a(f"{{$ref: '{reference}'}}")).losses
    assert (loss.rule, loss.pointer) == ("dangling-reference", "#/components/schemas/A")
    assert reason in loss.message


def test_references_in_a_circle_are_given_up(tmp_path: Path) -> None:
    document = write(
        tmp_path,
        api="components: {schemas: {A: {$ref: '#/components/schemas/B'},"
        " B: {$ref: '#/components/schemas/A'}}}",
    )
    assert [it.rule for it in document.losses] == ["dangling-reference"]
    assert takes(document, 1, *A)


@pytest.mark.parametrize("keyword", ["$defs", "definitions"])
def test_a_pointer_may_mean_the_schema_that_it_stands_in(tmp_path: Path, keyword: str) -> None:
    schema = f"{{items: {{$ref: '#/{keyword}/B'}}, {keyword}: {{B: {{type: string}}}}}}"
    document = write(tmp_path, api=a(schema))
    assert [it.rule for it in document.losses] == ["relative-pointer"]
    assert takes(document, ["a"], *A)
    assert not takes(document, [1], *A)


@pytest.mark.parametrize(
    "reference",
    ["b", "b#/$defs/T", "https://example.com/s/b", "#text", "b#text", "../s/b"],
)
def test_identifiers_and_anchors_of_schemas_are_followed(tmp_path: Path, reference: str) -> None:
    document = write(
        tmp_path,
        api=f"""
components:
  schemas:
    A:
      $id: https://example.com/s/a
      items: {{$ref: '{reference}'}}
      $defs: {{C: {{$anchor: text, type: string}}}}
    B:
      $id: https://example.com/s/b
      type: string
      $defs: {{T: {{$anchor: text, $ref: '#/$defs/U'}}, U: {{type: string}}}}
""",
    )
    assert document.losses == ()
    assert takes(document, ["a"], *A)
    assert not takes(document, [1], *A)


def test_a_dynamic_reference_with_one_target_is_a_reference(tmp_path: Path) -> None:
    document = write(
        tmp_path,
        api=a("{$dynamicAnchor: t, type: object, additionalProperties: {$dynamicRef: '#t'}}"),
    )
    assert document.losses == ()
    assert takes(document, {"a": {"b": {}}}, *A)
    assert not takes(document, {"a": {"b": 1}}, *A)


def test_a_dynamic_reference_with_several_targets_takes_any_value(tmp_path: Path) -> None:
    document = write(
        tmp_path,
        api="components: {schemas: {A: {items: {$dynamicRef: '#t'}, $defs:"
        " {T: {$dynamicAnchor: t, not: {}}}}, B: {$defs: {T: {$dynamicAnchor: t}}}}}",
    )
    assert [it.rule for it in document.losses] == ["dynamic-reference"]
    assert takes(document, [1], *A)


def test_a_dynamic_reference_that_others_redefine_means_its_own_schema(tmp_path: Path) -> None:
    tree = "{$dynamicAnchor: t, type: object, additionalProperties: {$dynamicRef: '#t'}}"
    document = write(
        tmp_path,
        api="components: {schemas: {Strict: {$dynamicAnchor: t, $ref: '#/components/schemas/A',"
        f" maxProperties: 1}}, A: {tree}}}}}",
    )
    assert [it.rule for it in document.losses] == ["dynamic-reference"]
    assert takes(document, {"a": {"b": {}, "c": {}}}, *A)
    assert not takes(document, {"a": {"b": 1}}, *A)
    assert not takes(document, {"a": {}, "b": {}}, "components", "schemas", "Strict")


def test_what_a_discriminator_maps_to_is_followed_into_files(tmp_path: Path) -> None:
    document = write(
        tmp_path,
        api=a("{discriminator: {propertyName: k, mapping: {b: b.yaml, c: c.yaml, d: D}}}"),
        b="{type: object}",
    )
    mapping = value_at(document.raw, "#/components/schemas/A/discriminator/mapping")
    assert mapping == {"b": "#/x-files/b.yaml", "d": "D"}
    assert [it.pointer for it in document.losses] == [
        "#/components/schemas/A/discriminator/mapping/c"
    ]


DANGLING = """
paths:
  /direct: {get: {responses: {200: {$ref: '#/components/responses/Gone'}}}}
  /deep:
    get: {responses: {200: {description: '', content: {a/b: {schema: {$ref:
      '#/components/schemas/A'}}}}}}
  /shared:
    parameters: [{$ref: '#/components/parameters/Gone'}]
    get: {operationId: shared, security: [{key: []}], responses: {}}
  /example:
    get: {responses: {200: {description: '', content: {a/b: {examples: {e: {$ref: '#/e'}}}}}}}
  /fine: {get: {responses: {200: {description: fine}}}}
components:
  schemas: {A: {items: {$ref: '#/components/schemas/B'}}, B: {not: {$ref: gone.yaml}}}
"""


@pytest.mark.parametrize(
    ("pointer", "reason"),
    [
        ("#/paths/~1direct/get/responses/200", "leads nowhere; the response has no content."),
        ("#/components/schemas/B/not", "in the document's directory; any value is taken."),
        ("#/paths/~1shared/parameters/0", "leads nowhere; the parameter is not read."),
    ],
)
def test_a_reference_that_dangles_opens_what_it_should_describe(
    tmp_path: Path, pointer: str, reason: str
) -> None:
    document = write(tmp_path, api=DANGLING)
    (message,) = [
        it.message
        for it in document.losses
        if it.pointer == pointer and it.rule == "dangling-reference"
    ]
    assert message.endswith(reason)
    served = {it.path: list(it.responses) for it in operations(document)}
    others = {path: ["200"] for path in ("/direct", "/deep", "/example", "/fine")}
    assert served == {**others, "/shared": []}
    assert takes(document, {"items": [1]}, *A)
    assert takes(document, 1, "components", "schemas", "B")


def test_a_dangling_alternative_takes_any_value(tmp_path: Path) -> None:
    document = write(tmp_path, api=a("{oneOf: [{$ref: '#/gone'}, {type: integer}]}"))
    assert takes(document, 1, *A)
    assert takes(document, "a", *A)


EQUAL = """
paths: {}
components:
  schemas:
    A:
      oneOf:
        - {$ref: '#/components/schemas/Locked'}
        - {type: object, title: Gone, properties: {title: {type: string, description: Why.}}}
        - {type: integer}
    Locked: {type: object, description: It is locked., properties: {title: {type: string}}}
    B: {oneOf: [{required: [title], properties: {title: {}}}, {required: [description], properties: {description: {}}}]}
    C: {oneOf: [{allOf: [{required: [id], properties: {id: {}}}]}, {type: object, required: [id], properties: {id: {}, description: {}}}]}
    D: {oneOf: [{properties: {id: {}, kind: {enum: [a]}}}, {properties: {id: {}, kind: {enum: [b]}}}]}
"""


def test_equal_alternatives_may_be_valid_together(tmp_path: Path) -> None:
    document = write(tmp_path, api=EQUAL)
    assert [(it.rule, it.pointer) for it in document.losses] == [
        ("equal-alternatives", "#/components/schemas/A/oneOf"),
        ("equal-alternatives", "#/components/schemas/C/oneOf"),
    ]
    assert takes(document, {"title": "a"}, *A)
    assert takes(document, {"id": 1}, "components", "schemas", "C")
    assert not takes(document, {"id": 1}, "components", "schemas", "D")
    assert not takes(document, {"title": 1}, *A)


@pytest.mark.parametrize(
    ("kinds", "is_taken"),
    [
        ("{type: string}, {type: string}", True),
        ("{enum: [a, b]}, {enum: [b, c]}", True),
        ("{enum: [a]}, {const: b}", False),
    ],
)
def test_alternatives_that_only_a_discriminator_tells_apart_may_be_valid_together(
    tmp_path: Path, kinds: str, is_taken: bool
) -> None:
    first, second = kinds.split(", {")
    api = f"""
paths: {{}}
components:
  schemas:
    A:
      oneOf: [{{$ref: '#/components/schemas/B'}}, {{properties: {{kind: {{{second}, size: {{}}}}}}]
      discriminator: {{propertyName: kind}}
    B: {{allOf: [{{type: object}}, {{properties: {{kind: {first}}}}}]}}
"""
    document = write(tmp_path, api=api)
    assert takes(document, {}, *A) is is_taken


@pytest.mark.parametrize("name", ["Page«Pet»", "Seite(Tür)", "Page[Pet]", "a b", "50%"])
@pytest.mark.parametrize("is_encoded", [False, True])
@pytest.mark.parametrize("most", [500, 0])
def test_a_name_may_be_of_any_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_encoded: bool, most: int
) -> None:
    monkeypatch.setattr("understudy.openapi.validators.MOST_REFERENCES", most)
    written = quote(name) if is_encoded or "%" in name else name
    document = write(
        tmp_path,
        api=f"""
paths: {{}}
components:
  schemas:
    A: {{items: {{$ref: '#/components/schemas/{written}'}}}}
    '{name}': {{type: integer}}
""",
    )
    assert not document.losses
    assert takes(document, [1], *A)
    assert not takes(document, ["a"], *A)


@pytest.mark.parametrize("path", ["/example", "/fine"])
def test_operations_that_need_no_dangling_reference_stay_as_they_are(
    tmp_path: Path, path: str
) -> None:
    document = write(tmp_path, api=DANGLING)
    assert list(document.raw["paths"][path]["get"]["responses"]) == ["200"]


def test_a_dangling_parameter_is_told_of_once(read) -> None:
    document = read(
        """
        paths:
          /a:
            get:
              parameters: [{$ref: '#/components/parameters/None'}]
              responses: {'200': {description: ok}}
        """
    )
    assert [it.rule for it in document.losses] == ["dangling-reference"]

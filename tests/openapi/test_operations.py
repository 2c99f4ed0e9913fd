"""Operations are read as values; what a document leaves out is made good, what is wrong is named."""

import pytest

from understudy.openapi.operations import Operation, Parameter, operations


def only(read, text: str, version: str = "3.0.3") -> Operation:
    (found,) = operations(read(text, version))
    return found


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_an_operation_is_read_alike_in_both_versions(read, version: str) -> None:
    operation = only(
        read,
        """
        paths:
          /notes/{id}:
            parameters:
              - {name: id, in: path, required: true, schema: {type: string}}
              - {name: size, in: query, schema: {type: integer}}
            post:
              operationId: makeNote
              parameters: [{$ref: '#/components/parameters/Size'}]
              requestBody: {$ref: '#/components/requestBodies/Note'}
              responses:
                200: {$ref: '#/components/responses/Note'}
                4xx: {description: refused}
              security: [{key: []}, {token: [read, write]}]
        components:
          parameters: {Size: {name: size, in: query, required: true, schema: {type: number}}}
          requestBodies: {Note: {required: true, content: {Application/JSON: {schema: {}}}}}
          responses: {Note: {description: ok, content: {image/png: {}}}}
        """,
        version,
    )
    assert (operation.method, operation.path) == ("POST", "/notes/{id}")
    assert operation.operation_id == "makeNote"
    assert operation.pointer == "#/paths/~1notes~1{id}/post"
    assert [(p.name, p.required) for p in operation.parameters] == [("id", True), ("size", True)]
    assert operation.request_body is not None
    assert operation.request_body.required
    assert list(operation.request_body.content) == ["application/json"]
    assert list(operation.responses) == ["200", "4XX"]
    assert operation.responses["200"].pointer == "#/components/responses/Note"
    assert operation.security == ({"key": ()}, {"token": ("read", "write")})


def parameter(read, text: str) -> Parameter:
    operation = only(read, f"paths: {{/a: {{get: {{parameters: [{text}]}}}}}}")
    return operation.parameters[0]


@pytest.mark.parametrize(
    ("text", "style", "explode"),
    [
        ("{name: a, in: query}", "form", True),
        ("{name: a, in: cookie}", "form", True),
        ("{name: a, in: header}", "simple", False),
        ("{name: a, in: query, style: spaceDelimited}", "spaceDelimited", False),
        ("{name: a, in: query, explode: false}", "form", False),
        ("{name: a, in: query, style: deepObject, explode: true}", "deepObject", True),
    ],
)
def test_style_and_explode_have_the_defaults_of_openapi(
    read, text: str, style: str, explode: bool
) -> None:
    found = parameter(read, text)
    assert (found.style, found.explode) == (style, explode)


def test_a_parameter_with_content_carries_json(read) -> None:
    found = parameter(
        read, "{name: a, in: query, content: {application/json: {schema: {type: object}}}}"
    )
    assert found.is_json
    assert found.schema is not None
    assert found.schema.value == {"type": "object"}


@pytest.mark.parametrize("name", ["Accept", "content-type", "Authorization"])
def test_header_parameters_that_openapi_ignores_are_left_out(read, name: str) -> None:
    operation = only(
        read, f"paths: {{/a: {{get: {{parameters: [{{name: {name}, in: header}}]}}}}}}"
    )
    assert operation.parameters == ()


def test_a_path_parameter_that_only_the_path_names_is_a_text(read) -> None:
    (found,) = only(read, "paths: {'/a/{b}': {get: {}}}").parameters
    assert (found.name, found.location, found.required) == ("b", "path", True)
    assert found.schema is not None
    assert found.schema.value == {"type": "string"}


def test_responses_are_found_by_status_then_class_then_default(read) -> None:
    operation = only(
        read,
        """
        paths:
          /a:
            get:
              responses:
                200: {description: a, content: {a/exact: {}}}
                2XX: {description: b, content: {a/class: {}}}
                default: {description: c, content: {a/default: {}}}
        """,
    )
    found = [operation.response(status) for status in (200, 206, 404)]
    assert [next(iter(r.content)) for r in found if r] == ["a/exact", "a/class", "a/default"]


def test_a_status_without_content_has_none_whatever_is_declared(read) -> None:
    content = "content: {application/json: {schema: {type: object}}}"
    (operation,) = operations(
        read(f"""
paths:
  /a:
    put: {{responses: {{'204': {{description: "", {content}}}, 2XX: {{description: "", {content}}}}}}}
""")
    )
    found = [operation.response(it) for it in (204, 205, 200)]
    contents = [it.content.keys() for it in found if it is not None]
    assert [operation.responses["204"].content, *contents] == [
        {},
        set(),
        set(),
        {"application/json"},
    ]


def test_a_status_that_nothing_covers_has_no_response(read) -> None:
    operation = only(read, "paths: {/a: {get: {responses: {200: {description: a}}}}}")
    assert operation.response(404) is None


def test_security_of_the_document_holds_where_an_operation_has_none_of_its_own(read) -> None:
    found = operations(
        read("security: [{t: []}]\npaths: {/a: {get: {}}, /b: {get: {security: []}}}")
    )
    assert [operation.security for operation in found] == [({"t": ()},), ()]


@pytest.mark.parametrize(
    ("media", "examples"),
    [
        ("{example: {a: 1}}", {"example": {"a": 1}}),
        ("{examples: {one: {value: 1}, two: {externalValue: there}}}", {"one": 1}),
        ("{examples: {one: {$ref: '#/components/examples/One'}}}", {"one": "first"}),
        ("{}", {}),
    ],
)
def test_examples_of_a_body_are_found_in_all_their_forms(
    read, media: str, examples: dict[str, object]
) -> None:
    operation = only(
        read,
        f"paths: {{/a: {{get: {{responses: {{200: {{content: {{a/b: {media}}}}}}}}}}}}}\n"
        "components: {examples: {One: {value: first}}}",
    )
    assert operation.responses["200"].content["a/b"].examples == examples


def test_a_media_type_is_found_without_its_options(read) -> None:
    operation = only(
        read,
        "paths: {/a: {get: {responses: {200: {content: {'application/JSON; charset=utf-8': {}}}}}}}",
    )
    assert list(operation.responses["200"].content) == ["application/json"]


def test_a_path_item_may_be_a_reference_and_hold_more_than_operations(read) -> None:
    operation = only(
        read,
        """
        paths: {/a: {$ref: '#/x-items/a'}}
        x-items: {a: {summary: text, x-more: 1, get: {requestBody: {description: empty}}}}
        """,
    )
    assert operation.operation_id == "GET /a"
    assert operation.pointer == "#/x-items/a/get"
    assert operation.request_body is None


def test_a_document_without_paths_has_no_operations(read) -> None:
    assert operations(read("webhooks: {}", "3.1.0")) == ()


def test_the_operations_of_a_document_are_read_once(read) -> None:
    document = read("paths: {/notes: {get: {responses: {}}}}")
    assert operations(document) is operations(document)
    assert operations(read("paths: {}")) == ()

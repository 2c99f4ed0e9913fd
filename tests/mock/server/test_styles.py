"""Parameters and forms are read in whatever style the document says, and refused for their reason."""

import json
from typing import Any

import pytest

from understudy.mock.server.call import Call, HandlerResponse

INTEGERS = "{type: array, items: {type: integer}}"
POINT = "{type: object, required: [x], properties: {x: {type: integer}, y: {type: integer}, tags: {type: array, items: {type: string}}}}"


def reading(serve, parameter: str, path: str = "/a"):
    """Serves one operation that responds with its argument."""

    def placed(_call: Call, v: Any) -> HandlerResponse:
        return HandlerResponse({"value": v})

    def named(_call: Call, *, v: Any = None) -> HandlerResponse:
        return HandlerResponse({"value": v})

    text = f"""
openapi: 3.0.3
paths:
  {path}:
    get:
      parameters: [{parameter}]
      responses: {{'200': {{description: ok}}}}
"""
    return serve(text, api={"handlers": {("GET", path): placed if "{v}" in path else named}})


@pytest.mark.parametrize(
    ("style", "schema", "target", "value"),
    [
        ("simple", INTEGERS, "/a/1,2", [1, 2]),
        ("label", INTEGERS, "/a/.1,2", [1, 2]),
        ("label, explode: true", INTEGERS, "/a/.1.2", [1, 2]),
        ("label", "{type: integer}", "/a/.5", 5),
        ("matrix", "{type: integer}", "/a/;v=5", 5),
        ("matrix", INTEGERS, "/a/;v=1,2", [1, 2]),
        ("matrix, explode: true", INTEGERS, "/a/;v=1;v=2", [1, 2]),
        ("simple", POINT, "/a/x,1,y,2", {"x": 1, "y": 2}),
        ("simple, explode: true", POINT, "/a/x=1,y=2", {"x": 1, "y": 2}),
        ("label, explode: true", POINT, "/a/.x=1.y=2", {"x": 1, "y": 2}),
        ("matrix", POINT, "/a/;v=x,1,y,2", {"x": 1, "y": 2}),
        ("matrix, explode: true", POINT, "/a/;x=1;y=2", {"x": 1, "y": 2}),
    ],
)
def test_a_path_parameter_is_read_in_its_style(serve, style, schema, target, value) -> None:
    parameter = f"{{name: v, in: path, required: true, style: {style}, schema: {schema}}}"
    response = reading(serve, parameter, "/a/{v}").get(target)
    assert response.json() == {"value": value}


@pytest.mark.parametrize(
    ("style", "schema", "query", "value"),
    [
        ("form", INTEGERS, "v=1&v=2", [1, 2]),
        ("form", INTEGERS, "v[]=1&v[]=2", [1, 2]),
        ("form, explode: false", INTEGERS, "v=1,2", [1, 2]),
        ("spaceDelimited, explode: false", INTEGERS, "v=1%202", [1, 2]),
        ("pipeDelimited", INTEGERS, "v=1|2", [1, 2]),
        ("pipeDelimited, explode: true", INTEGERS, "v=1&v=2", [1, 2]),
        ("form", POINT, "x=1&y=2&tags=a&tags=b", {"x": 1, "y": 2, "tags": ["a", "b"]}),
        ("form", f"{{type: array, items: {POINT}}}", 'v={"x":1}&v={"x":2}', [{"x": 1}, {"x": 2}]),
        ("form", f"{{type: object, properties: {{at: {POINT}}}}}", 'at={"x":1}', {"at": {"x": 1}}),
        (
            "form",
            f"{{type: object, properties: {{at: {{type: array, items: {POINT}}}}}}}",
            'at={"x":1}&at={"x":2}',
            {"at": [{"x": 1}, {"x": 2}]},
        ),
        ("form, explode: false", POINT, "v=x,1,y,2", {"x": 1, "y": 2}),
        ("deepObject", POINT, "v[x]=1&v[tags]=a&v[tags]=b", {"x": 1, "tags": ["a", "b"]}),
        ("deepObject", POINT, "v[x]=1&v[tags][]=a&v[tags][]=b", {"x": 1, "tags": ["a", "b"]}),
        ("deepObject", POINT, "v[x]=1&v[tags][1]=b&v[tags][0]=a", {"x": 1, "tags": ["a", "b"]}),
        (
            "deepObject",
            f"{{type: object, properties: {{from: {POINT}}}}}",
            "v[from][x]=1",
            {"from": {"x": 1}},
        ),
        ("form", f"{{anyOf: [{{type: string}}, {INTEGERS}]}}", "v=a", "a"),
        ("form", f"{{anyOf: [{{type: string}}, {INTEGERS}]}}", "v=1&v=2", [1, 2]),
        ("form", "{anyOf: [{type: integer, maximum: 5}, {type: string}]}", "v=17", "17"),
        ("form, allowEmptyValue: true", "{type: integer}", "v=", ""),
    ],
)
def test_a_query_parameter_is_read_in_its_style(serve, style, schema, query, value) -> None:
    parameter = f"{{name: v, in: query, style: {style}, schema: {schema}}}"
    response = reading(serve, parameter).bare("GET", "/a", query.encode())
    assert response.json() == {"value": value}


@pytest.mark.parametrize(
    ("content", "query", "value"),
    [
        ("application/json: {schema: {type: object}}", 'v={"a":1}', {"a": 1}),
        ("text/plain: {schema: {type: string}}", "v={", "{"),
    ],
)
def test_a_parameter_with_content_is_read_by_its_media_type(serve, content, query, value) -> None:
    parameter = f"{{name: v, in: query, content: {{{content}}}}}"
    response = reading(serve, parameter).bare("GET", "/a", query.encode())
    assert response.json() == {"value": value}


@pytest.mark.parametrize(
    ("style", "schema", "query", "reason"),
    [
        ("deepObject", POINT, "v[y]=2", 'Query parameter \'v\': "x" is a required property.'),
        ("deepObject", POINT, "v[x]=a", "Query parameter 'v': x: \"a\" is not of type \"integer\"."),
        ("pipeDelimited", INTEGERS, "v=1|b", "Query parameter 'v': 1: \"b\" is not of type"),
        ("form", "{type: integer}", "v=", "Query parameter 'v': \"\" is not of type \"integer\"."),
        ("form", POINT, "x=1&x=2", "Query parameter 'v', member 'x', is given 2 times; give it once."),
    ],
)  # fmt: skip
def test_a_refusal_names_the_parameter_and_the_member(serve, style, schema, query, reason) -> None:
    parameter = f"{{name: v, in: query, style: {style}, schema: {schema}}}"
    response = reading(serve, parameter).bare("GET", "/a", query.encode())
    assert (response.status_code, response.json()["error"][: len(reason)]) == (400, reason)


def test_a_text_outside_its_style_is_refused(serve) -> None:
    parameter = "{name: v, in: path, required: true, style: matrix, schema: {type: integer}}"
    response = reading(serve, parameter, "/a/{v}").get("/a/5")
    assert "'5' is not in the style matrix; begin with ';v='" in response.json()["error"]


FORMS = """
openapi: 3.1.0
paths:
  /a:
    post:
      requestBody:
        required: true
        content:
          application/x-www-form-urlencoded: &form
            schema: &fields
              type: object
              required: [name]
              properties:
                name: {type: string}
                size: {type: integer}
                tags: {type: array, items: {type: string}}
                where: {type: object, required: [x], properties: {x: {type: integer}}}
                points: {type: array, items: {type: object, properties: {x: {type: integer}}}}
                ids: {type: array, items: {type: integer}}
            encoding: {ids: {style: pipeDelimited, explode: false}, size: {contentType: text/plain}}
          multipart/form-data:
            schema: *fields
            encoding: {ids: {contentType: application/json}}
          application/xml: {schema: *fields}
          text/plain: {schema: {type: string, maxLength: 3}}
      responses: {'200': {description: ok}}
"""


@pytest.fixture
def post(serve):
    def told(_call: Call, *, body: Any) -> HandlerResponse:
        return HandlerResponse(body if isinstance(body, dict) else {"body": body.decode()})

    return serve(FORMS, api={"handlers": {("POST", "/a"): told}}).post


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("name=a&tags=b&tags=c", {"name": "a", "tags": ["b", "c"]}),
        ("name=a&tags[]=b&tags[]=c", {"name": "a", "tags": ["b", "c"]}),
        ("name=a&where[x]=1", {"name": "a", "where": {"x": 1}}),
        ('name=a&where={"x":1}', {"name": "a", "where": {"x": 1}}),
        ("name=a&points[0][x]=1&points[1][x]=2", {"name": "a", "points": [{"x": 1}, {"x": 2}]}),
        ("name=a&ids=1|2", {"name": "a", "ids": [1, 2]}),
        ("name=a&other[x]=1", {"name": "a", "other[x]": "1"}),
    ],
)
def test_a_form_is_read_by_its_encoding(post, content: str, expected: dict[str, Any]) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert post("/a", content=content, headers=headers).json() == expected


def test_a_part_of_a_multipart_body_may_be_json(post) -> None:
    where = ("blob", json.dumps({"x": 1}), "application/json")
    points = [("points", (None, '{"x": 1}')), ("points", (None, '[{"x": 2}]'))]
    files = [("name", (None, "a")), ("where", where), *points, ("ids", (None, "[1, 2]"))]
    expected = {"name": "a", "where": {"x": 1}, "points": [{"x": 1}, {"x": 2}], "ids": [1, 2]}
    assert post("/a", files=files).json() == expected


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ('{"x": "a"}', 'where.x: "a" is not of type "integer".'),
        ("x", "where: 'x' is not JSON, as which this field is sent."),
    ],
)
def test_a_part_that_is_wrong_is_named(post, part: str, reason: str) -> None:
    files = [("name", (None, "a")), ("where", (None, part))]
    assert post("/a", files=files).json()["error"] == reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("<a><name>b</name><size>1</size><tags>c</tags><where><x>2</x></where></a>", ""),
        ("<a><name>b</name><size>x</size></a>", 'size: "x" is not of type "integer".'),
        ("<a><size>1</size></a>", '"name" is a required property.'),
        ("<a>", "The body is not XML: no element found: line 1, column 3."),
        ('<!DOCTYPE a [<!ENTITY b "c">]><a><name>&b;</name></a>', "The body declares a document type"),
    ],
)  # fmt: skip
def test_xml_is_judged_by_the_schema(post, content: str, reason: str) -> None:
    response = post("/a", content=content, headers={"Content-Type": "application/xml"})
    assert response.status_code == (400 if reason else 200)
    assert response.json().get("error", "").startswith(reason)


def test_a_plain_text_is_judged_too(post) -> None:
    texts = {"Content-Type": "text/plain"}
    assert post("/a", content="abc", headers=texts).json() == {"body": "abc"}
    refused = post("/a", content="abcd", headers=texts).json()["error"]
    assert refused == '"abcd" is longer than 3 characters.'


def test_an_object_of_any_members_takes_no_other_parameter(serve) -> None:
    anything = "{name: v, in: query, schema: {type: object, additionalProperties: {type: string}}}"
    service = reading(serve, f"{anything}, {{name: after, in: query, schema: {{type: string}}}}")
    assert service.get("/a?after=x&colour=red").json() == {"value": {"colour": "red"}}
    assert service.get("/a?after=x").json() == {"value": None}

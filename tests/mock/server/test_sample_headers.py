"""Headers of generated responses have the document's examples, or else what their names suggest."""

import pytest

DOCUMENT = """
openapi: 3.1.0
info: {title: Headers, version: '1'}
paths:
  /a:
    get:
      responses:
        '200':
          description: fine
          headers:
            X-Own: {schema: {type: string}, example: abc}
            X-Named: {schema: {type: string}, examples: {one: {$ref: '#/components/examples/first'}}}
            X-Bare: {example: 77}
            X-Wrong: {schema: {type: integer, enum: [4]}, example: five}
            X-Any: {schema: true}
            Retry-After: {schema: {type: integer, example: 30}}
            Location: {schema: {type: string}, example: /a/3}
            Cache-Control: {schema: {type: string, default: max-age=60}}
            ETag: {schema: {type: string}}
components: {examples: {first: {value: first}}}
"""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x-own", "abc"),
        ("x-named", "first"),
        ("x-bare", "77"),
        ("x-wrong", "4"),
        ("retry-after", "30"),
        ("location", "/a/3"),
        ("cache-control", "max-age=60"),
        ("etag", '"3f2b6c1e"'),
    ],
)
def test_a_header_has_the_value_that_the_document_suggests(serve, name: str, value: str) -> None:
    assert serve(DOCUMENT, api={"handlers": {}}).get("/a").headers[name] == value

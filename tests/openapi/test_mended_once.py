"""A document that was mended needs no mending, whatever stood in it."""

import copy
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.openapi.test_swagger import SWAGGER

from understudy.openapi.linting import lint
from understudy.openapi.loader import Document, document_of
from understudy.openapi.mending import mend
from understudy.openapi.operation_mends import mend_operations
from understudy.openapi.operations import operations

BROKEN = """
openapi: 3.1.0
paths:
  a/{id}:
    parameters: [{$ref: '#/components/parameters/Id'}, null, {name: b, in: path}]
    get: {responses: {200: {content: {a/b: {schema: {$ref: '#/components/schemas/Tree'}}}}}}
    put: {operationId: 7, security: [], requestBody: {schema: {$ref: nowhere}}}
components:
  parameters: {Id: {name: id, in: path, type: string}}
  schemas: {Tree: {properties: {kids: {items: [{$ref: '#/components/schemas/Tree'}]}}}}
"""


def test_a_document_that_was_mended_needs_no_mending() -> None:
    document = document_of(yaml.safe_load(BROKEN), Path("api.yaml"))
    assert len(document.losses) > 8
    assert changes(document) == []


def test_what_stands_beside_a_reference_that_is_left_out_is_mended() -> None:
    content = yaml.safe_load(SWAGGER)
    content["paths"]["/a/{id}"]["get"] = {"$ref": 1}
    content["paths"]["/a/{id}"]["parameters"][0]["format"] = {}
    document = document_of(content, Path("api.yaml"))
    assert changes(document) == []


def changes(document: Document) -> list[str]:
    """Returns the rules by which a mended document would be changed again."""
    again = copy.deepcopy(document.raw)
    mended = mend(again, None)
    mend_operations(again, mended)
    assert again == document.raw
    noted_only = {"unknown-member", "other-dialect"}
    return [it.rule for it in mended.diagnostics if it.rule not in noted_only]


JUNK = [
    *(None, -1, 1.5, "x", True, [], {}, [None], {"a": 1}, {"type": ["string", 1]}),
    *({"$ref": target} for target in (1, "#", "#/paths", "#/components/schemas/Tree", "gone")),
    *({"$id": "http://a/b"}, {"pattern": "("}, {"allOf": 1}, {"discriminator": "a"}),
]
PLACES = st.lists(st.tuples(st.integers(0, 200), st.sampled_from(JUNK)), min_size=1, max_size=5)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Returns each object or list in a value with each of its keys."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    own = [(value, key) for key, _ in items]
    return own + [
        place
        for holder, key in own
        if isinstance(holder[key], dict | list)
        for place in places(holder[key])
    ]


@given(junk=PLACES, base=st.sampled_from([BROKEN, SWAGGER]))
@settings(max_examples=20)
def test_whatever_stands_in_a_document_it_is_mended_once(
    junk: list[tuple[int, Any]], base: str
) -> None:
    content = yaml.safe_load(base)
    for number, value in junk:
        everywhere = [place for place in places(content) if place[1] not in {"openapi", "swagger"}]
        holder, key = everywhere[number % len(everywhere)]
        holder[key] = copy.deepcopy(value)
    document = document_of(content, Path("api.yaml"))
    assert changes(document) == []
    operations(document)
    lint(document)

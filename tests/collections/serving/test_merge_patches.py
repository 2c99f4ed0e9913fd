"""A merge patch that the document describes as any object is judged by what it makes of the item."""

from pathlib import Path

import pytest
from tests.collections.serving.conftest import document_with
from tests.mock.asking import Ask, asking

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

PATHS = """
  /notes:
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}
      responses: {'201': &note {description: a, content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}}
  /notes/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    get: {responses: {'200': *note, '404': {description: none}}}
    patch:
      requestBody: {content: {application/merge-patch+json: {schema: {type: object}}}}
      responses: {'200': *note, '404': {description: none}}"""
SCHEMAS = """
    Note:
      type: object
      required: [id, title]
      properties:
        id: {type: integer, readOnly: true}
        title: {type: string}
        lang: {type: string}
        tags: {type: array, items: {type: string}, maxItems: 2}"""

MERGE = {"content-type": "application/merge-patch+json"}


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    return asking(Mock(Settings(document=document_with(tmp_path, PATHS, SCHEMAS))))


@pytest.mark.parametrize(
    ("patch", "status"),
    [
        ('{"title": 7}', 400),
        ('{"title": null}', 400),
        ('{"tags": ["a", "b", "c"]}', 400),
        ('{"title": "new", "lang": null, "tags": ["a"]}', 200),
        ('{"other": 1}', 200),
    ],
)
def test_an_item_that_would_break_its_schema_is_kept(ask: Ask, patch: str, status: int) -> None:
    made = ask("POST", "/notes", json={"title": "old", "lang": "en"}).json()
    path = f"/notes/{made['id']}"
    assert ask("PATCH", path, headers=MERGE, content=patch).status_code == status
    assert ask("GET", path).json()["title"] == ("new" if "new" in patch else "old")

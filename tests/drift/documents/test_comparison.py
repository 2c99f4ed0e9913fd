"""Single changes of documents are classed by what they break, and a package from npm agrees."""

import json
import subprocess
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.drift.documents.edits import DOCUMENTS, EDITS, Edit, content
from tests.needs import package

from understudy.drift.documents.changes import STATEMENTS
from understudy.drift.documents.sources import document_changes
from understudy.openapi.loader import Document, document_of, load
from understudy.openapi.validators import in_draft_7

PEER = """
const { apiCompare } = require(process.argv[1]);
const pairs = JSON.parse(require('fs').readFileSync(0));
const judge = (diffs) => {
  const ofOperations = diffs.filter(({ path }) => path[0] === 'paths');
  const telling = ofOperations.length ? ofOperations : diffs;
  return telling.some(({ type }) => type === 'breaking') ? 'breaking' : 'harmless';
};
console.log(JSON.stringify(pairs.map(([old, changed]) => judge(apiCompare(old, changed).diffs))));
"""


@cache
def document(name: str) -> Document:
    return load(DOCUMENTS[name])


def read(raw: Any) -> Document:
    return document_of(deepcopy(raw), Path("changed.yaml"))


@pytest.mark.parametrize("edit", EDITS, ids=[edit.title for edit in EDITS])
def test_a_change_is_classed_by_the_clients_that_it_breaks(edit: Edit):
    changes = document_changes(document(edit.document), read(edit.after()))
    decisive = [change for change in changes if change.is_breaking] or changes
    assert {change.kind for change in decisive} == {edit.kind}
    assert {client for change in changes for client in change.breaks} == edit.breaks


BACKWARDS = {
    "a body is gone": ("request-body-added", {"senders"}),
    "a body may be left out": ("request-body-required", {"senders"}),
    "a body takes other members": ("members-closed", {"senders"}),
    "a header may be left out": ("header-required", set[str]()),
    "one way to sign in less": ("flow-added", set[str]()),
    "a security scheme is new": ("scheme-removed", set[str]()),
    "a scope is gone": ("scope-added", set[str]()),
}
"""Title of a change to the kind of its reverse, and the clients that break by that."""


@pytest.mark.parametrize("title", BACKWARDS)
def test_the_reverse_of_a_change_is_classed_on_its_own(title: str):
    edit = next(each for each in EDITS if each.title == title)
    changes = document_changes(read(edit.after()), document(edit.document))
    clients = {client for change in changes for client in change.breaks}
    assert ({change.kind for change in changes}, clients) == (
        {BACKWARDS[title][0]},
        BACKWARDS[title][1],
    )


def test_a_change_is_headed_by_the_path_of_the_newer_document():
    old = content("service")
    renamed = deepcopy(old)
    renamed["paths"]["/profiles/{slug}"] = renamed["paths"].pop("/profiles/{profileIdentifier}")
    renamed["paths"]["/profiles/{slug}"]["get"]["responses"].pop("404")
    changes = document_changes(document("service"), read(renamed))
    (change,) = [it for it in changes if it.kind == "response-removed"]
    assert change.where == "GET /profiles/{slug}: response 404"
    assert change.fingerprint == replace(change, operation="GET /profiles/{}").fingerprint


def test_every_kind_of_change_is_tried():
    backwards = {kind for kind, _ in BACKWARDS.values()}
    assert backwards | {edit.kind for edit in EDITS} == set(STATEMENTS)


def test_the_second_opinion_agrees_but_where_a_reason_says_why_not():
    pairs = [[content(edit.document), edit.after()] for edit in EDITS]
    done = subprocess.run(
        ["node", "-e", PEER, str(package("api-smart-diff"))],
        input=json.dumps(pairs),
        capture_output=True,
        text=True,
        check=True,
    )
    opinions = zip((edit.title for edit in EDITS), json.loads(done.stdout), strict=True)
    assert dict(opinions) == {
        edit.title: edit.peer or ("breaking" if edit.breaks else "harmless") for edit in EDITS
    }
    assert sum(not edit.peer for edit in EDITS) >= 40


def reordered(value: Any) -> Any:
    """Returns a document with every object backwards, and its lists of alternatives too."""
    if isinstance(value, list):
        items = [reordered(item) for item in value]
        return items[::-1] if all(isinstance(item, dict | str) for item in items) else items
    if not isinstance(value, dict):
        return value
    return {name: reordered(member) for name, member in reversed(value.items())}


def in_31(raw: Any) -> Any:
    """Returns a document in OpenAPI 3.1, with JSON Schema's words for null and for bounds."""
    return {**in_draft_7(raw), "openapi": "3.1.0"}


def with_references_to_references(raw: Any) -> Any:
    """Returns a document in which each schema is one of another name, in ``allOf``."""
    schemas = raw.get("components", {}).get("schemas", {})
    for name in list(schemas):
        schemas[f"{name}Content"] = schemas[name]
        schemas[name] = {"allOf": [{"$ref": f"#/components/schemas/{name}Content"}]}
    return raw


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("write", [reordered, in_31, with_references_to_references])
def test_another_way_to_write_a_document_is_no_change(name: str, write: Callable[[Any], Any]):
    other = read(write(deepcopy(content(name))))
    assert document_changes(document(name), other) == ()
    assert document_changes(other, document(name)) == ()

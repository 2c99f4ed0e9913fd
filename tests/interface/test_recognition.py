"""Which operations of a document are the interface's: by names, and never by one path alone."""

from pathlib import Path
from typing import Any

import pytest

from understudy.interface.operations import (
    DELETE_AVATAR,
    DOCUMENT,
    LOOKUP,
    OWN_PROFILE,
    QR_CODE,
    RESOURCE,
    key_of,
)
from understudy.interface.recognition import interface_operations
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.loader import Document, document_of, load
from understudy.openapi.operations import operations

PUBLISHED = Path(__file__).parents[1] / "mock" / "service" / "documents"
PROFILE = (
    *("hash", "display_name", "profile_url", "avatar_url", "avatar_alt_text"),
    *("location", "description", "job_title", "company"),
)
QR_QUERY = [{"name": it, "in": "query"} for it in ("size", "version", "utm_medium", "type")]


def returning(*names: str, **more: Any) -> dict[str, Any]:
    schema = {"allOf": [{"properties": {name: {"type": "string"} for name in names}}]}
    content = {"application/json": {"schema": {"anyOf": [schema]}}}
    return {"responses": {"200": {"description": "It.", "content": content}}, **more}


def document(**paths: dict[str, Any]) -> Document:
    """Returns a document of path items, by short names of their templates."""
    templates = {"profiles": "/profiles/{name}", "own": "/me/profile", "qr": "/qr-code/{hash}"}
    templates |= {"avatar": "/me/avatars/{id}"}
    items = {templates[name]: item for name, item in paths.items()}
    return document_of({"openapi": "3.0.3", "info": {}, "paths": items}, Path("it.yaml"))


def test_every_operation_of_the_bundled_document_is_recognised():
    bundled = load(openapi_directory() / "service.yaml")
    assert interface_operations(bundled) == set(RESOURCE) - {DOCUMENT}


@pytest.mark.parametrize("name", ["published-3.0.yaml", "published-3.1.yaml"])
def test_so_is_every_operation_that_a_published_definition_shares_with_it(name: str):
    published = load(PUBLISHED / name)
    keys = {key_of(operation.method, operation.path) for operation in operations(published)}
    assert interface_operations(published) == keys & set(RESOURCE)


@pytest.mark.parametrize(
    "operation",
    [
        returning("username", "bio", "image", "following"),
        returning("id", "display_name", "avatar_url", "location", "description", "company"),
        {"responses": {"200": {"description": "A profile."}}},
        {},
    ],
    ids=["other names", "some of the names", "no names", "nothing at all"],
)
def test_paths_alone_are_another_service(operation: dict[str, Any]):
    paths = {name: {"get": operation} for name in ("profiles", "own", "qr")}
    assert interface_operations(document(**paths)) == frozenset()


def test_one_whole_profile_is_enough_and_operations_without_names_follow_it():
    deleting = {"delete": {"responses": {"204": {"description": "Gone."}}}}
    found = document(profiles={"get": returning(*PROFILE)}, avatar=deleting)
    assert interface_operations(found) == {LOOKUP, DELETE_AVATAR}


def test_an_operation_with_other_names_is_not_the_interfaces_beside_those_that_are():
    other = {"get": returning("theme", "newsletter")}
    query = {"get": {"parameters": QR_QUERY, "responses": {}}}
    found = document(profiles={"get": returning(*PROFILE)}, own=other, qr=query)
    assert interface_operations(found) == {LOOKUP, QR_CODE}
    assert OWN_PROFILE not in interface_operations(found)


def test_schemas_that_refer_to_themselves_are_read_once():
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}
    circle = {"allOf": [{"$ref": "#/components/schemas/A"}], "properties": {"hash": {}}}
    responses = {"200": {"description": "It.", "content": content}}
    paths = {"/profiles/{name}": {"get": {"responses": responses}}}
    found = Document(Path("it.yaml"), {"paths": paths, "components": {"schemas": {"A": circle}}})
    assert interface_operations(found) == frozenset()

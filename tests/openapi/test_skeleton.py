"""Whatever a document says, Connexion can route on its skeleton."""

from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from understudy.mock.server._connexion import RoutedStack, Skeleton, routed
from understudy.openapi.operations import operations
from understudy.openapi.paths import routed_path, routed_texts, routing_id, skeleton, specificity

_NAMES = st.text(st.characters(codec="utf-8", exclude_characters="{}/", exclude_categories=["C"]))
_SEGMENTS = st.one_of(
    st.sampled_from(["a", "b-c", "d.e", "{id}", "{note-id}", "{user.id}", "{1st}", "{a}.{b}"]),
    _NAMES.filter(bool).map("{{{}}}".format),
)
_PATHS = st.lists(_SEGMENTS, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))
_METHODS = st.sampled_from(["get", "put", "post", "delete", "patch", "head", "options", "trace"])
OK: Any = {"responses": {"2XX": {"description": "ok"}}}
_OPERATION = st.fixed_dictionaries(
    {"responses": st.just(OK["responses"])},
    optional={
        "operationId": st.sampled_from(["one", "two"]),
        "security": st.lists(st.just({"token": ["read"]}), max_size=1),
        "requestBody": st.just({"content": {"*/*": {"schema": {"type": ["object", "null"]}}}}),
    },
)


CONNEXIONS_SPECIFICATION: Any = Skeleton.__base__
"""Validates a document, which the mock does not do at each start."""


async def nothing(*_: Any) -> None:
    """Answers nothing: what is asked here is only whether it can be built."""


@given(paths=st.dictionaries(_PATHS, st.dictionaries(_METHODS, _OPERATION), max_size=4))
@example(paths={path: {"get": OK} for path in ("/{id}/{id}", "/{id}/{+}")})
@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_document_gives_a_skeleton_that_connexion_loads(read, paths: dict[str, Any]) -> None:
    document = read(yaml.safe_dump({"paths": paths}), "3.1.0")
    found = operations(document)
    CONNEXIONS_SPECIFICATION(skeleton(found))
    tried = tried_by_method(routed({"/v1": found}, [], [], nothing))
    assert sum(map(len, tried.values())) == len(
        {(operation.method, routed_path(operation)) for operation in found}
    )


def tried_by_method(stack: RoutedStack) -> dict[str, list[str]]:
    """Returns the operations that Connexion's router tries for each method, in its order."""
    tried: dict[str, list[str]] = {}
    for mount in stack.routing.router.routes:
        for route in mount.app.routes:
            operation = route.endpoint.operation_id
            tried.setdefault(operation.partition(" ")[0], []).append(operation)
    return tried


@given(paths=st.dictionaries(_PATHS, st.just({"get": OK}), max_size=8))
@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_the_router_tries_templates_in_the_order_of_our_own_table(
    read, paths: dict[str, Any]
) -> None:
    found = operations(read(yaml.safe_dump({"paths": paths}), "3.1.0"))
    first: dict[str, str] = {}
    for operation in sorted(found, key=lambda it: specificity(it.path)):
        first.setdefault(routed_path(operation), routing_id(operation))
    tried = tried_by_method(routed({"/v1": found, "": found}, [], [], nothing))
    assert tried.get("GET", []) == [*first.values()] * 2


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_both_versions_give_one_skeleton(read, version: str) -> None:
    found = operations(read("paths: {'/a/{b-c}': {get: {operationId: same}}}", version))
    assert skeleton(found)["paths"] == {
        "/a/{p0}": {
            "get": {
                "operationId": "GET /a/{b-c}",
                "parameters": [
                    {"name": "p0", "in": "path", "required": True, "schema": {"type": "string"}}
                ],
                "responses": {"default": {"description": "see the original"}},
            }
        }
    }


def test_paths_that_differ_in_their_parameters_names_are_one_path(read) -> None:
    found = operations(read("paths: {'/a/{b}': {get: {}}, '/a/{c}': {put: {}}}"))
    assert list(skeleton(found)["paths"]["/a/{p0}"]) == ["get", "put"]


def test_operations_with_one_operation_id_are_told_apart(read) -> None:
    text = "paths: {/a: {get: {operationId: x}, put: {operationId: x}}}"
    assert [routing_id(o) for o in operations(read(text))] == ["GET /a", "PUT /a"]


def test_path_texts_bear_the_documents_names(read) -> None:
    (operation,) = operations(read("paths: {'/{p1}/{p0}.{b-c}': {get: {}}}"))
    routed = {"p0": "first", "p1": "second", "p2": "third"}
    assert routed_texts(operation.path, routed) == {
        "p1": "first",
        "p0": "second",
        "b-c": "third",
    }

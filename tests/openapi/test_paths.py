"""The one matcher of paths: what a template takes, and what it does not."""

import re
import subprocess
import sys
from itertools import permutations
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from understudy.mock.server._connexion import Routing, Skeleton, routed
from understudy.openapi.operations import operations
from understudy.openapi.path_matching import ENCODED_SLASH, PathMatcher, decoded_path, specificity
from understudy.openapi.paths import Paths, aliases, routed_path, routed_texts, routing_id, skeleton


@pytest.mark.parametrize(
    ("template", "path", "values"),
    [
        ("/notes/{id}", "/notes/7", ("7",)),
        ("/notes/{id}/parts/{part}", "/notes/a.b/parts/%2F", ("a.b", "%2F")),
        ("/notes/{id}.json", "/notes/7.json", ("7",)),
        ("/notes/{id}", "/notes/7\n", ("7\n",)),
        ("/notes.all", "/notes.all", ()),
        ("/notes/{path+}", "/notes/a/b", ("a/b",)),
        ("/v1/{name=notes/*}:stop", "/v1/notes/7:stop", ("notes/7",)),
        ("/{a}.{b}", "/x.y.z", ("x.y", "z")),
        ("/{a}.{b}", "/...", (".", ".")),
        ("/{a}{b}{c}", "/abcd", ("ab", "c", "d")),
        ("/{a}-{b}.{c}", "/1-2-3.4-5", ("1-2", "3", "4-5")),
        ("/at{a}at{b}at", "/atatatatat", ("at", "at")),
        ("/{+a}/x/{b}", "/1/x/2/x/3", ("1/x/2", "3")),
        ("/a}/{b}", "/a}/1", ("1",)),
    ],
)
def test_a_path_gives_the_values_of_its_parameters(template, path, values) -> None:
    assert PathMatcher([(template, template)]).find(path) == (template, values)


@pytest.mark.parametrize(
    ("template", "path"),
    [
        ("/notes/{id}", "/notes/"),
        ("/notes/{id}", "/notes/7/8"),
        ("/notes.all", "/notes-all"),
        ("/notes.all", "/notes.all\n"),
        ("/{a}.{b}", "/x."),
        ("/{a}{b}", "/x"),
        ("/{a}-{b}.{c}", "/1.2-3"),
        ("/at{a}at", "/atat"),
        ("/{path+}", "/\ud800"),
    ],
)
def test_a_path_that_does_not_match_gives_none(template, path) -> None:
    assert PathMatcher([(template, template)]).find(path) is None


LITERALS = st.sampled_from(["", "-", ".", "--", "a", "-a"])
PARAMETER_SEGMENTS = st.lists(LITERALS, min_size=1, max_size=5).map("{x}".join)


@given(
    segments=st.lists(PARAMETER_SEGMENTS, min_size=1, max_size=3),
    path=st.text("-.a/b", max_size=14),
)
def test_a_matcher_finds_what_a_regular_expression_finds(segments: list[str], path: str) -> None:
    template = "/".join(segments)
    parts = map(re.escape, template.split("{x}"))
    match = re.fullmatch("([^/]+)".join(parts), path)
    expected = None if match is None else (template, match.groups())
    assert PathMatcher([(template, template)]).find(path) == expected


@pytest.mark.parametrize(
    "template",
    ["/a/" + "-".join(f"{{y{n}}}" for n in range(31)), "/a/" + "/".join(["{a}{+b}"] * 12) + "/end"],
)
def test_a_path_is_matched_in_linear_time(template: str) -> None:
    """A regular expression needs years for it: the time limit of a child process would end it."""
    code = f"""
import resource
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
from understudy.openapi.path_matching import (PathMatcher)
path = "/a/" + "-" * 60 + "/" + "x/" * 60 + "-"
assert PathMatcher([({template!r}, 1)]).find(path) is None
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_first_of_several_templates_counts() -> None:
    templates = ["/{x}-a/mine", "/b-{x}/{y}", "/{x}/{y}", "/b-a/{z+}", "/b-a/mine"]
    matcher = PathMatcher((template, template) for template in templates)
    assert [template for template, _ in matcher.all("/b-a/mine")] == templates
    assert matcher.find("/b-a/mine") == ("/{x}-a/mine", ("b",))


@pytest.mark.parametrize(
    "templates",
    [
        ("/pets/mine", "/pets/{id}:cancel", "/pets/{id}.json", "/pets/{id}"),
        ("/a/b/{y}", "/a/{x}/c", "/a/{x}/{y}"),
        ("/a/{x}.{y}", "/a/{x}"),
        ("/a/b", "/a/{x}", "/a/{x*}"),
    ],
)
def test_what_is_literal_comes_first_whatever_the_order_of_declaration(templates) -> None:
    for declared in permutations(templates):
        assert tuple(sorted(declared, key=specificity)) == templates


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/a%20b", "/a b"),
        ("/a%2Fb%2fc", f"/a{ENCODED_SLASH}b{ENCODED_SLASH}c"),
        ("/a%252Fb", "/a%2Fb"),
        ("/a", "/a"),
    ],
)
def test_an_encoded_slash_is_not_a_slash(text: str, path: str) -> None:
    assert decoded_path(text) == path


SERVERS = """
    servers: [{url: 'https://x.example/%s'}, {url: /old}]
    paths:
      /: {get: {}}
      /pets: {get: {}}
      /api/{id}: {get: {}}
      /files: {servers: [{url: /upload}], put: {}, get: {servers: [{url: /read}, {url: /%s}]}}
"""


@pytest.mark.parametrize("base", ["api", "v1", "openapi"])
@pytest.mark.parametrize(
    ("path", "rest"),
    [
        ("/{base}/pets", "/pets"),
        ("/pets", "/pets"),
        ("/old/pets", "/pets"),
        ("/{base}", "/"),
        ("/{base}/api/1", "/api/1"),
        ("/upload/files", "/files"),
        ("/read/files", "/files"),
        ("/files", "/files"),
    ],
)
def test_a_request_may_use_any_server_or_none(read, base: str, path: str, rest: str) -> None:
    document = read(SERVERS % (base, base))
    declared = operations(document)
    paths = Paths({f"/{base}": declared}, f"/{base}", aliases(document, declared))
    assert paths.based(path.replace("{base}", base)) == f"/{base}{rest}"


def test_what_no_server_has_keeps_its_path(read) -> None:
    document = read(SERVERS % ("v1", "v1"))
    declared = operations(document)
    paths = Paths({"/v1": declared}, "/v1", aliases(document, declared))
    assert [paths.based(it) for it in ("/upload/pets", "/v2/pets")] == ["/upload/pets", "/v2/pets"]


def test_a_path_without_its_base_path_is_told_by_its_first_segment(read) -> None:
    declared = operations(read("paths: {'/pets/{id}': {get: {}}}"))
    paths = Paths({"/v1": declared}, "/v1")
    assert paths.based("/pets/1/unknown") == "/v1/pets/1/unknown"
    assert paths.based("/v1/pets/1") == "/v1/pets/1"


# Whatever a document says, Connexion can route on its skeleton.

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
    tried = tried_by_method(routed({"/v1": found}, nothing))
    assert sum(map(len, tried.values())) == len(
        {(operation.method, routed_path(operation)) for operation in found}
    )


def tried_by_method(stack: Routing) -> dict[str, list[str]]:
    """Returns the operations that Connexion's router tries for each method, in its order."""
    tried: dict[str, list[str]] = {}
    for mount in stack.router.routes:
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
    tried = tried_by_method(routed({"/v1": found, "": found}, nothing))
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

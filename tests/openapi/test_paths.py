"""The one matcher of paths: what a template takes, and what it does not."""

from itertools import permutations

import pytest

from understudy.openapi.operations import operations
from understudy.openapi.paths import (
    ENCODED_SLASH,
    Paths,
    aliases,
    decoded_path,
    path_pattern,
    specificity,
)


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
    ],
)
def test_a_path_gives_the_values_of_its_parameters(template, path, values) -> None:
    match = path_pattern(template).fullmatch(path)
    assert match is not None
    assert match.groups() == values


@pytest.mark.parametrize(
    ("template", "path"),
    [
        ("/notes/{id}", "/notes/"),
        ("/notes/{id}", "/notes/7/8"),
        ("/notes.all", "/notes-all"),
        ("/notes.all", "/notes.all\n"),
    ],
)
def test_a_path_that_does_not_match_gives_none(template, path) -> None:
    assert path_pattern(template).fullmatch(path) is None


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

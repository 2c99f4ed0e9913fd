"""Documents are loaded as they are, and refused where they cannot be followed."""

from pathlib import Path

import pytest

from understudy.errors import StartupError
from understudy.openapi.loader import Document, Node, load


def test_a_json_file_is_read_as_well(tmp_path: Path) -> None:
    path = tmp_path / "api.json"
    path.write_text('{"openapi": "3.1.0", "paths": {}}')
    assert load(path).raw == {"openapi": "3.1.0", "paths": {}}


def test_numbers_as_keys_are_read_as_the_texts_that_json_has(read) -> None:
    document = read("paths: {/a: {get: {responses: {200: {description: ok}}}}}")
    assert document.root.child("paths", "/a", "get", "responses", "200") is not None


@pytest.mark.parametrize(("version", "is_30"), [("3.0.0", True), ("3.0.4", True), ("3.1.1", False)])
def test_the_dialect_follows_the_version(read, version: str, is_30: bool) -> None:
    assert read("paths: {}", version).is_30 is is_30


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("- a list", "its top level is not an object"),
        ("swagger: '2.0'", r"says swagger: '2\.0'; understudy reads OpenAPI 3\.0\.x and 3\.1\.x"),
        ("openapi: 3.2.0", r"says openapi: '3\.2\.0'"),
        ("openapi: 3.0", r"says openapi: 3\.0;"),
        ("info: {}", "says openapi: None"),
        ("openapi: 3.0.0\npaths: []", r"#/paths must be an object, and is \[\]"),
        ("openapi: 3.0.0\nservers: {}", r"#/servers must be a list, and is \{\}"),
        ("openapi: 3.0.0\nservers: [here]", "#/servers/0 must be an object, and is 'here'"),
        ("openapi: 3.0.0\ncomponents: no", "#/components must be an object, and is 'no'"),
    ],
)
def test_what_is_no_document_is_refused_by_name(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(content)
    with pytest.raises(StartupError, match=rf"odd\.yaml.*{message}"):
        load(path)


@pytest.mark.parametrize(
    ("servers", "base_path"),
    [
        ("[]", ""),
        ("[{url: /}]", ""),
        ("[{url: /v3/}]", "/v3"),
        ("[{url: 'https://example.com/api/v3'}, {url: /other}]", "/api/v3"),
        ("[{url: 'https://{host}/{v}', variables: {host: {default: a}, v: {default: v2}}}]", "/v2"),
        ("[{description: no url}]", ""),
    ],
)
def test_the_base_path_is_the_first_servers(read, servers: str, base_path: str) -> None:
    assert read(f"servers: {servers}").base_path == base_path


def follow(document: Document, *steps: str) -> Node:
    node = document.root.child(*steps)
    assert node is not None
    return document.follow(node)


def test_a_reference_with_escaped_steps_is_followed(read) -> None:
    document = read(
        """
        paths:
          /a~b/{c}: {get: {summary: found}}
        x-one: {$ref: '#/paths/~1a~0b~1{c}'}
        x-two: {$ref: '#/paths/~1a~0b~1%7Bc%7D/get'}
        """
    )
    assert follow(document, "x-one").pointer == "#/paths/~1a~0b~1{c}"
    assert follow(document, "x-two").value == {"summary": "found"}


def test_a_reference_into_a_list_and_over_another_reference_is_followed(read) -> None:
    document = read(
        """
        x-list: [{$ref: '#/x-list/1'}, {'0': found}]
        x-start: {$ref: '#/x-list/0'}
        x-name: {$ref: '#/x-list/1/0'}
        """
    )
    assert follow(document, "x-start") == Node("#/x-list/1", {"0": "found"})
    assert follow(document, "x-name").value == "found"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("other.yaml#/a", r"leads out of the document\. Bundle it into one file first"),
        ("https://example.com/a.yaml", "leads out of the document"),
        ("#/components/schemas/Missing", "leads nowhere"),
        ("#/x-here/0", "leads nowhere"),
        ("#/x-here", "leads back to itself"),
    ],
)
def test_a_reference_that_cannot_be_followed_is_refused_where_it_stands(
    read, target: str, message: str
) -> None:
    with pytest.raises(StartupError, match=rf"api\.yaml: #/x-here: .*{message}"):
        read(f"x-here: {{$ref: '{target}'}}")


def test_two_references_that_lead_to_one_another_are_a_circle(read) -> None:
    with pytest.raises(StartupError, match="leads back to itself"):
        read("x-a: {$ref: '#/x-b'}\nx-b: {$ref: '#/x-a'}")


@pytest.mark.parametrize("keyword", ["example", "default", "enum", "const", "examples"])
def test_a_reference_in_data_is_data(read, keyword: str) -> None:
    read(f"x-schema: {{{keyword}: [{{$ref: nowhere}}]}}")


@pytest.mark.parametrize("name", ["example", "default", "enum", "const", "properties"])
def test_a_property_named_like_a_keyword_is_no_data(read, name: str) -> None:
    with pytest.raises(StartupError, match=f"#/x-schema/properties/{name}: .*leads out"):
        read(f"x-schema: {{properties: {{{name}: {{$ref: nowhere}}}}}}")


def test_a_property_named_ref_is_no_reference(read) -> None:
    read("x-schema: {properties: {$ref: {type: string}}}")


def test_a_child_is_named_by_its_pointer_and_missing_steps_lead_nowhere(read) -> None:
    root = read("x-a: [{b/c: 1}]").root
    assert root.child("x-a", 0, "b/c") == Node("#/x-a/0/b~1c", 1)
    assert root.child("x-a", 3) is None
    assert root.child("x-a", 0, "b/c", "deeper") is None

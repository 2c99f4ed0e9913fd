"""Documents are loaded as they are, and refused where they cannot be followed."""

from json import dumps
from pathlib import Path

import pytest

from understudy.errors import StartupError
from understudy.openapi.loader import Document, Node, load


def test_a_json_file_is_read_as_well(tmp_path: Path) -> None:
    path = tmp_path / "api.json"
    content = {"openapi": "3.1.0", "info": {"title": "a", "version": "1"}, "paths": {}}
    path.write_text(dumps(content))
    document = load(path)
    assert (document.path, document.raw, document.losses) == (path, content, ())


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            "openapi: 3.1.0\ninfo: {title: a, version: '1'}\ninfo: {title: b, version: '1'}\n",
            "line 3: ",
        ),
        ('{"openapi": "3.1.0", "info": {}, "info": {"title": "b", "version": "1"}}', ""),
    ],
)
def test_the_last_of_two_members_with_one_name_counts(
    tmp_path: Path, text: str, place: str
) -> None:
    path = tmp_path / "api.yaml"
    path.write_text(text)
    document = load(path)
    assert document.raw["info"]["title"] == "b"
    (loss,) = document.losses
    assert (loss.rule, loss.severity) == ("duplicate-key", "error")
    assert loss.message == f"{place}the key 'info' occurs twice; the last one counts."


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
        (
            "swagger: '1.2'",
            r"says swagger: '1\.2'; understudy reads OpenAPI 3\.0\.x, 3\.1\.x and 3\.2",
        ),
        ("openapi: 3.3.0", r"says openapi: '3\.3\.0'"),
        ("openapi: 4", r"says openapi: 4;"),
        ("info: {}", "says openapi: None"),
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
    assert follow(document, "x-two").value["summary"] == "found"


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


@pytest.mark.parametrize("keyword", ["example", "default", "enum", "const", "examples"])
def test_a_reference_in_data_is_data(read, keyword: str) -> None:
    schema = f"{{{keyword}: [{{$ref: nowhere}}]}}"
    assert read(f"paths: {{}}\ncomponents: {{schemas: {{A: {schema}}}}}").losses == ()


@pytest.mark.parametrize("name", ["example", "default", "enum", "const", "properties"])
def test_a_property_named_like_a_keyword_is_no_data(read, name: str) -> None:
    schema = f"{{properties: {{{name}: {{$ref: nowhere}}}}}}"
    (loss,) = read(f"paths: {{}}\ncomponents: {{schemas: {{A: {schema}}}}}").losses
    assert loss.pointer == f"#/components/schemas/A/properties/{name}"


def test_a_property_named_ref_is_no_reference(read) -> None:
    schema = "{properties: {$ref: {type: string}}}"
    assert read(f"paths: {{}}\ncomponents: {{schemas: {{A: {schema}}}}}").losses == ()


def test_what_an_extension_refers_to_is_its_own_affair(read) -> None:
    assert read("paths: {x-note: text}\nx-a: {$ref: nowhere}").losses == ()


def test_a_child_is_named_by_its_pointer_and_missing_steps_lead_nowhere(read) -> None:
    root = read("x-a: [{b/c: 1}]").root
    assert root.child("x-a", 0, "b/c") == Node("#/x-a/0/b~1c", 1)
    assert root.child("x-a", 3) is None
    assert root.child("x-a", 0, "b/c", "deeper") is None

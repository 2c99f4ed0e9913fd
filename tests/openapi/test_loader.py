"""Documents are loaded as they are, and refused where they cannot be followed."""

import os
from copy import deepcopy
from dataclasses import replace
from json import dumps
from pathlib import Path
from typing import Any

import pytest
import yaml

from understudy.errors import StartupError
from understudy.limits import YAML_VALUES
from understudy.openapi import loader
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.loader import (
    Document,
    Node,
    apply_overlays,
    base_paths,
    bundled_document,
    load,
    once_per_document,
)
from understudy.openapi.operations import operations
from understudy.openapi.yaml_files import read_yaml


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


@pytest.mark.parametrize(
    ("name", "version", "full"),
    [("openapi", "3", "3.0.0"), ("openapi", 3.1, "3.1.0"), ("swagger", 2, "3.0.3")],
)
def test_a_shortened_version_is_read_and_told(name: str, version: Any, full: str) -> None:
    content = {name: version, "info": {"title": "a", "version": "1"}, "paths": {}}
    document = loader.document_of(content, Path("a.yaml"))
    assert document.raw["openapi"] == full
    assert document.losses[0][:3] == ("converted-value", "warning", f"#/{name}")


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
        ("info: {}", "has no member `openapi`"),
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


# The paths of servers: absolute, relative, with variables, and not as OpenAPI has them.


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://api.example.com/v1/", "/v1"),
        ("https://api.example.com", ""),
        ("https://api.example.com/a//b%20c?x=1", "/a/b c"),
        ("//api.example.com/v2", "/v2"),
        ("/v3", "/v3"),
        ("v4/", "/v4"),
        ("../v5", "/v5"),
        ("/", ""),
        ("", ""),
    ],
)
def test_a_server_has_the_path_of_its_address(url: str, path: str):
    assert base_paths([{"url": url}]) == (path,)


@pytest.mark.parametrize(
    ("url", "variables", "paths"),
    [
        ("https://{region}.x.com/{p}", {"p": {"default": "v1"}}, ("/v1",)),
        ("{scheme}://x.com/v1", {"scheme": {"default": "https"}}, ("/v1",)),
        ("{server}", {"server": {"default": "https://x.com/v1"}}, ("/v1",)),
        ("https://x.com{base}", {"base": {"default": "/v1"}}, ("/v1",)),
        ("/{v}", {"v": {"default": "v2", "enum": ["v1", "v2"]}}, ("/v2", "/v1")),
        ("https://{port}.x/v1", {"port": {"enum": ["80", "81"]}}, ("/v1",)),
        ("/{undeclared}/a", None, ("/undeclared/a",)),
        ("https://{undeclared}/a", [], ("/a",)),
    ],
)
def test_variables_have_their_defaults_and_then_their_other_values(url, variables, paths):
    assert base_paths([{"url": url, "variables": variables}]) == paths


@pytest.mark.parametrize("servers", [None, {}, [], ["here"], [None]])
def test_what_names_no_server_has_no_path(servers: Any):
    assert base_paths(servers) == ()


def test_a_variable_of_many_values_gives_no_more_than_can_be_told_apart():
    variables = {name: {"enum": [str(n) for n in range(100)]} for name in ("a", "b")}
    assert len(base_paths([{"url": "/{a}/{b}", "variables": variables}])) == 16


# Overlays change a document before it is read, action by action.

ROOT = {
    "openapi": "3.0.3",
    "info": {"title": "a", "version": "1", "x-list": [1]},
    "paths": {
        "/a": {"get": {"tags": ["old"], "responses": {}}},
        "/b": {"get": {"responses": {}}, "put": {"deprecated": True, "responses": {}}},
    },
}


def overlay(directory: Path, *actions: dict[str, Any], version: str = "1.0.0") -> Path:
    path = directory / f"overlay-{len(list(directory.iterdir()))}.yaml"
    info = {"title": "a", "version": "1"}
    path.write_text(yaml.safe_dump({"overlay": version, "info": info, "actions": list(actions)}))
    return path


def applied(directory: Path, *actions: dict[str, Any]) -> Any:
    root = deepcopy(ROOT)
    assert apply_overlays(root, [overlay(directory, *actions)]) == []
    return root


def test_an_update_is_merged_into_every_match(tmp_path: Path) -> None:
    root = applied(tmp_path, {"target": "$.paths.*.get", "update": {"tags": ["new"], "x-a": {}}})
    assert root["paths"]["/a"]["get"] == {"tags": ["old", "new"], "responses": {}, "x-a": {}}
    assert root["paths"]["/b"]["get"] == {"tags": ["new"], "responses": {}, "x-a": {}}


def test_an_update_of_a_list_is_appended(tmp_path: Path) -> None:
    root = applied(tmp_path, {"target": "$.info['x-list']", "update": 2})
    assert root["info"]["x-list"] == [1, 2]


def test_an_update_of_a_scalar_replaces_it(tmp_path: Path) -> None:
    root = applied(tmp_path, {"target": "$.info.title", "update": "b"})
    assert root["info"]["title"] == "b"


def test_a_removal_takes_every_match_out(tmp_path: Path) -> None:
    root = applied(tmp_path, {"target": "$.paths.*[?@.deprecated == true]", "remove": True})
    assert list(root["paths"]["/b"]) == ["get"]
    root = applied(tmp_path, {"target": "$..['x-list'][*]", "remove": True})
    assert root["info"]["x-list"] == []


@pytest.mark.parametrize(
    ("condition", "is_met"),
    [
        ("match(@, 'a+')", True),
        ("match(@, 'b')", False),
        ("search(@, '^.$')", True),
        ("match(@, '(?=a)a')", False),  # what looks around takes long, and is not of RFC 9485
        ("search(@, '(')", False),
    ],
)
def test_an_expression_of_a_target_is_matched_in_linear_time(
    tmp_path: Path, condition: str, is_met: bool
) -> None:
    root: Any = deepcopy(ROOT)
    unmet = apply_overlays(
        root, [overlay(tmp_path, {"target": f"$.info[?{condition}]", "update": "b"})]
    )
    assert (root["info"]["title"] == "b") is is_met
    assert bool(unmet) is not is_met


def test_a_copy_is_merged_from_another_place(tmp_path: Path) -> None:
    root = applied(tmp_path, {"target": "$.paths['/b']", "copy": "$.paths['/a']"})
    assert root["paths"]["/b"]["get"]["tags"] == ["old"]


def test_actions_and_files_are_applied_in_their_order(tmp_path: Path) -> None:
    root: Any = deepcopy(ROOT)
    first = overlay(
        tmp_path,
        {"target": "$.info", "update": {"title": "b"}},
        {"target": "$.info", "update": {"title": "c"}},
    )
    second = overlay(tmp_path, {"target": "$.info[?@ == 'c']", "update": "d"})
    assert apply_overlays(root, [first, second]) == []
    assert root["info"]["title"] == "d"


def test_a_target_that_matches_nothing_is_a_loss_of_the_document(tmp_path: Path) -> None:
    document = tmp_path / "api.yaml"
    document.write_text(yaml.safe_dump(ROOT))
    path = overlay(tmp_path, {"target": "$.nope", "remove": True})
    (loss,) = load(document, [path]).losses
    assert loss.rule == "unmatched-overlay-target"
    assert loss.message == f"{path}: action 1: target '$.nope' matches nothing."


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ({"target": "$["}, r"target '\$\[' is not a JSONPath"),
        ({"update": {}}, "has no target"),
        ({"target": 7, "update": {}}, "target 7 is not a JSONPath"),
        ({"target": ""}, r"target '' is not a JSONPath \(RFC 9535\): expected"),
        ({"target": f"$[{'9' * 5000}]"}, "is not a JSONPath"),
        ({"target": f"$[?{'(' * 5000}@.a{')' * 5000}]"}, "is not a JSONPath"),
        ({"target": "$.info"}, "has neither update nor remove"),
        ({"target": "$", "remove": True}, "would remove the whole document"),
        ({"target": "$.info", "update": 1}, "is an object, and update is not"),
        ({"target": "$.info", "copy": "$.paths.*"}, "must match one value, and matches 2"),
    ],
)
def test_an_action_that_cannot_be_carried_out_is_named(
    tmp_path: Path, action: dict[str, Any], reason: str
) -> None:
    path = overlay(tmp_path, action)
    with pytest.raises(StartupError, match=rf"{path.name}: action 1:? {reason}|{reason}"):
        apply_overlays(deepcopy(ROOT), [path])


@pytest.mark.parametrize(
    "action",
    [
        {"target": "$..*", "update": {"a": {"b": {"c": 1}}}},
        {"target": "$.info", "update": {"a": ["b"] * 400}},
        {"target": "$.info", "copy": "$.info"},
    ],
)
def test_an_overlay_that_adds_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: dict[str, Any]
) -> None:
    monkeypatch.setattr(loader, "YAML_VALUES", YAML_VALUES._replace(most=1000), raising=False)
    path = overlay(tmp_path, *[action] * 6, version="1.1.0")
    root = {"info": {"list": ["a"] * 100}}
    with pytest.raises(StartupError, match=r"overlay-0\.yaml is beyond the limit yaml-values"):
        apply_overlays(root, [path])


@pytest.mark.parametrize("content", ["[]", "{overlay: 2.0.0}", "{overlay: 1.0.0, actions: {}}"])
def test_what_is_no_overlay_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "overlay.yaml"
    path.write_text(content)
    with pytest.raises(StartupError, match=r"overlay\.yaml"):
        apply_overlays({}, [path])


BUNDLED = sorted(path.name for path in openapi_directory().glob("*.yaml") if path.stem != "rules")


@pytest.mark.parametrize("name", BUNDLED)
def test_a_document_of_the_package_needs_no_mending(name):
    document = bundled_document(name)
    assert document.raw == read_yaml(openapi_directory() / name)
    assert document.losses == ()


@pytest.mark.parametrize("content", ["- a\n", "openapi: [\n", "info: {}\n"])
def test_a_document_of_the_package_that_was_broken_by_hand_is_refused(
    tmp_path, monkeypatch, content
):
    monkeypatch.setattr(loader, "openapi_directory", lambda: tmp_path)
    (tmp_path / "pets.yaml").write_text(content)
    with pytest.raises(StartupError, match=r"pets\.yaml"):
        bundled_document("pets.yaml")


def test_a_malformed_part_of_a_document_of_the_package_is_mended(tmp_path, monkeypatch):
    monkeypatch.setattr(loader, "openapi_directory", lambda: tmp_path)
    (tmp_path / "pets.yaml").write_text("openapi: 3.0.3\ninfo: {title: Pets}\npaths: 5\n")
    document = bundled_document("pets.yaml")
    assert operations(document) == ()
    assert document.losses


def test_a_document_of_the_package_is_read_again_only_once_it_has_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(loader, "openapi_directory", lambda: tmp_path)
    path = tmp_path / "pets.yaml"
    path.write_text("openapi: 3.0.3\ninfo: {title: Pets}\n")
    first = bundled_document("pets.yaml")
    assert bundled_document("pets.yaml") is first
    path.write_text("openapi: 3.0.3\ninfo: {title: Cats}\n")
    os.utime(path, ns=(0, 0))
    assert bundled_document("pets.yaml").raw["info"]["title"] == "Cats"


def test_a_function_of_a_document_is_computed_once_for_each():
    calls = []

    @once_per_document
    def paths(document):
        calls.append(document)
        return list(document.raw["paths"])

    one, other = (bundled_document(f"{name}.yaml") for name in ("web", "admin"))
    assert paths(one) is paths(one) is not paths(other)
    assert calls.count(one) == calls.count(other) == 1


def test_a_changed_copy_of_a_document_has_results_of_its_own():
    document = bundled_document("web.yaml")
    copy = replace(document, raw={**document.raw, "paths": {}})
    assert operations(document)
    assert operations(copy) == ()

"""Overlays change a document before it is read, action by action."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from understudy.errors import StartupError
from understudy.openapi.loader import apply_overlays, load

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
        ({"update": {}}, "target None is not a JSONPath"),
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


@pytest.mark.parametrize("content", ["[]", "{overlay: 2.0.0}", "{overlay: 1.0.0, actions: {}}"])
def test_what_is_no_overlay_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "overlay.yaml"
    path.write_text(content)
    with pytest.raises(StartupError, match=r"overlay\.yaml"):
        apply_overlays({}, [path])

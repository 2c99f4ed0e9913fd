"""``understudy infer``: the table, the JSON and the file of a state model."""

import json
from pathlib import Path

import jsonschema_rs
import pytest
from click.testing import CliRunner, Result

from understudy.cli import main
from understudy.mock.app import Mock
from understudy.mock.settings import Settings
from understudy.openapi.yaml_files import read_yaml

LABELLED = Path(__file__).parents[1] / "collections" / "inference" / "labelled"
TASKS = str(LABELLED / "todo.yaml")


def infer(*words: object) -> Result:
    return CliRunner().invoke(main, ["infer", *map(str, words)])


def test_the_table_says_how_sure_each_collection_is_and_why():
    shown = infer(TASKS).output
    assert "2 collections and 1 single resource, with 13 operations, have state." in shown
    assert " 99%  /lists, by id" in shown
    assert "parent   {listId}  items of /lists" in shown
    assert "/complete  (status: done)" in shown
    assert "POST /lists creates an item" in shown


def test_what_is_not_sure_is_listed_with_what_speaks_against_it():
    _, _, stateless = infer(LABELLED / "catalogue.yaml").output.partition("Stateless")
    assert "/weather" in stateless
    assert "no member identifies an item" in " ".join(stateless.split())


def test_json_has_the_places_of_items_in_bodies():
    model = json.loads(infer(TASKS, "--json").output)
    (todos,) = (it for it in model["collections"] if it["path"].endswith("/todos"))
    assert {it["role"]: it["response"] for it in todos["operations"]}["list"] == ["data"]
    assert todos["parents"] == [{"parameter": "listId", "collection": "/lists"}]


def test_a_written_model_and_its_schema_are_read_again(tmp_path):
    path = tmp_path / "model.yaml"
    assert infer(TASKS, "--write", path).exit_code == 0
    assert path.read_text().startswith("# yaml-language-server: $schema=./state_model.schema.json")
    schema = json.loads((tmp_path / "state_model.schema.json").read_text())
    jsonschema_rs.validate(schema, read_yaml(path))
    again = json.loads(infer(TASKS, "--state-model", path, "--json").output)
    assert {it["confidence"] for it in again["collections"]} == {1.0}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((LABELLED / "none.yaml",), "cannot be read"),
        ((TASKS, "--state-model", LABELLED / "labels.yaml"), "there is no key"),
        ((TASKS, "--write", "/dev/null/model.yaml"), "--write"),
    ],
)
def test_a_file_of_no_use_is_refused_in_one_line(words, message):
    done = infer(*words)
    assert done.exit_code == 2
    assert message in done.output


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Settings(seed_data=Path("seeds")), "the document is of the bundled service"),
        (Settings(document=Path(TASKS), infer="off", state_model=Path("m")), "--infer is off"),
    ],
)
def test_options_of_no_use_are_refused_at_start(settings, message):
    with pytest.raises(Exception, match=message):
        Mock(settings)

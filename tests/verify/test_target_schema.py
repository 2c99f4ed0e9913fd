"""The JSON Schema of target files, for editors."""

import tomllib
from pathlib import Path

import jsonschema_rs
import pytest
from click.testing import CliRunner

from understudy.cli import main
from understudy.record_schemas import schema_text
from understudy.verify.target_schema import target_schema

ROOT = Path(__file__).parents[2]
TARGETS = [ROOT / "tests" / "proofs" / "reference" / "target.toml"]
VALIDATOR = jsonschema_rs.validator_for(target_schema())


def test_the_command_prints_the_schema():
    assert CliRunner().invoke(main, ["verify", "--schema"]).output == schema_text(target_schema())


@pytest.mark.parametrize("path", TARGETS, ids=lambda path: path.parent.name)
def test_every_target_file_of_the_repository_keeps_to_the_schema(path):
    VALIDATOR.validate(tomllib.loads(path.read_text()))


def test_the_template_names_the_schema_and_keeps_to_it_with_every_key():
    template = CliRunner().invoke(main, ["verify", "--template"]).output
    assert template.startswith("#:schema ./target.schema.json\n")
    VALIDATOR.validate(tomllib.loads(template.replace("\n# ", "\n")))


def test_every_key_says_what_it_means():
    tables = target_schema()["$defs"]
    undescribed = {
        f"{table} {key}"
        for table, definition in tables.items()
        for key, member in definition["properties"].items()
        if "description" not in member and "$ref" not in member
    }
    assert undescribed == set()


@pytest.mark.parametrize(
    "change",
    [
        {"mode": "all"},
        {"base_ulr": "http://a"},
        {"permit": {"uploads": "yes"}},
        {"permit": {"max_tokens": -1}},
        {"budget": {"token": -1}},
        {"known": {"emails": "mia@example.com"}},
    ],
)
def test_what_the_reader_refuses_the_schema_refuses(change):
    content = {"base_url": "http://127.0.0.1:8080/v3"}
    assert VALIDATOR.is_valid(content)
    assert not VALIDATOR.is_valid({**content, **change})

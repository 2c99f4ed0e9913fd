"""``--json``: what each command prints is valid by the schema that ``understudy schema`` prints."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import click
import httpx
import jsonschema
import pytest
from click.testing import CliRunner
from tests.house.documentation import ROOT
from tests.patient import PATIENCE

from understudy import plugins
from understudy.cli import main
from understudy.cli.schema import COMMANDS, output_schemas
from understudy.mock.settings import Settings
from understudy.testing.background import Background
from understudy.verify.admin_client import AdminClient

ONE_A_LINE = {"generate", "journal"}
PRINTS_NO_DATA = {"demo", "exec", "mcp", "open", "record", "schema", "serve", "stub"}


@pytest.fixture(scope="module")
def mock() -> Iterator[str]:
    """The address of a mock that got two requests."""
    background = Background(Settings(log="off"))
    with closing(AdminClient(background.url)) as admin:
        base_url = admin.call("GET", "/worlds/default")["base_url"]
    with httpx.Client(trust_env=False, timeout=PATIENCE) as client:
        client.get(f"{base_url}/profiles/ada")
        client.patch(
            f"{base_url}/me/profile",
            json={"location": 7},
            headers={"Authorization": "Bearer ada-full"},
        )
    yield background.url
    background.stop()


@pytest.fixture
def outputs(mock: str, tmp_path: Path) -> dict[str, list[str]]:
    """A command line for each command."""
    at = ["--mock", mock]
    report = tmp_path / "report.json"
    report.write_text('{"rules": [{"id": "profile-unknown-404", "status": "not_checked"}]}')
    return {
        "drift": ["drift", "--target", str(target(mock, tmp_path)), "--rules", "qr-default-size"],
        "exercised": ["exercised", *at],
        "explain": ["explain", "last", *at],
        "export": ["export", str(tmp_path / "exported"), *at],
        "fixtures": ["fixtures"],
        "generate": ["generate", "getProfile", "--count", "3"],
        "infer": ["infer", str(ROOT / "tests" / "mock" / "petstore.yaml")],
        "journal": ["journal", *at],
        "learn": ["learn", "--rules", "qr-unknown-hash"],
        "lint": ["lint", str(ROOT / "tests" / "mock" / "petstore.yaml")],
        "rules": ["rules", "--coverage", str(report)],
        "verify": ["verify", "--cases", "0", "--rules", "qr-default-size"],
    }


def target(mock: str, directory: Path) -> Path:
    """Returns the target file of a served mock, of which nothing but a slug is known."""
    path = directory / "target.toml"
    path.write_text(f'base_url = "{mock}/v3"\n[known]\nslug = "ada"\n')
    return path


def printed(arguments: list[str]) -> str:
    result = CliRunner().invoke(main, [*arguments, "--json"])
    assert result.exit_code in {0, 1}, result.output
    return result.stdout


def validate(command: str, text: str) -> list[Any]:
    schema = output_schemas()[command]()
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    texts = text.splitlines() if command in ONE_A_LINE else [text]
    values = [json.loads(text) for text in texts]
    for value in values:
        validator(schema).validate(value)
    return values


OF_THEIR_OWN = {
    "cleanup": "below",
    "plugins": "tests/test_extending.py",
    "worlds": "tests/fleet/test_stored_worlds.py",
}
"""Commands whose output other tests hold to its schema."""


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - OF_THEIR_OWN.keys()))
def test_what_a_command_prints_is_valid_by_its_schema(command, outputs):
    values = validate(command, printed(outputs[command]))
    assert values
    assert all(values)


@pytest.mark.parametrize("left", [[], ["PATCH /me/profile: 403"]])
def test_what_cleanup_prints_is_valid_by_its_schema(monkeypatch, left):
    monkeypatch.setattr("understudy.api.opening.restore", lambda *_: left)
    (value,) = validate("cleanup", printed(["cleanup", "run.undo"]))
    assert value == {"is_undone": not left, "not_undone": left}


def test_rules_say_how_each_ended_in_a_run(outputs):
    (rules,) = validate("rules", printed(outputs["rules"]))
    assert {rule["id"]: rule["outcome"] for rule in rules if "outcome" in rule} == {
        "profile-unknown-404": "not_checked"
    }


def test_the_text_of_verify_goes_to_standard_error(outputs):
    result = CliRunner().invoke(main, [*outputs["verify"], "--json"])
    assert json.loads(result.stdout)["rules"][0]["status"] == "passed"
    assert "1 rule passed" in result.stderr


def test_a_plan_is_no_report():
    result = CliRunner().invoke(main, ["verify", "--plan", "--json"])
    assert result.exit_code == 2
    assert "--plan sends nothing; leave one out" in result.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_schema_is_printed_by_the_name_of_its_command(command):
    result = CliRunner().invoke(main, ["schema", command])
    assert json.loads(result.stdout) == output_schemas()[command]()


def test_every_command_that_prints_data_has_it():
    commands: Callable[[str], click.Command | None] = partial(plugins.find, "commands")
    having = {
        name
        for name in plugins.names("commands")
        if any("--json" in param.opts for param in getattr(commands(name), "params", ()))
    }
    assert having == set(COMMANDS) == set(output_schemas())
    assert having | PRINTS_NO_DATA == set(plugins.names("commands"))

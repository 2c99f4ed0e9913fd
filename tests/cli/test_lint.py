"""``understudy lint`` lists what is wrong with a document by file and line."""

import json
from pathlib import Path

import jsonschema_rs
import pytest
from click.testing import CliRunner, Result

from understudy.cli import main
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.linting import report_schema

FINE = "openapi: 3.0.3\ninfo: {title: a, version: '1'}\npaths: {}\n"
WARNING = "openapi: 3.0.3\ninfo:\n  title: a\n  version: 1\npaths: {}\n"
ERROR = """openapi: 3.0.3
info: {title: a, version: '1'}
paths:
  /a: {$ref: a.yaml#/item}
"""
OTHER_FILE = """item:
  get:
    responses:
      OK: {description: a}
"""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    (tmp_path / "a.yaml").write_text(OTHER_FILE)
    return tmp_path / "api.yaml"


def lint(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["lint", *arguments])


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        (FINE, [], 0),
        (FINE, ["--fail-on", "warning"], 0),
        (WARNING, [], 0),
        (WARNING, ["--fail-on", "warning"], 1),
        (ERROR, [], 1),
        ("a list", [], 2),
    ],
)
def test_the_exit_code_says_how_bad_it_is(
    document: Path, text: str, options: list[str], code: int
) -> None:
    document.write_text(text)
    assert lint(str(document), *options).exit_code == code


def test_a_line_names_file_line_severity_pointer_and_rule(document: Path) -> None:
    document.write_text(ERROR)
    first, total = lint(str(document)).stdout.splitlines()
    assert first == (
        f"{document.with_name('a.yaml')}:4: error: #/item/get/responses/OK: "
        "'OK' is not a status code, class (2XX) or default; it is left out. [invalid-status]"
    )
    assert total == "1 error, 0 warnings."


def test_json_fits_its_schema(document: Path) -> None:
    document.write_text(WARNING)
    report = json.loads(lint(str(document), "--json").stdout)
    assert jsonschema_rs.is_valid(report_schema(), report)
    assert report["errors"] == 0
    assert [it["line"] for it in report["diagnostics"]] == [4]


def test_the_line_of_a_merged_member_is_where_it_is_written(document: Path) -> None:
    document.write_text(
        "openapi: 3.0.3\nx-info: &info\n  title: a\n  version: 1\n"
        "info:\n  <<: *info\n  title: b\npaths: {}\n"
    )
    report = json.loads(lint(str(document), "--json").stdout)
    assert [it["line"] for it in report["diagnostics"]] == [4]


def test_json_that_is_no_yaml_has_no_lines(document: Path) -> None:
    title = r"\ud83d\ude00"  # two escapes for one character, as JSON has it
    document.write_text(
        f'{{"openapi": "3.0.3", "info": {{"title": "{title}", "version": 1}}, "paths": {{}}}}'
    )
    assert lint(str(document)).output.startswith(f"{document}: warning: #/info/version: ")


@pytest.mark.parametrize("name", ["service", "authorization", "web", "admin", "user-info"])
def test_the_bundled_documents_lose_nothing(name: str) -> None:
    result = lint(str(openapi_directory() / f"{name}.yaml"))
    assert "error" not in result.output.replace("0 errors", "")

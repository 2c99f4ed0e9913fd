"""Exit codes are those of the table from which the reference is made."""

import ast

import pytest
from click.testing import CliRunner
from tests.house.documentation import ROOT
from tests.tools.docs.pages import PAGES

from understudy import plugins
from understudy.cli import main
from understudy.cli.exit_codes import MEANINGS, USES, ExitCode

COMMANDS = sorted((ROOT / "src" / "understudy" / "cli").glob("*.py"))


def test_every_code_has_a_meaning_and_stands_on_the_page():
    text = PAGES["exit-codes.md"]()
    assert set(MEANINGS) == set(ExitCode)
    assert [code for code in ExitCode if f"| `{int(code)}` | {MEANINGS[code]} |" not in text] == []
    assert [name for name in USES if f"| `{name}` |" not in text] == []
    assert set(USES) <= set(plugins.names("commands"))


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_no_command_ends_with_a_bare_number(path):
    numbers = [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        if ast.unparse(node.func) in {"SystemExit", "sys.exit", "exit"}
        if any(isinstance(argument, ast.Constant) for argument in node.args)
    ]
    assert numbers == []


@pytest.mark.parametrize("name", plugins.names("commands"))
def test_an_unknown_option_is_unusable(name):
    result = CliRunner().invoke(main, [name, "--no-such-option", "--", "true"])
    assert result.exit_code == ExitCode.UNUSABLE


def test_a_document_with_errors_is_a_finding(tmp_path):
    document = tmp_path / "broken.yaml"
    document.write_text(
        "openapi: 3.0.3\ninfo: {title: T, version: '1'}\npaths: {/a: {$ref: '#/none'}}\n"
    )
    assert CliRunner().invoke(main, ["lint", str(document)]).exit_code == ExitCode.FINDINGS
    assert CliRunner().invoke(main, ["lint", "absent.yaml"]).exit_code == ExitCode.UNUSABLE

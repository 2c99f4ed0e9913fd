"""Exit codes are those of the table from which the reference is made."""

import ast
import os
import re

import click
import pytest
from click.testing import CliRunner
from tests.house.documentation import ROOT

from understudy import plugins
from understudy.cli import main
from understudy.cli.exec_ import _run
from understudy.cli.exit_codes import ExitCode

COMMANDS = sorted((ROOT / "src" / "understudy" / "cli").glob("*.py"))


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


@pytest.mark.parametrize("pressed", [KeyboardInterrupt, click.Abort])
def test_ctrl_c_while_a_command_is_imported_is_no_finding(monkeypatch, pressed):
    def find(_kind, _name):
        raise pressed

    monkeypatch.setattr(plugins, "find", find)
    ended = CliRunner().invoke(main, ["rules"])
    assert (ended.exit_code, ended.output) == (ExitCode.INTERRUPTED, "")


@pytest.mark.parametrize(("number", "code"), [("TERM", 143), ("KILL", 137)])
def test_exec_ends_as_a_shell_where_a_signal_ends_its_command(number, code):
    assert _run(["sh", "-c", f"kill -{number} $$"], {"PATH": os.environ["PATH"]}) == code


@pytest.mark.parametrize("status", ["4", "abc", "999", ".*"])
def test_what_is_no_status_is_named(status):
    ended = CliRunner().invoke(main, ["journal", "--status", status])
    assert ended.exit_code == ExitCode.UNUSABLE
    assert (
        f"'{status}' is not a status; write one such as 404, or a class such as 4XX" in ended.output
    )


NOTHING = "openapi: 3.0.3\ninfo: {title: T, version: '1'}\npaths: {}\n"
BROKEN = NOTHING.replace("{}", "{/a: {$ref: '#/none'}}")


def last_lines_of(*arguments: str) -> str:
    """Returns what a command wrote beside its output."""
    return CliRunner().invoke(main, [*arguments]).stderr


@pytest.mark.parametrize(
    ("text", "reason"), [(NOTHING, ""), (BROKEN, "Exit code 1: 1 error in api.yaml.\n")]
)
def test_lint_ends_with_its_reason_and_the_next_command(tmp_path, monkeypatch, text, reason):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "api.yaml").write_text(text)
    following = "Next: understudy serve --document api.yaml\n"
    assert last_lines_of("lint", "api.yaml") == reason + following


def test_infer_ends_with_the_command_that_serves_what_it_wrote(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "api.yaml").write_text(NOTHING)
    assert last_lines_of("infer", "api.yaml", "--write", "state.yaml") == (
        "The state model was written to state.yaml.\n"
        "Next: understudy serve --document api.yaml --state-model state.yaml\n"
    )


def test_rules_ends_with_their_number():
    assert re.search(r"^[\d,]+ rules: \d+ stated, .*assumed", last_lines_of("rules"))

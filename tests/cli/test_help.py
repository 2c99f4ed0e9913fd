"""``understudy --help``: it starts at once, fits a terminal, and cuts no sentence."""

import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from understudy import plugins
from understudy.cli import GROUPS, main
from understudy.cli.mock_commands import OFTEN_CHOSEN
from understudy.interface.rules import choose, load_rules, switches
from understudy.openapi.bundled import openapi_directory

WIDTH = 78
"""Columns that click uses in a terminal of 80."""


def test_no_sentence_of_the_overview_is_cut():
    shown = CliRunner().invoke(main, ["--help"], terminal_width=WIDTH).output
    assert not [line for line in shown.splitlines()[1:] if line.endswith("...")]
    assert max(map(len, shown.splitlines())) <= WIDTH


def test_the_overview_has_every_command_in_one_group():
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(plugins.names("commands"))
    shown = CliRunner().invoke(main, ["--help"], terminal_width=WIDTH).output
    assert [title for title in GROUPS if f"\n{title}:\n" not in shown] == []


def test_the_help_of_choose_names_a_dozen_switches_that_there_are():
    known = switches(load_rules(openapi_directory() / "rules.yaml"))
    assert choose(known, OFTEN_CHOSEN)
    assert len(OFTEN_CHOSEN) == 12
    shown = CliRunner().invoke(main, ["serve", "--help"], terminal_width=WIDTH).output
    assert [text for text in OFTEN_CHOSEN if text not in "".join(shown.split())] == []


TEN = """--port --auth-port --document --like --fixtures --choose --auto-approve --state --reload
--log --help"""


def first_options(name: str) -> list[str]:
    """Returns the options that the help of a command shows before its named groups."""
    shown = CliRunner().invoke(main, [name, "--help"], terminal_width=WIDTH).output
    first = shown.partition("\nOptions:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  (?:-h, )?(--[a-z-]+)", first, re.MULTILINE)


def test_the_help_of_serve_begins_with_the_ten_options_that_people_need():
    assert first_options("serve") == TEN.split()


@pytest.mark.parametrize("name", ["verify", "drift", "generate"])
def test_the_help_of_a_command_of_many_options_begins_with_ten_at_most(name: str):
    shown = first_options(name)
    assert "--target" in shown
    assert len(shown) <= 11  # with --help


@pytest.mark.parametrize("name", plugins.names("commands"))
def test_the_help_of_each_command_fits_a_terminal(name: str):
    shown = CliRunner().invoke(main, [name, "--help"], terminal_width=WIDTH)
    assert shown.exit_code == 0
    assert max(map(len, shown.output.splitlines())) <= WIDTH


def test_the_overview_imports_nothing_heavy():
    program = (
        "import sys; from understudy.cli import main\n"
        "heavy = {'connexion', 'httpx', 'jsonschema_rs', 'rich', 'starlette', 'yaml', 'PIL'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stdout.strip() == b"[]"

"""Whatever is printed on the console of reports, nothing of it steers the terminal."""

from io import StringIO

import pytest
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from tests.test_terminal import HOSTILE, steers

from understudy.reports.console import Terminal, print_line


def table() -> Table:
    grid = Table.grid()
    grid.add_row(HOSTILE, Text(HOSTILE))
    return grid


@pytest.mark.parametrize("printed", [HOSTILE, Text(HOSTILE), table(), Padding(HOSTILE, 1)])
def test_nothing_that_is_printed_steers_the_terminal(printed):
    file = StringIO()
    Terminal(file=file, width=200, force_terminal=True, color_system=None).print(printed)
    assert "\\u001b" in file.getvalue()
    assert not steers(file.getvalue())


def test_styles_of_our_own_reach_the_terminal():
    file = StringIO()
    console = Terminal(file=file, width=80, force_terminal=True, color_system="standard")
    print_line(console, "\x1b[31m", "red")
    assert file.getvalue() == "\x1b[31m\\u001b[31m\x1b[0m\n"

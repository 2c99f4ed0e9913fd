"""What is used of libraries beside their documentation is listed with a test, and is as it was."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random  # noqa: TID251 - seeded

import pytest
import uvicorn
from rstr import Rstr
from tests.house.documentation import ROOT
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from understudy.mock.server import _connexion

PAGE = "docs/explanation/decisions.md"
SOURCES = ROOT / "src" / "understudy"


def rows() -> list[list[str]]:
    """Returns the cells of the table's rows."""
    table = (ROOT / PAGE).read_text().partition("## What is used of libraries")[2]
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def files(cell: str) -> list[str]:
    """Returns the paths that a cell of the table names."""
    return re.findall(r"`([\w/]+\.py)`", cell)


def private_imports(path: Path) -> Iterator[str]:
    """Yields the private names of libraries that a module imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [*node.module.split("."), *(alias.name for alias in node.names)]
            is_ours = names[0] in {"understudy", "__future__"}
            yield from (it for it in names if re.match(r"_[a-z]", it) and not is_ours)


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0]}: {row[1]}")
def test_each_row_names_where_it_is_and_a_test_that_exists(row):
    library, used, where, reason, test = row
    texts = [(SOURCES / name).read_text() for name in files(where)]
    names = re.findall(r"`(?:\w+\.)*(\w+)`", used) or [library]
    assert [name for name in names if not any(name in text for text in texts)] == []
    assert files(test)
    assert [name for name in files(test) if not (ROOT / name).is_file()] == []
    assert reason


def test_every_private_import_is_in_the_table():
    listed = " ".join(row[1] + row[2] for row in rows())
    found = {
        f"{path.relative_to(SOURCES)}: {name}"
        for path in SOURCES.rglob("*.py")
        for name in private_imports(path)
        if f"`{name}`" not in listed or str(path.relative_to(SOURCES)) not in listed
    }
    assert found == set()


def test_uvicorn_catches_signals_in_the_method_that_is_replaced():
    assert "self.capture_signals()" in inspect.getsource(uvicorn.Server.serve)
    assert inspect.signature(uvicorn.Server.capture_signals).parameters.keys() == {"self"}


def test_uvicorn_has_status_lines_as_bytes_and_says_where_writing_is_paused():
    assert STATUS_LINE[404] == b"HTTP/1.1 404 Not Found\r\n"
    assert "self.write_paused" in inspect.getsource(FlowControl)


def test_connexion_takes_further_methods():
    methods = vars(_connexion)["METHODS"]
    assert isinstance(methods, set)
    assert {"get", "trace"} <= methods


def test_rstr_draws_by_the_two_methods_that_are_replaced():
    drawn: list[str] = []

    class Noting(Random):
        def randint(self, a: int, b: int) -> int:
            drawn.append("randint")
            return super().randint(a, b)

        def choice(self, seq):
            drawn.append("choice")
            return super().choice(seq)

    Rstr(Noting(1)).xeger("[ab]{2,4}")
    assert set(drawn) == {"randint", "choice"}

"""Nothing in the house outgrows its idea."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODULES = [path for place in ("src", "tests") for path in sorted((ROOT / place).rglob("*.py"))]
REFUSED = {"base", "common", "core", "helpers", "utils"}


MOST_LINES = 600
"""Lines of a module: a thought fits, and what is cut only to be short does not have to be."""

MOST_LINES_OF_A_FUNCTION = 50
"""Lines of a function of the product, without its docstring."""


def test_no_module_is_longer_than_a_thought():
    lengths = {path: len(path.read_text().splitlines()) for path in MODULES}
    assert {path: length for path, length in lengths.items() if length > MOST_LINES} == {}


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Counts the lines of a function from its first statement, its docstring left out."""
    statements = function.body[1:] if ast.get_docstring(function) else function.body
    if not statements:
        return 0
    return (statements[-1].end_lineno or 0) - statements[0].lineno + 1


def test_no_function_fills_more_than_a_screen():
    long = {
        f"{path.name}:{node.lineno} {node.name}": lines_of(node)
        for path in MODULES
        if path.is_relative_to(ROOT / "src")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and lines_of(node) > MOST_LINES_OF_A_FUNCTION
    }
    assert long == {}


def test_no_module_has_a_name_that_says_nothing():
    assert [path for path in MODULES if path.stem in REFUSED] == []


def test_every_exemption_from_a_gate_gives_its_reason():
    bare = re.compile(r"#\s*(?:noqa: [A-Z0-9, ]+|type: ignore\[[a-z, -]+\])\s*$", re.MULTILINE)
    found = [(path.name, line) for path in MODULES for line in bare.findall(path.read_text())]
    assert found == []

"""A second opinion is worth something only while it is its own."""

import ast
from pathlib import Path

import pytest

CONTROL = "test_control"
"""Runs the product on the reference, and so imports both."""

TIME_LIMIT = "tests.patient"
"""How long every test waits; it imports nothing of the product either, which is tested too."""

REFERENCE = (path for path in Path(__file__).parent.rglob("*.py") if path.stem != CONTROL)
MODULES = [*sorted(REFERENCE), Path(__file__).parents[2] / "patient.py"]


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module))
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_the_reference_shares_no_code_with_the_product(path):
    outside = {name for name in imported(path) if name.startswith("tests.")} - {TIME_LIMIT}
    assert all(name.startswith("tests.proofs.reference") for name in outside)
    assert not any(name.partition(".")[0] == "understudy" for name in imported(path))

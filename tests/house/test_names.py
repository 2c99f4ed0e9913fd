"""Names and docstrings: one public class of a name, and functions that say what they do."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

SOURCES = Path(__file__).parents[2] / "src"
MODULES = sorted(SOURCES.rglob("*.py"))

NOT_VERBS: Final = frozenset({"Has", "Is", "Its", "This", "Was", "As", "Always", "Others", "Us"})
"""Words that end like a verb in the third person, and begin no sentence about a function."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(node: ast.AST) -> Iterator[Function]:
    """Yields the public functions and methods of a module, but no functions inside functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            if not child.name.startswith("_"):
                yield child
        elif not (isinstance(child, ast.ClassDef) and child.name.startswith("_")):
            yield from functions(child)


def is_described(function: Function) -> bool:
    """Tells whether decorators make something else than a function of it: a property, a command."""
    return bool(function.decorator_list)


def faults(path: Path) -> list[str]:
    """Returns the functions whose docstring does not begin with what they do."""
    found = []
    for function in functions(ast.parse(path.read_text())):
        first = (ast.get_docstring(function) or "").split(" ", 1)[0].rstrip(",.:")
        is_verb = first.endswith("s") and first not in NOT_VERBS and first[:1].isupper()
        if first and not is_verb and not is_described(function):
            found.append(f"{function.name}: {first!r}")
    return found


def test_a_public_class_name_is_defined_once():
    names = Counter(
        node.name
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCES)))
def test_the_docstring_of_a_function_begins_with_what_it_does(path: Path):
    assert faults(path) == []


def test_a_docstring_that_begins_otherwise_is_found(tmp_path: Path):
    module = tmp_path / "module.py"
    module.write_text('def load():\n    """Of the resource API."""\n')
    assert faults(module) == ["load: 'Of'"]

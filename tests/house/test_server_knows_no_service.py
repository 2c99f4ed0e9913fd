"""The server serves any document: it names no rule, switch, operation or scope of this service."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from understudy.interface.rules import load_rules, switches
from understudy.interface.scopes import SCOPES
from understudy.mock import server
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.loader import load
from understudy.openapi.operations import operations

MODULES = sorted(Path(str(server.__file__)).parent.glob("*.py"))
RULES = load_rules(openapi_directory() / "rules.yaml")
DOCUMENTS = ("service", "authorization", "web", "admin", "user-info")


def operations_of_the_service() -> Iterator[str]:
    """Yields every operationId and path, but for the two that the server itself answers."""
    for name in DOCUMENTS:
        for operation in operations(load(openapi_directory() / f"{name}.yaml")):
            if operation.path not in {"/health", "/ready"}:
                yield operation.operation_id
                yield operation.path


@cache
def names() -> frozenset[str]:
    """Returns every name of this service; a switch such as ``scopes`` is also an English word."""
    rules = {rule.id for rule in RULES}
    composed = {name for name in switches(RULES) if "-" in name}
    return frozenset({*rules, *composed, *operations_of_the_service(), *SCOPES} - {"auth"})


def literals(path: Path) -> Iterator[str]:
    """Yields the string constants of a module; a docstring may give an example."""
    tree = ast.parse(path.read_text())
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        ast.get_docstring(n, clean=False) for n in ast.walk(tree) if isinstance(n, documented)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value not in docstrings
        ):
            yield node.value


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_module_of_the_engine_names_anything_of_the_service(path: Path):
    words = {word for text in literals(path) for word in re.split(r"[^\w:/{}-]+", text)}
    assert words & names() == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_module_of_the_engine_reads_a_switch(path: Path):
    assert re.findall(r"choices(?:\.get\(|\[)", path.read_text()) == []

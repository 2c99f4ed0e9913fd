"""Measures the structure of the product from its imports: importers, and chains of them."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src"

Imports = Mapping[str, frozenset[str]]


def modules() -> dict[str, Path]:
    """Returns the file of every module, by its dotted name."""
    found = {}
    for path in sorted((SOURCES / "understudy").rglob("*.py")):
        parts = path.relative_to(SOURCES).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _named(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@cache
def imports() -> Imports:
    """Returns what each module imports of the product, lazily or not; packages without code left out."""
    there = modules()
    return {
        name: frozenset(
            other
            for other in _named(ast.parse(path.read_text()))
            if other in there and other != name and there[other].name != "__init__.py"
        )
        for name, path in there.items()
    }


def only_importers(edges: Imports) -> dict[str, str]:
    """Returns the modules that one module alone imports, which stands beside them, with that module."""
    importers = defaultdict(set)
    for name, others in edges.items():
        for other in others:
            importers[other].add(name)
    return {
        name: one
        for name, those in importers.items()
        for one in those
        if len(those) == 1 and one.rpartition(".")[0] == name.rpartition(".")[0]
    }


def longest_chain(edges: Imports) -> list[str]:
    """Returns the longest way of imports from a module down, one of them where several are as long."""

    @cache
    def down(name: str) -> list[str]:
        below = [down(other) for other in edges[name]]
        return [name, *max(below, key=len, default=[])]

    return max((down(name) for name in edges), key=len)

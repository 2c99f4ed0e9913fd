"""Names and docstrings: one public class of a name, and sentences that say what a thing is or does."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

SOURCES = Path(__file__).parents[2] / "src"

NOT_VERBS: Final = frozenset({"Has", "Is", "Its", "This", "Was", "As", "Always", "Others", "Us"})
"""Words that end like a verb in the third person, and begin no sentence about a function."""

FRAGMENT: Final = re.compile(
    r"(About|As|At|By|For|From|How|In|Its|Not|Of|On|To|What|Whether|Where|Which|Who|With)\b"
)
"""The beginnings of clauses that tell nothing without the code that they stand beside."""

PRIVATE_WORDS: Final = frozenset(
    {"asked", "asks", "came", "hands", "hear", "heard", "said", "says", "strange", "told"}
)
"""Words of talk in names, for which the field has terms (``docs/explanation/glossary.md``)."""

PRIVATE_PHRASES: Final = re.compile(r"\b(asked for|is told|are told|was told|'s hands)\b")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def modules() -> dict[str, ast.Module]:
    """Parses every module, once."""
    return {
        str(path.relative_to(SOURCES)): ast.parse(path.read_text())
        for path in sorted(SOURCES.rglob("*.py"))
    }


@cache
def nodes(module: ast.Module) -> list[ast.AST]:
    """Walks a module, once for all tests."""
    return list(ast.walk(module))


@pytest.fixture(scope="module", autouse=True)
def _forgotten() -> Iterator[None]:
    """Forgets the trees in the end, which every collection of garbage would go through."""
    yield
    modules.cache_clear()
    nodes.cache_clear()


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


def without_verb(module: ast.Module) -> list[str]:
    """Returns the functions whose docstring does not begin with what they do."""
    names = []
    for function in functions(module):
        first = (ast.get_docstring(function) or "").split(" ", 1)[0].rstrip(",.:")
        is_verb = first.endswith("s") and first not in NOT_VERBS and first[:1].isupper()
        if first and not is_verb and not is_described(function):
            names.append(f"{function.name}: {first!r}")
    return names


def texts(module: ast.Module) -> Iterator[str]:
    """Yields every docstring and every text below an attribute or a constant."""
    for node in nodes(module):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield str(node.value.value)


def rules_in_words(module: ast.Module) -> set[str | None]:
    """Returns the docstrings of checks: each states the rule, in whatever order of words."""
    return {
        ast.get_docstring(function, clean=False)
        for function in functions(module)
        if any(ast.unparse(each).startswith("check(") for each in function.decorator_list)
    }


def fragments(module: ast.Module) -> list[str]:
    """Returns the docstrings that begin as a clause, and those with words of talk."""
    rules = rules_in_words(module)
    return [
        text.partition("\n")[0]
        for text in texts(module)
        if PRIVATE_PHRASES.search(text) or (FRAGMENT.match(text) and text not in rules)
    ]


def private_names(module: ast.Module) -> list[str]:
    """Returns the names that a module defines with a private word in them."""
    names = set()
    for node in nodes(module):
        if isinstance(node, ast.ClassDef | Function):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return sorted(name for name in names if PRIVATE_WORDS & set(name.lower().split("_")))


def test_a_public_class_name_is_defined_once():
    names = Counter(
        node.name
        for module in modules().values()
        for node in nodes(module)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("reproaches", [without_verb, fragments, private_names])
def test_names_and_docstrings_say_what_a_thing_is_or_does(reproaches):
    assert {path: bad for path, module in modules().items() if (bad := reproaches(module))} == {}


def test_every_module_says_what_it_holds():
    assert [path for path, module in modules().items() if not ast.get_docstring(module)] == []


@pytest.mark.parametrize(
    ("source", "reproaches", "expected"),
    [
        ('def load():\n    """Of the resource API."""\n', without_verb, ["load: 'Of'"]),
        ('"""What a probe sends."""\n', fragments, ["What a probe sends."]),
        ('LIMIT = 3\n"""By table."""\n', fragments, ["By table."]),
        ('"""The size that was asked for."""', fragments, ["The size that was asked for."]),
        ("def lifetime_is_told(): ...\n", private_names, ["lifetime_is_told"]),
    ],
)
def test_a_docstring_or_a_name_that_says_less_is_found(source, reproaches, expected):
    assert reproaches(ast.parse(source)) == expected

"""The pages on the Python API and on the pytest plugin."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.tools.docs.docstrings import entries, section, summary
from tests.tools.docs.markdown import code, page, prose, table

import understudy
from understudy.testing import contract_plugin, pytest_plugin

NAMES = [name for name in understudy.__all__ if name != "__version__"]


def python_page() -> str:
    """Returns the page on what ``import understudy`` gives."""
    parts = ["The public names of the package `understudy`. Everything else may change."]
    for name in NAMES:
        item = getattr(understudy, name)
        if callable(item):
            parts += _item(name, item)
    return page("Python API", *parts)


def pytest_page() -> str:
    """Returns the page on options, fixtures and markers of the plugins, and on worlds."""
    return page(
        "pytest plugin",
        "## Options",
        table(("option", "what it does"), _options()),
        "## Fixtures",
        table(("fixture", "what it is"), _fixtures()),
        "## Markers",
        "\n".join(f"- `{name}`{told}" for name, told in _markers()),
        "A world has the methods of [MockWorld](python.md#mockworld).",
    )


_HEADS = {"Args": "argument", "Attributes": "attribute", "Raises": "error"}


def _item(name: str, item: Any) -> list[str]:
    parts = [f"## {name}", *_described(name, item)]
    if inspect.isclass(item):
        for method, function in inspect.getmembers(item, inspect.isfunction):
            if not method.startswith("_"):
                parts += [f"### {name}.{method}", *_described(method, function)]
    return parts


def _described(name: str, item: Any) -> Iterator[str]:
    """Yields the signature, what the docstring says, its tables and its examples."""
    yield f"```python\n{name}{_signature(item)}\n```"
    yield prose(summary(item))
    for title, head in _HEADS.items():
        rows = ((code(key), prose(text)) for key, text in entries(item, title).items())
        yield table((head, "meaning"), rows)
    returned = section(item, "Returns")
    yield f"Returns: {prose(returned)}" if returned else ""
    examples = section(item, "Examples")
    yield f"```pycon\n{examples}\n```" if examples else ""


def _signature(item: Any) -> str:
    try:
        text = str(inspect.signature(item)).replace("(self, ", "(")
    except (TypeError, ValueError):
        return ""
    return re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z]\w*)", "", text).replace("(self)", "()")


class _Group:
    def __init__(self, rows: list[tuple[str, str]]) -> None:
        self._rows = rows

    def addoption(self, name: str, **options: Any) -> None:
        names = f"{name} {options.get('metavar', '')}".strip()
        self._rows.append((code(names), prose(options.get("help", ""))))


class _Parser:
    """Notes the options that a plugin adds."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str]] = []

    def getgroup(self, *_names: str) -> _Group:
        return _Group(self.rows)


def _options() -> list[tuple[str, str]]:
    parser: Any = _Parser()
    pytest_plugin.pytest_addoption(parser)
    contract_plugin.pytest_addoption(parser)
    rows: list[tuple[str, str]] = parser.rows
    return rows


class _Config:
    """Notes the markers that a plugin explains."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def addinivalue_line(self, _name: str, line: str) -> None:
        self.lines.append(line)


def _markers() -> list[tuple[str, str]]:
    config: Any = _Config()
    pytest_plugin.pytest_configure(config)
    return [
        (name, f": {told.strip()}") for name, _, told in (it.partition(": ") for it in config.lines)
    ]


def _fixtures() -> list[tuple[str, str]]:
    rows = []
    for name, item in vars(pytest_plugin).items():
        if isinstance(item, pytest.FixtureDef | type(pytest_plugin.understudy_world)):
            rows.append((code(name), prose(summary(item))))
    return rows

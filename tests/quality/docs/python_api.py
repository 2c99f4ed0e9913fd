"""The pages on the Python API and on the pytest plugin."""

import inspect
from typing import Any

import pytest
from tests.quality.docs.docstrings import entries, summary
from tests.quality.docs.markdown import code, page, prose, table

import understudy
from understudy.testing import contract_plugin, pytest_plugin
from understudy.testing.world import MockWorld

NAMES = getattr(understudy, "__all__", ("edge_cases", "parametrize"))


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
        *_item("MockWorld", MockWorld),
    )


_HEADS = {"Args": "argument", "Attributes": "attribute"}


def _item(name: str, item: Any) -> list[str]:
    parts = [f"## {name}", f"```python\n{name}{_signature(item)}\n```", prose(summary(item))]
    for section, head in _HEADS.items():
        told = entries(item, section)
        heads = (head, "meaning")
        parts.append(table(heads, ((code(n), prose(t)) for n, t in told.items())))
    if inspect.isclass(item):
        for method, function in inspect.getmembers(item, inspect.isfunction):
            if not method.startswith("_"):
                parts += [
                    f"### {name}.{method}",
                    f"```python\n{method}{_signature(function)}\n```",
                    prose(summary(function)),
                ]
    return parts


def _signature(item: Any) -> str:
    try:
        return str(inspect.signature(item)).replace("'", "")
    except (TypeError, ValueError):
        return ""


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

"""A mock of a service of lists and things to do, whose state is inferred from its document."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.mock.asking import SITE, Ask, asking

from understudy.mock.app import Mock
from understudy.mock.settings import Settings

TODO_LIST = Path(__file__).parents[2] / "collections" / "inference" / "labelled" / "todo.yaml"


@pytest.fixture(scope="session")
def todo_mock() -> Mock:
    return Mock(Settings(document=TODO_LIST))


@pytest.fixture
def mock(todo_mock: Mock) -> Iterator[Mock]:
    beginning = todo_mock.world.snapshot()
    yield todo_mock
    todo_mock.world.become(beginning)


@pytest.fixture
def ask(mock: Mock) -> Ask:
    return asking(mock)


@pytest.fixture
def home(ask: Ask) -> str:
    """The path of a new list."""
    return str(ask("POST", "/lists", json={"name": "Home"}).headers["location"]).removeprefix(SITE)


@pytest.fixture
def milk(ask: Ask, home: str) -> str:
    """The path of a new thing to do."""
    created = ask("POST", f"{home}/todos", json={"title": "Milk", "notes": "Two litres"})
    return str(created.headers["location"]).removeprefix(SITE)


def document_with(tmp_path: Path, paths: str, schemas: str) -> Path:
    """Writes a small document: its paths and its schemas, as YAML."""
    path = tmp_path / "document.yaml"
    head = "openapi: 3.1.0\ninfo: {title: Shop, version: '1'}\n"
    path.write_text(f"{head}paths:\n{paths}\ncomponents:\n  schemas:\n{schemas}\n")
    return path

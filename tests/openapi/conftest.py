"""Documents written as YAML text, loaded as a file would be."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from understudy.openapi.loader import Document, load

Read = Callable[..., Document]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Loads a document: what is given, below a version and a title."""

    def read(text: str, version: str = "3.0.3") -> Document:
        path = tmp_path / "api.yaml"
        head = f"openapi: {version}\ninfo: {{title: a, version: '1'}}\n"
        path.write_text(head + dedent(text))
        return load(path)

    return read

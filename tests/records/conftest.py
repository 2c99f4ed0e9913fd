"""Fixtures directories, written for one test."""

from collections.abc import Callable
from pathlib import Path

import pytest

from understudy.openapi.bundled import fixtures_directory

Write = Callable[..., Path]
"""Writes a fixtures directory of so many files, beside a nearly empty person and one picture."""

MIRA = "slug: mira\nabout: Nothing special.\nemails: [{email: mira@example.com}]\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def files(texts: dict[str, str | bytes] | None = None) -> Path:
        portrait = (fixtures_directory() / "images/portrait-amber.png").read_bytes()
        wanted = {"people/mira.yaml": MIRA, "images/amber.png": portrait, **(texts or {})}
        for name, text in wanted.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)
        return tmp_path

    return files

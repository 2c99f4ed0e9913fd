"""The worked examples for contributors work, and touch no more files than they say."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Running
from tests.house.documentation import PAGES, ROOT
from tests.house.reader import Reader

EXAMPLES = [page for page in PAGES if Path(page).match("docs/contributing/add-*.md")]


def limit(page: str) -> int:
    """Returns how many files the page says that its example touches at most."""
    found = re.search(r"^# .*\((?:at most )?(\d+) files?\)$", (ROOT / page).read_text(), re.M)
    assert found is not None, f"the heading of {page} names no number of files"
    return int(found[1])


def changed(checkout: Path) -> set[str]:
    """Returns the sources of a followed copy that differ from those of the repository."""
    names = {
        path.relative_to(checkout).as_posix()
        for place in ("fixtures", "openapi", "src", "tests")
        for path in (checkout / place).rglob("*.*")
        if path.is_file() and path.suffix != ".pyc" and not path.is_symlink()
    }
    return {name for name in names if _content(ROOT / name) != _content(checkout / name)}


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the repository, with what is not committed yet."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    directory = tmp_path / "checkout"
    names = [name for name in listing.stdout.split("\0") if (ROOT / name).is_file()]
    for name in filter(None, names):
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, directory / name)
    for parent in {Path(name).parent for name in names}:
        _copy_compiled(ROOT / parent, directory / parent)
    return directory


def _copy_compiled(source: Path, copy: Path) -> None:
    """Copies compiled modules too, which hold as long as their sources keep size and time."""
    if (source / "__pycache__").is_dir():
        shutil.copytree(source / "__pycache__", copy / "__pycache__")


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The mock at the pages' addresses, which no example changes."""
    running = Running(tmp_path_factory.mktemp("mock"))
    yield running
    running.stop()


@pytest.mark.parametrize("page", EXAMPLES)
def test_an_example_works_and_touches_no_more_files_than_it_says(page, checkout, mock, monkeypatch):
    monkeypatch.chdir(checkout)
    monkeypatch.setenv("PYTHONPATH", f"{checkout / 'src'}:{checkout}")
    assert "\n".join(Reader(checkout, mock).follow(page)) == ""
    assert 0 < len(changed(checkout)) <= limit(page)


def test_there_is_an_example_for_each_usual_change():
    changes = ("a-fault", "a-format", "a-person", "a-rule", "a-switch", "an-endpoint")
    assert {Path(page).stem for page in EXAMPLES} >= {f"add-{change}" for change in changes}

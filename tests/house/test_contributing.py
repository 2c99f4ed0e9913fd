"""The worked examples for contributors work, and touch no more files than they say."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Running
from tests.house.documentation import PAGES, ROOT, Block, blocks
from tests.house.reader import Reader

EXAMPLES = [page for page in PAGES if Path(page).match("docs/contributing/add-*.md")]


def limit(page: str) -> int:
    """Returns how many files the page says that its example touches at most."""
    found = re.search(r"^# .*\((?:at most )?(\d+) files?\)$", (ROOT / page).read_text(), re.M)
    assert found is not None, f"the heading of {page} names no number of files"
    return int(found[1])


def touched(block: Block) -> set[str]:
    """Returns the files that a reader changes by following the block."""
    if block.language == "diff":
        return set(re.findall(r"^\+\+\+ b/(\S+)$", block.text, re.M))
    return {block.file_name} - {None} if block.language != "console" else set()  # type: ignore[return-value]  # None is gone


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
    for name in filter(None, listing.stdout.split("\0")):
        if (ROOT / name).is_file():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, directory / name)
    return directory


@pytest.fixture
def mock(tmp_path: Path) -> Iterator[Running]:
    running = Running(tmp_path)
    yield running
    running.stop()


@pytest.mark.parametrize("page", EXAMPLES)
def test_an_example_works_when_it_is_followed(page, checkout, mock, monkeypatch):
    monkeypatch.chdir(checkout)
    monkeypatch.setenv("PYTHONPATH", f"{checkout / 'src'}:{checkout}")
    assert "\n".join(Reader(checkout, mock).follow(page)) == ""


@pytest.mark.parametrize("page", EXAMPLES)
def test_an_example_touches_no_more_files_than_it_says(page):
    files = set[str]().union(*map(touched, blocks(page)))
    assert 0 < len(files) <= limit(page)


def test_there_is_an_example_for_each_usual_change():
    assert {Path(page).stem for page in EXAMPLES} >= {
        *("add-a-fault", "add-a-format", "add-a-person"),
    }

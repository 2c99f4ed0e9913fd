"""README and docs tell the truth: what they show is run, and every link leads somewhere."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import patient
from tests.cli.conftest import Running
from tests.cli.test_demo import Demo
from tests.house.documentation import PAGES, ROOT, Block, Command, blocks, commands, fits
from tests.house.reader import Reader

pytestmark = pytest.mark.usefixtures("unmeasured")

SHOWN_ONLY = {"", "text", "html", "diff", "mermaid"}
"""Languages of blocks that are no commands and no files; pages and patches have tests of their own."""

READ_TWICE = re.compile(
    r"\b(counts? no more|mend(?:s|ed)?|ours|there is none|for want of|what stands|takes that)\b",
    re.I,
)
"""Turns of phrase that stopped readers, for which plain technical English has others."""

OF_A_NEW_MOCK = {"docs/how-to/journal.md"}
"""Pages that show numbers of requests, which a world counts on when it is reset."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    mock = Running(tmp_path_factory.mktemp("mock"))
    yield mock
    mock.stop()


@pytest.fixture
def mock(page: str, running: Running, tmp_path: Path) -> Iterator[Running]:
    """Gives the mock at the pages' addresses, whose world begins anew for each page."""
    if page in OF_A_NEW_MOCK:
        new = Running(tmp_path)
        yield new
        new.stop()
    else:
        patient.post(running.base_url.replace("/v3", "/__admin/reset")).raise_for_status()
        yield running


FOLLOWED = [
    page
    for page in PAGES
    if any(it.language == "console" for it in blocks(page))
    if not Path(page).match("docs/contributing/add-*.md")  # test_contributing follows these
]


@pytest.fixture
def places(page: str, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Gives the staging of the demo at its usual address, to the page that has it."""
    if not any("http://127.0.0.1:8090" in block.text for block in blocks(page)):
        yield {}
        return
    (tmp_path / "demo").mkdir()
    target = str(tmp_path / "demo" / "staging.toml")
    demo = Demo(tmp_path / "demo", "--staging-port", "0", "--target", target)
    staging: str = json.loads(demo.ready_file.read_text())["staging_url"]
    yield {"http://127.0.0.1:8090": staging.removesuffix("/v3")}
    demo.stop()


@pytest.mark.parametrize("page", FOLLOWED)
def test_commands_print_what_the_page_shows(page, mock, places, tmp_path, monkeypatch):
    directory = tmp_path / "reader"
    directory.mkdir()
    monkeypatch.chdir(directory)
    reader = Reader(directory, mock, is_in_process=True, places=places)
    assert "\n".join(reader.follow(page)) == ""


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_run_or_names_the_test_that_runs_it(page):
    assert [
        block.text
        for block in blocks(page)
        if block.language != "console" and block.file_name is None
        if block.language not in SHOWN_ONLY and not _names_a_test(block.note)
    ] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_command_hides_in_a_block_that_is_not_run(page):
    hidden = re.compile(r"^(\$ |understudy |curl |make |pip |python )", re.M)
    assert [
        block.text
        for block in blocks(page)
        if block.language in {"", "text"} and hidden.search(block.text)
    ] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_page_has_words_that_readers_had_to_read_twice(page):
    text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(), flags=re.M | re.S)
    assert READ_TWICE.findall(re.sub(r"`[^`]*`", "", text)) == []


@pytest.mark.parametrize(("package", "place"), [("understudy", 0), ("understudy.mock", 1)])
def test_the_architecture_shows_the_layers_that_are_enforced(package, place):
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = (
        contract["layers"]
        for contract in contracts["contracts"]
        if contract["type"] == "layers" and contract["containers"] == [package]
    )
    shown = [block for block in blocks("docs/explanation/architecture.md") if block.language][place]
    assert [line.partition("  ")[0] for line in shown.text.splitlines()] == layers


def _names_a_test(note: str) -> bool:
    found = re.fullmatch(r"<!-- run by (\S+) -->", note)
    return found is not None and (ROOT / found[1]).exists()


def test_a_shown_output_may_leave_lines_out():
    assert fits("one\n…\nthree", "one\ntwo\nand a half\nthree\n")
    assert not fits("one\n…\nthree", "one\ntwo")


def test_a_command_may_go_on_in_the_next_line():
    block = Block("console", "$ one \\\n  two\nshown\n$ three\n", "")
    assert list(commands(block)) == [Command("one \\\n  two", "shown"), Command("three", "")]

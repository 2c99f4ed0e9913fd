"""The README is short, and leads each kind of reader on."""

import re

import pytest
from tests.house.documentation import ROOT, blocks
from tests.needs import closing_line
from tests.tools.bring import TOOLS

INSTALLS = re.compile(
    r"\b(apt-get|npm|pip|pipx|uv) install|\bmake (tools|install|check|coverage)\b"
)
README = (ROOT / "README.md").read_text()


def test_it_is_at_most_200_lines():
    assert len(README.splitlines()) <= 200


def test_the_first_command_starts_the_mock_and_shows_what_is_seen():
    first = next(block for block in blocks("README.md") if block.language == "console")
    assert first.text.startswith("$ make serve\n")
    assert "http://127.0.0.1:8080/v3" in first.text


def test_the_second_runs_the_tests_and_shows_the_line_that_says_what_was_missing():
    _, second = (block for block in blocks("README.md") if block.text.startswith("$ make "))
    shown = second.text.splitlines()[-1].replace(", …", "")
    counted = [(name, int(count)) for name, count in re.findall(r"([a-z-]+) \((\d+)\)", shown)]
    reasons = [f"needs {name}: run make tools" for name, count in counted for _ in range(count)]
    assert second.text.startswith("$ make test\n")
    assert str(closing_line(reasons)).split(" ", 1)[1] == shown.split(" ", 1)[1]
    assert {name for name, _ in counted} <= set(TOOLS["programs"])
    assert int(shown.split(" ", 1)[0]) >= len(reasons)
    assert 0 < README.index(second.text) < README.index("## For frontend teams")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
@pytest.mark.parametrize("command", ["make serve", "make test"])
def test_both_commands_stand_where_a_reader_looks_first(page, command):
    assert command in "".join((ROOT / page).read_text().splitlines(keepends=True)[:60])


def is_call(line: str, name: str) -> bool:
    """Tells whether a line runs a command, and does not only name it."""
    return re.match(rf"\s*(stranger )?{name}\b", line) is not None


def test_ci_calls_the_commands_of_the_readme_before_it_installs_anything():
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    steps = [line for line in lines if not line.lstrip().startswith("#")]
    commands = [block.text for block in blocks("README.md") if block.text.startswith("$ make ")]
    names = [text.partition("\n")[0].removeprefix("$ ") for text in commands]
    called = [next(at for at, line in enumerate(steps) if is_call(line, name)) for name in names]
    installs = [number for number, line in enumerate(steps) if INSTALLS.search(line)]
    assert called == sorted(called)
    assert len(called) == 2
    assert called[-1] < min(installs)


@pytest.mark.parametrize("reader", ["frontend", "tests and CI", "QA"])
def test_each_kind_of_reader_finds_an_example_and_where_to_read_on(reader):
    (section,) = (part for part in README.split("\n## ") if part.startswith(f"For {reader}"))
    assert "```console\n" in section
    assert re.search(r"Read on: \[", section)


@pytest.mark.parametrize("name", dict.fromkeys(re.findall(r"\]\((?!http)([^)#]+)", README)))
def test_every_link_leads_to_a_file(name):
    assert (ROOT / name).is_file()

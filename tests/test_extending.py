"""The page on extending tells the truth: its package, installed, adds what the page says."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
from tests.house.documentation import blocks
from tests.test_plugins import package

from understudy.cli.schema import output_schemas

PAGE = "docs/how-to/extend.md"
MOST_LINES = 12
"""Lines of a module of the example, without blank ones."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory where the page's package is installed."""
    directory = tmp_path_factory.mktemp("site")
    for block in blocks(PAGE):
        if block.file_name is not None:
            (directory / block.file_name).write_text(block.text)
    project = tomllib.loads((directory / "pyproject.toml").read_text())["project"]
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in named.items())
        for group, named in project["entry-points"].items()
    )
    package(directory, project["name"], points)
    return directory


def printed(site: Path, *arguments: str) -> str:
    """Returns what a command prints where the package is installed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *sys.path])}
    ran = subprocess.run(
        [sys.executable, "-m", "understudy", *arguments],
        cwd=site,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_its_commands_do_what_the_page_says(site):
    (script,) = (block.text for block in blocks(PAGE) if block.language == "sh")
    listed, greeted, cases, judged = (
        printed(site, *line.split()[1:]) for line in script.splitlines()
    )
    names = ("greet", "titles", "names", "acme", "pets")
    assert [name for name in names if f" {name} " not in listed] == []
    assert greeted == "Good morning, Olu.\n"
    assert [line.partition(":")[0] for line in cases.splitlines()] == ["getProfile"] * 3
    assert "2 rules passed" in judged
    assert (site / "broken.txt").read_text() == ""


def test_rules_of_a_package_are_listed_with_our_own(site):
    assert "acme-length" in printed(site, "rules")


def test_what_packages_bring_is_printed_by_its_schema(site):
    listed = json.loads(printed(site, "plugins", "--json"))
    jsonschema.validate(listed, output_schemas()["plugins"]())
    assert {each["package"] for each in listed} == {"acme-understudy"}


def test_no_module_is_longer_than_the_page_promises(site):
    lengths = {
        path.name: len(list(filter(str.strip, path.read_text().splitlines())))
        for path in site.glob("*.py")
    }
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}

"""The README tells the truth: what it shows is run, and what there is stands in it."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml
from tests.cli.conftest import Running

from understudy.cli import main
from understudy.interface.rules import load_rules, switches

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PROMPT = "$ "


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


def shown() -> Iterator[tuple[str, str]]:
    """Yields each command that the README shows, and what it says comes of it."""
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def rows(heading: str) -> list[list[str]]:
    """Returns the cells of the table under a heading row."""
    table = README.partition(f"| {heading} |")[2].split("\n\n")[0]
    lines = [line for line in table.splitlines()[2:] if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r" (?<!\\)\| ?", line[2:])] for line in lines]


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("readme"))
    yield running
    running.stop()


def here(text: str, mock: Running) -> str:
    """Puts a running mock's addresses where the README has the usual ones."""
    site = mock.base_url.removesuffix("/v3")
    return text.replace("http://127.0.0.1:8080", site).replace(
        "http://127.0.0.1:8081", mock.auth_url
    )


def test_commands_print_what_the_readme_shows(mock):
    found = []
    for command, _ in shown():
        run = ["bash", "-c", here(command, mock)]
        done = subprocess.run(run, capture_output=True, text=True, check=True)
        found.append((command, done.stdout.rstrip("\n")))
    wanted = [(command, here(output, mock).rstrip("\n")) for command, output in shown()]
    assert found == wanted


def test_the_banner_is_what_the_readme_shows(mock):
    site = mock.base_url.removesuffix("/v3")
    banner = mock.said().replace(site, "http://127.0.0.1:8080")
    banner = banner.replace(mock.auth_url, "http://127.0.0.1:8081").partition("\nPeople (")[0]
    assert banner.strip() in README


def programs(*, are_tests: bool) -> list[str]:
    return [program for program in blocks("python") if ("def test_" in program) is are_tests]


def test_the_programs_run(mock):
    (program,) = programs(are_tests=False)
    run = [sys.executable, "-c", here(program, mock)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout.strip() in program


def test_the_tests_pass(mock, tmp_path):
    (program,) = programs(are_tests=True)
    (tmp_path / "test_shown.py").write_text(program)
    site = mock.base_url.removesuffix("/v3")
    run = [sys.executable, "-m", "pytest", "-q", str(tmp_path), f"--understudy-url={site}"]
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "2 passed" in done.stdout, done.stdout


def test_every_token_stands_in_it():
    tokens = yaml.safe_load((ROOT / "fixtures" / "tokens.yaml").read_text())
    assert [(f"`{token['token']}`", token["about"]) for token in tokens] == [
        (name, about) for name, _, about, *_ in rows("token")
    ]


def test_every_switch_stands_in_it_with_its_default_first():
    found = switches(load_rules(ROOT / "openapi" / "rules.yaml"))
    told = {name: re.findall(r"`([\w-]+)`: ", options) for name, options, *_ in rows("switch")}
    assert told == {
        f"`{name}`": sorted(switch.options, key=lambda option: option != switch.default)
        for name, switch in found.items()
    }


@pytest.mark.parametrize("name", main.commands)
def test_every_command_and_option_stands_in_it(name):
    assert f"understudy {name}" in README
    options = [o.opts[0] for o in main.commands[name].params if isinstance(o, click.Option)]
    assert [
        option for option in options if f"{option}`" not in README and f"{option} " not in README
    ] == []


def test_every_target_stands_in_it():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^([a-z-]+):.*## (.*)$", makefile, re.M)
    assert [(f"`make {name}`", about) for name, about in targets] == [
        (name, about) for name, about, *_ in rows("target")
    ]

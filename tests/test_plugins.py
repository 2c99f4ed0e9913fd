"""The door: our own parts are there, others' are found where they can matter, and mistakes are named."""

import subprocess
import sys
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import get_args

import httpx
import pytest
from tests.patient import PATIENCE

from understudy import plugins
from understudy.errors import StartupError
from understudy.mock.settings import Settings
from understudy.testing.background import Background

PETS = """
openapi: 3.0.3
info: {title: Pets, version: "1"}
paths:
  /pets:
    get:
      responses: {"200": {description: OK, content: {application/json: {schema: {type: array}}}}}
  /pets/{name}:
    get:
      parameters: [{name: name, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: OK, content: {application/json: {schema: {type: object}}}}}
"""


def package(directory: Path, name: str, entry_points: str) -> None:
    """Puts what an installer leaves of a package beside its modules."""
    about = directory / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(entry_points)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory in which packages are installed for this test."""
    monkeypatch.syspath_prepend(tmp_path)
    plugins.forget()
    yield tmp_path
    plugins.forget()


@pytest.mark.parametrize("kind", get_args(plugins.Kind))
def test_each_of_our_own_parts_is_where_the_list_says(kind: plugins.Kind):
    assert set(plugins.every(kind)) >= set(plugins.names(kind))


def test_a_part_of_another_package_is_found_by_its_name(site: Path):
    package(site, "zoo", "[understudy.rules]\nanimals = zoo:RULES\n")
    (site / "zoo.py").write_text("RULES = ('lions', 'bears')\n")
    assert plugins.has("rules", "animals")
    assert plugins.find("rules", "animals") == ("lions", "bears")
    assert plugins.every("rules")["animals"] == ("lions", "bears")
    assert plugins.find("rules", "plants") is None


def test_two_packages_with_one_name_are_refused(site: Path):
    for name in ("zoo", "park"):
        package(site, name, "[understudy.formats]\nanimals = zoo:FORMAT\n")
    with pytest.raises(StartupError, match=r"(zoo and park|park and zoo) both bring .*'animals'"):
        plugins.find("formats", "animals")


def test_a_package_with_a_name_of_ours_is_refused_where_all_are_asked_for(site: Path):
    package(site, "zoo", "[understudy.states]\ncollections = zoo:keep\n")
    with pytest.raises(StartupError, match="understudy and zoo both bring"):
        plugins.every("states")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import lions", "ModuleNotFoundError: No module named 'lions'"),
        ("1 / 0", "ZeroDivisionError"),
        ("", "AttributeError"),
    ],
)
def test_a_part_that_cannot_be_imported_names_its_package(site: Path, text: str, reason: str):
    package(site, "broken-zoo", "[understudy.commands]\nlions = broken_zoo:lions\n")
    (site / "broken_zoo.py").write_text(text)
    with pytest.raises(StartupError, match=rf"broken-zoo 1\.0 brings .*{reason}.*uninstall it"):
        plugins.find("commands", "lions")
    sys.modules.pop("broken_zoo", None)


def test_ordinary_commands_do_not_read_what_is_installed():
    program = (
        "from click.testing import CliRunner; from understudy import plugins; from understudy.cli import main\n"
        "assert CliRunner().invoke(main, ['--help']).exit_code == 0\n"
        "assert CliRunner().invoke(main, ['generate', 'getProfile', '--count', '1']).exit_code == 0\n"
        "print(plugins._entry_points.cache_info().misses)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stdout.strip() == b"0"


def test_operations_without_a_handler_of_ours_get_those_of_other_packages(site: Path):
    package(site, "petty", "[understudy.handlers]\npets = petty:HANDLERS\n")
    (site / "petty.py").write_text(
        "from understudy.mock.server.call import HandlerResponse\n"
        "def pet(call, name):\n    return HandlerResponse({'name': name, 'legs': 4})\n"
        "HANDLERS = {('GET', '/pets/{name}'): pet}\n"
    )
    document = site / "pets.yaml"
    document.write_text(PETS)
    background = Background(Settings(log="off", document=document, port=0, single_port=True))
    try:
        with httpx.Client(trust_env=False, base_url=background.url, timeout=PATIENCE) as client:
            assert client.get("/pets/rex").json() == {"name": "rex", "legs": 4}
            assert client.get("/pets").status_code == HTTPStatus.OK
    finally:
        background.stop()

"""A fresh mock in a process of its own, and the tools that the formats are for."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner, Result
from tests.cli.conftest import Running
from tests.verify.packages import MODULES, PYTHON_TOOLS, missing

from understudy.cli import main
from understudy.generate.test_data import SECRETS, TestData


class Deployment:
    """A running mock, and the environment that the tools need to send requests to it."""

    def __init__(self, running: Running) -> None:
        self.addresses = ["--base-url", running.base_url, "--auth-url", running.auth_url]
        self.urls = {"BASE_URL": running.base_url, "AUTH_URL": running.auth_url}
        self.secrets = dict(TestData().secrets)
        twins = {f"{name}_ENCODED": quote(text, safe="") for name, text in self.secrets.items()}
        self.environment = {**without_secrets(), **self.secrets, **twins}


def without_secrets() -> dict[str, str]:
    """Returns this process's environment without any variable of the cases."""
    return {name: text for name, text in os.environ.items() if name not in SECRETS}


def deployed(directory: Path, *options: str) -> Iterator[Deployment]:
    running = Running(directory, "--log", "off", *options)
    yield Deployment(running)
    running.stop()


@pytest.fixture
def deployment(tmp_path: Path) -> Iterator[Deployment]:
    """A fresh mock with its defaults: nothing was sent to it before."""
    yield from deployed(tmp_path)


@pytest.fixture
def lax(tmp_path: Path) -> Iterator[Deployment]:
    """A deployment that accepts what the contract refuses."""
    choices = ["--choose", "scopes=ignored", "--choose", "unknown-profile-members=ignore"]
    yield from deployed(tmp_path, *choices)


def generate(*words: object) -> Result:
    return CliRunner().invoke(main, ["generate", *map(str, words)])


@pytest.fixture
def tool() -> Callable[[str], str]:
    """Finds a tool, or skips the test."""

    def find(name: str) -> str:
        places = f"{MODULES / '.bin'}{os.pathsep}{PYTHON_TOOLS}"
        found = shutil.which(name) or shutil.which(name, path=places)
        if found is None:
            missing(name)
        return str(found)

    return find

"""Fresh worlds of a mock in a process of its own, and the tools that the formats are for."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner, Result
from tests import patient
from tests.cli.conftest import Running
from tests.needs import program

from understudy.cases.test_data import SECRETS, TestData
from understudy.cli import main

OTHER_PLUGINS = ("cacheprovider", "schemathesis", "hypothesispytest")
PYTEST = ("-q", *(word for name in OTHER_PLUGINS for word in ("-p", f"no:{name}")))
"""What pytest is run with: without plugins that no case uses, and that take longer to start than it."""


class Deployment:
    """A mock or a world of one, and the environment that the tools need to send requests to it."""

    def __init__(self, base_url: str, auth_url: str) -> None:
        self.addresses = ["--base-url", base_url, "--auth-url", auth_url]
        self.urls = {"BASE_URL": base_url, "AUTH_URL": auth_url}
        self.secrets = dict(TestData().secrets)
        twins = {f"{name}_ENCODED": quote(text, safe="") for name, text in self.secrets.items()}
        self.environment = {**without_secrets(), **self.secrets, **twins}


def without_secrets() -> dict[str, str]:
    """Returns this process's environment without any variable of the cases."""
    return {name: text for name, text in os.environ.items() if name not in SECRETS}


@pytest.fixture(scope="module")
def shared_mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("mock"), "--log", "off")
    yield running
    running.stop()


def new_world(mock: Running, **choices: str) -> Deployment:
    """Makes a world of a mock, to which nothing was sent before."""
    site = mock.base_url.removesuffix("/v3")
    response = patient.post(f"{site}/__admin/worlds", json={"choices": choices})
    world = response.raise_for_status().json()
    return Deployment(world["base_url"], world["auth_url"])


@pytest.fixture
def deployment(shared_mock: Running) -> Deployment:
    """A fresh world with the defaults."""
    return new_world(shared_mock)


@pytest.fixture
def fresh_mock(tmp_path: Path) -> Iterator[Deployment]:
    """A mock of its own, for what makes worlds and ends them."""
    running = Running(tmp_path, "--log", "off")
    yield Deployment(running.base_url, running.auth_url)
    running.stop()


@pytest.fixture
def lax(shared_mock: Running) -> Deployment:
    """A deployment that accepts what the contract refuses."""
    choices = {"scopes": "ignored", "unknown-profile-members": "ignore"}
    return new_world(shared_mock, **choices)


def generate(*words: object) -> Result:
    return CliRunner().invoke(main, ["generate", *map(str, words)])


@pytest.fixture
def tool() -> Callable[[str], str]:
    """Finds a tool, or skips the test."""
    return program

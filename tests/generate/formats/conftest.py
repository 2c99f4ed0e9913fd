"""A mock in a process of its own, and the tools that the formats are for."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from click.testing import CliRunner, Result
from tests.cli.conftest import Running
from tests.verify.packages import MODULES, missing

from understudy.cli import main
from understudy.generate.test_data import TestData

REPEATABLE = (
    *("getProfile", "getQrCode", "listAvatars", "uploadAvatar", "updateAvatar"),
    *("setAvatarForEmail", "getOwnProfile", "updateOwnProfile", "isEmailAssociated"),
    *("authorize", "validateToken"),
)
"""Operations whose cases use nothing up: an avatar is deleted once, and guessing is slowed down."""


class Deployment:
    """A running mock, and the environment that the tools need to ask it."""

    def __init__(self, running: Running) -> None:
        self.addresses = ["--base-url", running.base_url, "--auth-url", running.auth_url]
        secrets = dict(TestData().secrets)
        form = {
            "grant_type": "password",
            "client_id": "server-app",
            "client_secret": secrets["client_secret"],
            "username": "ada",
            "password": secrets["password"],
        }
        answer = httpx.post(f"{running.auth_url}/oauth2/token", data=form)
        secrets["client_token"] = answer.json()["access_token"]
        twins = {f"{name}_encoded": quote(text, safe="") for name, text in secrets.items()}
        known = {name.upper(): text for name, text in {**secrets, **twins}.items()}
        self.environment = {**os.environ, **known}


def deployed(directory: Path, *options: str) -> Iterator[Deployment]:
    running = Running(directory, "--log", "off", "--choose", "rate-limits=off", *options)
    yield Deployment(running)
    running.stop()


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    yield from deployed(tmp_path_factory.mktemp("mock"))


@pytest.fixture(scope="module")
def lax(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A deployment that takes what the contract refuses."""
    choices = ["--choose", "scopes=ignored", "--choose", "unknown-profile-members=ignore"]
    yield from deployed(tmp_path_factory.mktemp("lax"), *choices)


def generate(*words: object) -> Result:
    return CliRunner().invoke(main, ["generate", *map(str, words)])


@pytest.fixture
def tool() -> Callable[[str], str]:
    """Finds a tool, or skips the test."""

    def find(name: str) -> str:
        found = shutil.which(name) or shutil.which(name, path=str(MODULES / ".bin"))
        if found is None:
            missing(name)
        return str(found)

    return find

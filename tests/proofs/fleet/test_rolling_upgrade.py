"""Two versions of understudy on one store, each in a process of its own; the older one is from the history."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import patient
from tests.cli.conftest import UNDERSTUDY, Running
from tests.house.documentation import ROOT
from tests.store_server import StoreServer, store_server

OLDER = "9a41b91"
"""The last commit whose replicas keep in the store what version 1 of its schema says."""

ADA = {"Authorization": "Bearer ada-full"}


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Returns where Python finds the older version."""
    place = tmp_path_factory.mktemp("older")
    command = ["git", "archive", OLDER, "src", "openapi", "fixtures"]
    archive = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        pytest.skip(f"this clone's history does not reach back to {OLDER}")
    subprocess.run(["tar", "-x", "-C", str(place)], input=archive.stdout, check=True)
    # it asks for its version under the name that the distribution had then
    information = place / "src" / "understudy-0.1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: understudy\nVersion: 0.1.0\n"
    )
    return str(place / "src")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StoreServer]:
    with store_server(tmp_path) as server:
        yield server


@pytest.mark.parametrize(("is_older", "order"), [(False, "a newer"), (True, "an older")])
def test_another_version_does_not_join_replicas_which_go_on(
    store: StoreServer, older: str, tmp_path: Path, *, is_older: bool, order: str
) -> None:
    first, second = ({"PYTHONPATH": older}, {}) if is_older else ({}, {"PYTHONPATH": older})
    running = Running(tmp_path, "--state", store.url(), "--log", "off", **first)
    try:
        assert is_edited(running, "Quay")
        command = [str(UNDERSTUDY), "serve", "--port=0", "--auth-port=0", "--state", store.url()]
        refused = subprocess.run(
            command, env={**os.environ, **second}, capture_output=True, text=True, check=False
        )
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert f"is in use by {order} version of understudy (" in refused.stderr
        assert is_edited(running, "Pier")
    finally:
        assert running.stop() == 0


def is_edited(replica: Running, location: str) -> bool:
    """Tells whether a replica carries out a change, and reads it."""
    url = f"{replica.base_url}/me/profile"
    edited = patient.patch(url, json={"location": location}, headers=ADA)
    read: str = patient.get(url, headers=ADA).json()["location"]
    return edited.is_success and read == location

"""The recipes for Testcontainers, with a daemon whose containers are processes."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import PATIENCE
from tests.e2e.docker_daemon import TAKEN, DockerDaemon
from tests.house.documentation import ROOT, blocks
from tests.needs import MODULES, package

RECIPES = ROOT / "examples" / "testcontainers"

IN_PYTHON = """
import json, urllib.request
from understudy import MockWorld
from understudy_container import UnderstudyContainer
with UnderstudyContainer("understudy", "--choose", "rate-limits=off") as mock:
    with urllib.request.urlopen(f"{mock.base_url}/profiles/ada") as response:
        profile = json.load(response)
    with MockWorld(mock.url, mock.admin_token, people=["ben"]) as world:
        people = [person["slug"] for person in world.people]
print(json.dumps({"site": mock.url, "avatar": profile["avatar_url"], "people": people}))
"""
IN_NODE = """
import { startUnderstudy } from './understudy-container.mjs';
const mock = await startUnderstudy({ options: ['--choose', 'rate-limits=off'] });
const profile = await (await fetch(`${mock.baseUrl}/profiles/ada`)).json();
const response = await fetch(`${mock.url}/__admin/worlds`, {
  method: 'POST',
  headers: { Authorization: `Bearer ${mock.adminToken}`, 'Content-Type': 'application/json' },
  body: JSON.stringify({ people: ['ben'] }),
});
const people = (await response.json()).people.map((person) => person.slug);
await mock.container.stop();
console.log(JSON.stringify({ site: mock.url, avatar: profile.avatar_url, people }));
"""


@pytest.fixture
def daemon() -> Iterator[DockerDaemon]:
    daemon = DockerDaemon()
    yield daemon
    daemon.close()


def run(daemon: DockerDaemon, directory: Path, *command: str) -> None:
    """Runs a program with a recipe, which must reach its mock and leave no container."""
    environment = {
        **os.environ,
        "DOCKER_HOST": daemon.url,
        "TESTCONTAINERS_RYUK_DISABLED": "true",
        "TESTCONTAINERS_CONNECTION_MODE": "docker_host",  # where tests themselves run in a container
        "PYTHONPATH": f"{RECIPES}:{os.environ.get('PYTHONPATH', '')}",
    }
    for _ in range(3):  # another test may take the port that a recipe chose
        daemon.left.clear()
        done = subprocess.run(
            command,
            cwd=directory,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        if TAKEN not in done.stderr:
            break
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout.splitlines()[-1])
    assert printed["avatar"].startswith(f"{printed['site']}/avatar/")
    assert printed["people"] == ["ben"]
    assert daemon.left == {}


def test_the_recipe_in_python_starts_a_mock_whose_links_lead_to_it(daemon, tmp_path):
    run(daemon, tmp_path, sys.executable, "-c", IN_PYTHON)


def test_the_recipe_in_node_starts_a_mock_whose_links_lead_to_it(daemon, tmp_path):
    package("testcontainers")
    shutil.copy(RECIPES / "understudy-container.mjs", tmp_path)
    (tmp_path / "node_modules").symlink_to(MODULES)
    (tmp_path / "program.mjs").write_text(IN_NODE)
    run(daemon, tmp_path, str(package("node") / "bin" / "node"), "program.mjs")


def test_the_page_shows_lines_that_are_run_here():
    shown = {it.language: it.text for it in blocks("docs/how-to/containers.md")}
    assert shown["python"] in IN_PYTHON
    assert shown["js"] in IN_NODE

"""``examples/container``: what the image is built of, and what compose starts.

Compose reads the file, as that needs no daemon; its command line, health check and requests are run
here, without a container.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.cli.conftest import Running
from tests.house.documentation import ROOT
from tests.verify.packages import missing

from understudy.openapi.yaml_files import read_yaml

CONTAINER = ROOT / "examples" / "container"
DOCKERFILE = (CONTAINER / "Dockerfile").read_text()


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    services: dict[str, Any] = read_yaml(CONTAINER / "compose.yaml")["services"]
    return services


@pytest.fixture(scope="module")
def mock(services: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The mock with the command line that compose gives the image."""
    serve, *options = services["mock"]["command"]
    assert serve == "serve"
    token = services["app"]["environment"]["UNDERSTUDY_ADMIN_TOKEN"]
    running = Running(
        tmp_path_factory.mktemp("mock"), *options, UNDERSTUDY_ADMIN_TOKEN=by_default(token)
    )
    yield running
    running.stop()


def by_default(text: str) -> str:
    """Returns a value of the file as it is where the environment does not set its variable."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def test_compose_accepts_the_file():
    if shutil.which("docker-compose") is None:
        missing("docker-compose")
    command = ["docker-compose", "--file", str(CONTAINER / "compose.yaml"), "config", "--quiet"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_the_image_copies_all_that_the_wheel_is_built_of():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {"pyproject.toml", project["project"]["readme"], *project["project"]["license-files"]}
    needed |= {Path(path).parts[0] for path in (*wheel["packages"], *wheel["force-include"])}
    copied = {name for line in re.findall("^COPY (.*) ", DOCKERFILE, re.M) for name in line.split()}
    assert needed | {"constraints.txt"} == copied
    assert all((ROOT / name).exists() for name in copied)


def test_services_reach_the_mock_by_its_name_and_get_links_by_it(services, mock):
    url = httpx.URL(services["app"]["command"][-1])
    profile = httpx.get(
        f"{mock.base_url}/profiles/ada", headers={"Host": url.netloc.decode()}, trust_env=False
    ).json()
    assert url.path == "/v3/profiles/ada"
    assert profile["avatar_url"].startswith("http://mock:8080/avatar/")


def test_the_token_of_the_file_opens_the_admin_api_to_other_services(services, mock):
    token = by_default(services["app"]["environment"]["UNDERSTUDY_ADMIN_TOKEN"])
    headers = {"Host": "mock:8080", "Authorization": f"Bearer {token}"}
    worlds = mock.base_url.replace("/v3", "/__admin/worlds/default")
    assert httpx.get(worlds, headers=headers, trust_env=False).status_code == 200


def test_the_health_check_passes_once_the_mock_is_up(services, mock):
    kind, program, *arguments = services["mock"]["healthcheck"]["test"]
    assert (kind, program) == ("CMD", "python")
    site = mock.base_url.removesuffix("/v3")
    checked = [text.replace("http://127.0.0.1:8080", site) for text in arguments]
    assert site in checked[-1]
    assert subprocess.run([sys.executable, *checked], check=False).returncode == 0

"""The Dockerfile and ``examples/container``: what the images are built of, and what starts them.

Compose reads the file, as that needs no daemon; its command line, health check and requests are run
here, without a container.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from typing import Any

import httpx
import kubernetes_validate
import pytest
import yaml
from tests import patient
from tests.cli.conftest import Running
from tests.house.documentation import ROOT
from tests.needs import program
from tests.tools.dockerfile import Instruction, lineage, read_stages

from understudy.cli.mock_commands import serve
from understudy.openapi.yaml_files import read_yaml

CONTAINER = ROOT / "examples" / "container"
STAGES = read_stages(ROOT / "Dockerfile")


KUBERNETES = "1.34"
MANIFESTS: list[dict[str, Any]] = list(
    yaml.safe_load_all((CONTAINER / "kubernetes.yaml").read_text())
)


def pod_labels(deployment: dict[str, Any]) -> Any:
    return deployment["spec"]["template"]["metadata"]["labels"]


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
    command = [
        program("docker-compose"),
        "--file",
        str(CONTAINER / "compose.yaml"),
        "config",
        "--quiet",
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_the_image_copies_all_that_the_wheel_is_built_of_and_the_builder_gets_no_more():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {"pyproject.toml", project["project"]["readme"], *project["project"]["license-files"]}
    needed |= {*wheel["packages"], *wheel["force-include"]}
    copied = {name for text in STAGES["build"].texts("COPY") for name in text.split()[:-1]}
    sent = set(re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.M))
    assert needed | {"constraints.txt"} == copied == sent
    assert all((ROOT / name).exists() for name in copied)


@pytest.mark.parametrize("target", ["serve", "verify"])
def test_an_image_runs_as_no_root_and_has_a_bill_of_materials(target):
    steps = [it for stage in lineage(STAGES, target) for it in stage.instructions]
    (user,) = (it.text for it in steps if it.name == "USER")
    assert int(user) > 0
    (origin,) = (it.text.split()[0] for it in steps if it.name == "COPY")
    built = lineage(STAGES, origin.removeprefix("--from="))
    commands = [text for stage in built for text in stage.texts("RUN")]
    assert commands[-1].startswith("/opt/sbom/bin/cyclonedx-py environment")


def test_the_default_image_only_serves():
    assert next(reversed(STAGES)) == "serve"
    commands = [text for stage in (STAGES["build"], STAGES["serve"]) for text in stage.texts("RUN")]
    assert not [command for command in commands if "[" in command]  # no extra is installed


def test_services_reach_the_mock_by_its_name_and_get_links_by_it(services, mock):
    url = httpx.URL(services["app"]["command"][-1])
    profile = patient.get(
        f"{mock.base_url}/profiles/ada", headers={"Host": url.netloc.decode()}
    ).json()
    assert url.path == "/v3/profiles/ada"
    assert profile["avatar_url"].startswith("http://mock:8080/avatar/")


def test_the_token_of_the_file_opens_the_admin_api_to_other_services(services, mock):
    token = by_default(services["app"]["environment"]["UNDERSTUDY_ADMIN_TOKEN"])
    headers = {"Host": "mock:8080", "Authorization": f"Bearer {token}"}
    worlds = mock.base_url.replace("/v3", "/__admin/worlds/default")
    assert patient.get(worlds, headers=headers).status_code == 200


def test_the_health_check_passes_once_the_mock_is_up(mock):
    (text,) = STAGES["serve"].texts("HEALTHCHECK")
    program, *arguments = Instruction("CMD", text.partition("CMD ")[2]).words
    assert program == "python"
    site = mock.base_url.removesuffix("/v3")
    checked = [text.replace("http://127.0.0.1:8080", site) for text in arguments]
    assert site in checked[-1]
    assert subprocess.run([sys.executable, *checked], check=False).returncode == 0


def test_the_manifest_is_valid_and_runs_the_image():
    kinds = {manifest["kind"]: manifest for manifest in MANIFESTS}
    for manifest in MANIFESTS:
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    pod = kinds["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    (user,) = STAGES["run"].texts("USER")
    assert pod["securityContext"]["runAsUser"] == int(user)
    assert serve.make_context("serve", container["args"][1:]).params["host"] == "0.0.0.0"
    exposed = {int(port) for port in STAGES["serve"].texts("EXPOSE")[0].split()}
    assert {port["containerPort"] for port in container["ports"]} == exposed
    assert {port["port"] for port in kinds["Service"]["spec"]["ports"]} == exposed
    assert kinds["Service"]["spec"]["selector"] == pod_labels(kinds["Deployment"])


def test_the_probes_of_the_manifest_are_responded_to_without_a_token(mock):
    deployment = next(it for it in MANIFESTS if it["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    for probe in ("readinessProbe", "livenessProbe"):
        url = mock.base_url.removesuffix("/v3") + container[probe]["httpGet"]["path"]
        response = patient.get(url, headers={"Host": "10.0.0.7:8080"})
        assert response.status_code == 200

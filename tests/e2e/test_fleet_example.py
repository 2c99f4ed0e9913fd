"""``examples/fleet``: several mocks on one store, behind a proxy, as the files say and without a container."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import kubernetes_validate
import pytest
import yaml
from tests import patient
from tests.cli.conftest import Running
from tests.e2e.test_container import KUBERNETES, STAGES
from tests.e2e.test_proxies import free_port, site
from tests.house.documentation import ROOT
from tests.needs import program
from tests.store_server import StoreServer, store_server

from understudy.cli.mock_commands import serve
from understudy.openapi.yaml_files import read_yaml

FLEET = ROOT / "examples" / "fleet"
SERVICES: dict[str, Any] = read_yaml(FLEET / "compose.yaml")["services"]
MOCKS = {name: service for name, service in SERVICES.items() if name.startswith("mock-")}
MOCK: dict[str, Any] = MOCKS["mock-1"]
MANIFESTS: list[dict[str, Any]] = list(yaml.safe_load_all((FLEET / "kubernetes.yaml").read_text()))

NGINX = """\
daemon off; pid {place}/pid; error_log stderr; events {{}}
http {{
  access_log off; client_body_temp_path {place}/bodies; proxy_temp_path {place}/proxied;
  include {place}/fleet.nginx.conf;
}}
"""


class Fleet(NamedTuple):
    """The services of compose as processes of this machine.

    Attributes:
        url: The proxy's address of the resource API.
        store: The store.
        mocks: The mocks behind the proxy.
    """

    url: str
    store: StoreServer
    mocks: list[Running]


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Runs each service with the command line of compose, as often as it says."""
    nginx = program("nginx")
    with ExitStack() as stack:
        _, *words = SERVICES["store"]["command"]
        store = stack.enter_context(store_server(tmp_path_factory.mktemp("store"), *words))
        options = [word.replace("store:6379", f"127.0.0.1:{store.port}") for word in command()]
        mocks = []
        for _ in MOCKS:
            mocks.append(Running(tmp_path_factory.mktemp("mock"), *options))
            stack.callback(mocks[-1].stop)
        place = tmp_path_factory.mktemp("proxy")
        port = free_port()
        (place / "fleet.nginx.conf").write_text(configuration(mocks, port))
        (place / "nginx.conf").write_text(NGINX.format(place=place))
        started = [nginx, "-p", str(place), "-c", str(place / "nginx.conf")]
        proxy = subprocess.Popen(started, text=True)
        stack.callback(proxy.wait)
        stack.callback(proxy.terminate)
        mocks[0].wait_for((place / "pid").exists)
        yield Fleet(f"http://127.0.0.1:{port}", store, mocks)


@pytest.fixture
def fleet(services: Fleet) -> str:
    """Returns the proxy's address of the resource API."""
    return services.url


def command() -> list[str]:
    words: list[str] = MOCK["command"]
    assert words[0] == "serve"
    return words[1:]


def configuration(mocks: list[Running], port: int) -> str:
    """Returns the proxy's configuration with the addresses of this machine in place of names."""
    text = (FLEET / "fleet.nginx.conf").read_text()
    sites = {"8080": [site(mock) for mock in mocks], "8081": [mock.auth_url for mock in mocks]}
    for default, urls in sites.items():
        for name, url in zip(MOCKS, urls, strict=True):
            text = text.replace(
                f"server {name}:{default};", f"server {url.removeprefix('http://')};"
            )
    text = text.replace("location / {", "location / { add_header X-Upstream $upstream_addr always;")
    text = text.replace("listen 8080;", f"listen 127.0.0.1:{port};")
    return text.replace("listen 8081;", f"listen 127.0.0.1:{free_port()};")


WORLDS = 40
"""So many that each mock gets one, whatever ports it has: of twelve, one run in fifty missed a mock."""


def test_compose_accepts_the_file():
    words = [program("docker-compose"), "--file", str(FLEET / "compose.yaml"), "config", "--quiet"]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_every_mock_behind_the_proxy_reads_what_any_of_them_wrote(fleet, services):
    token = {"Authorization": "Bearer ada-full"}
    for number in range(4):
        edit = {"location": f"Place {number}"}
        written = patient.patch(f"{fleet}/v3/me/profile", json=edit, headers=token)
        assert written.status_code == 200, written.text
        urls = [fleet, *map(site, services.mocks)]
        read = [patient.get(f"{url}/v3/profiles/ada").json()["location"] for url in urls]
        assert read == [edit["location"]] * 4


def test_each_world_has_a_mock_of_its_own_however_a_request_names_it(fleet):
    def mocks_of(name: str) -> set[str]:
        """Returns the mocks that get requests to a world."""
        responses = (
            patient.get(f"{fleet}/__world/{name}/v3/profiles/ada"),
            patient.get(f"{fleet}/__world/{name}/v3/me/profile?x=1", cookies={"mock_world": "b"}),
            patient.get(f"{fleet}/v3/profiles/ada", headers={"X-Mock-World": name}),
            patient.get(f"{fleet}/v3/profiles/ada", cookies={"mock_world": name}),
        )
        return {response.headers["x-upstream"] for response in responses}

    chosen = [mocks_of(f"build-{number}") for number in range(WORLDS)]
    assert [len(mocks) for mocks in chosen] == [1] * WORLDS
    assert len(set.union(*chosen)) == len(MOCKS)


def test_links_lead_back_through_the_proxy(fleet):
    profile = patient.get(f"{fleet}/v3/profiles/ada").json()
    assert profile["avatar_url"].startswith(fleet)


def test_the_health_check_of_compose_passes_at_each_mock(services: Fleet):
    kind, program, *words = MOCK["healthcheck"]["test"]
    assert (kind, program) == ("CMD", "python")
    for mock in services.mocks:
        here = [word.replace("http://127.0.0.1:8080", site(mock)) for word in words]
        assert here != words
        subprocess.run([sys.executable, *here], check=True)


def test_what_was_answered_survives_the_end_of_the_store(services: Fleet):
    token = {"Authorization": "Bearer ada-full"}
    url = f"{services.url}/v3/me/profile"
    edit = {"location": "Before the end"}
    assert patient.patch(url, json=edit, headers=token).status_code == 200
    services.store.stop()
    assert patient.get(url, headers=token).status_code == 503
    services.store.start_again()

    def read() -> set[str]:
        """Returns what the proxy and the mocks respond."""
        urls = [f"{site(mock)}/v3/me/profile" for mock in services.mocks]
        responses = [patient.get(own, headers=token) for own in (url, *urls)]
        return {it.json()["location"] if it.is_success else it.text for it in responses}

    services.mocks[0].wait_for(lambda: read() == {edit["location"]})


def test_the_image_of_the_example_has_the_client_of_the_store():
    installed = [text for text in STAGES["build-verify"].texts("RUN") if "[all]" in text]
    project = (ROOT / "pyproject.toml").read_text()
    assert MOCK["build"]["target"] == "verify"
    assert installed
    assert re.search(r"^all = \[\"understudy-mock\[.*\bfleet\b", project, re.MULTILINE)


def test_the_manifest_is_valid_and_its_pods_share_a_store():
    for manifest in MANIFESTS:
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    deployment = next(it for it in MANIFESTS if it["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    names = {each["name"] for each in container["env"]}
    option = next(it for it in serve.params if it.name == "state")
    assert deployment["spec"]["replicas"] == 3
    assert f"{serve.context_settings['auto_envvar_prefix']}_{option.name}".upper() in names
    assert serve.make_context("serve", container["args"][1:]).params["host"] == "0.0.0.0"


def test_the_proxy_of_compose_has_the_configuration_that_is_tested_here():
    (volume,) = SERVICES["proxy"]["volumes"]
    assert (FLEET / Path(volume.split(":")[0])).resolve() == FLEET / "fleet.nginx.conf"

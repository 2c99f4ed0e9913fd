"""``examples/fleet``: several mocks on one store, behind a proxy, as the files say and without a container."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from tests import patient
from tests.cli.conftest import Running
from tests.e2e.test_container import KUBERNETES, STAGES
from tests.e2e.test_proxies import free_port, site
from tests.house.documentation import ROOT
from tests.store_server import store_server
from tests.verify.packages import missing

from understudy.cli.serve import serve
from understudy.openapi.yaml_files import read_yaml

FLEET = ROOT / "examples" / "fleet"
SERVICES: dict[str, Any] = read_yaml(FLEET / "compose.yaml")["services"]
MANIFESTS: list[dict[str, Any]] = list(yaml.safe_load_all((FLEET / "kubernetes.yaml").read_text()))

NGINX = """\
daemon off; pid {place}/pid; error_log stderr; events {{}}
http {{
  access_log off; client_body_temp_path {place}/bodies; proxy_temp_path {place}/proxied;
  include {place}/fleet.nginx.conf;
}}
"""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Two mocks with the command line of compose, behind the proxy of its configuration."""
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        missing("nginx")
    with ExitStack() as stack:
        store = stack.enter_context(store_server(tmp_path_factory.mktemp("store")))
        options = [word.replace("store:6379", f"127.0.0.1:{store.port}") for word in command()]
        mocks = []
        for _ in range(2):
            mocks.append(Running(tmp_path_factory.mktemp("mock"), *options))
            stack.callback(mocks[-1].stop)
        place = tmp_path_factory.mktemp("proxy")
        port = free_port()
        (place / "fleet.nginx.conf").write_text(configuration(mocks, port))
        (place / "nginx.conf").write_text(NGINX.format(place=place))
        words = [str(program), "-p", str(place), "-c", str(place / "nginx.conf")]
        proxy = subprocess.Popen(words, text=True)
        stack.callback(proxy.wait)
        stack.callback(proxy.terminate)
        mocks[0].wait_for((place / "pid").exists)
        yield f"http://127.0.0.1:{port}"


def command() -> list[str]:
    words: list[str] = SERVICES["mock"]["command"]
    assert words[0] == "serve"
    return words[1:]


def configuration(mocks: list[Running], port: int) -> str:
    """Returns the proxy's configuration with the addresses of this machine in place of names."""
    text = (FLEET / "fleet.nginx.conf").read_text()
    sites = {"8080": [site(mock) for mock in mocks], "8081": [mock.auth_url for mock in mocks]}
    for default, urls in sites.items():
        servers = " ".join(f"server {url.removeprefix('http://')};" for url in urls)
        text = text.replace(f"server mock:{default};", servers)
    text = text.replace("listen 8080;", f"listen 127.0.0.1:{port};")
    return text.replace("listen 8081;", f"listen 127.0.0.1:{free_port()};")


def test_compose_accepts_the_file():
    if shutil.which("docker-compose") is None:
        missing("docker-compose")
    words = ["docker-compose", "--file", str(FLEET / "compose.yaml"), "config", "--quiet"]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_every_mock_behind_the_proxy_reads_what_any_of_them_wrote(fleet):
    token = {"Authorization": "Bearer ada-full"}
    for number in range(4):
        edit = {"location": f"Place {number}"}
        written = patient.patch(f"{fleet}/v3/me/profile", json=edit, headers=token)
        assert written.status_code == 200, written.text
        read = [patient.get(f"{fleet}/v3/profiles/ada").json()["location"] for _ in range(2)]
        assert read == [edit["location"]] * 2


def test_links_lead_back_through_the_proxy(fleet):
    profile = patient.get(f"{fleet}/v3/profiles/ada").json()
    assert profile["avatar_url"].startswith(fleet)


def test_the_image_of_the_example_has_the_client_of_the_store():
    installed = [text for text in STAGES["build-verify"].texts("RUN") if "[all]" in text]
    project = (ROOT / "pyproject.toml").read_text()
    assert SERVICES["mock"]["build"]["target"] == "verify"
    assert installed
    assert re.search(r"^all = \[\"understudy\[.*\bfleet\b", project, re.MULTILINE)


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

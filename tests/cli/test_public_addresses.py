"""The addresses that the mock gives to clients: behind a proxy, in a container, on the LAN."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests import patient
from tests.cli.conftest import Running

Serve = Callable[..., Running]


def got(url: str, **headers: str) -> httpx.Response:
    return patient.get(url, headers=headers)


def site_of(running: Running) -> str:
    return running.base_url.removesuffix("/v3")


def world_of(running: Running, **headers: str) -> dict[str, Any]:
    answer: dict[str, Any] = got(f"{site_of(running)}/__admin/worlds/default", **headers).json()
    return answer


@pytest.mark.parametrize("given", ["https://app.example/mock", "https://app.example/mock/v3/"])
def test_links_have_the_public_address(serve: Serve, given: str):
    running = serve("--public-url", given, "--public-auth-url", "https://login.example", "--seed=1")
    profile = got(f"{running.base_url}/profiles/ada").json()
    assert profile["avatar_url"].startswith("https://app.example/mock/avatar/")
    assert profile["profile_url"] == "https://app.example/mock/ada"
    published = got(f"{running.base_url}/openapi").json()
    assert published["servers"][0]["url"] == "https://app.example/mock/v3"
    world = world_of(running)
    assert world["base_url"] == "https://app.example/mock/v3"
    assert world["auth_url"] == "https://login.example"


def test_the_public_address_has_an_environment_twin(serve: Serve):
    running = serve(UNDERSTUDY_PUBLIC_URL="https://app.example")
    profile = got(f"{running.base_url}/profiles/ada").json()
    assert profile["profile_url"] == "https://app.example/ada"


def test_on_every_interface_links_follow_the_host_that_a_client_uses(serve: Serve):
    running = serve("--host", "0.0.0.0", "--admin-token", "t")
    auth_port = running.auth_url.rpartition(":")[2]
    world = world_of(running, host="mock.lan:9080", authorization="Bearer t")
    assert world["base_url"] == "http://mock.lan:9080/v3"
    assert world["auth_url"] == f"http://mock.lan:{auth_port}"


def test_one_port_has_one_public_address(serve: Serve):
    running = serve("--single-port", "--public-url", "https://app.example")
    assert world_of(running)["auth_url"] == "https://app.example"


def test_health_is_told_to_any_host(serve: Serve):
    running = serve("--log", "off")
    healthy = got(f"{site_of(running)}/__admin/health", host="mock.svc:80")
    assert (healthy.status_code, healthy.json()) == (200, {"status": "healthy"})


def test_another_host_name_is_let_in_where_it_is_named(serve: Serve):
    running = serve("--admin-host", "Mock.Test")
    assert "detail" not in world_of(running, host="mock.test:8080")
    refused = world_of(running, host="evil.example")
    assert refused["detail"].endswith("or start the mock with --admin-host evil.example.")


def test_what_is_no_address_is_refused(run):
    refused = run("serve", "--public-url", "app.example")
    assert refused.returncode == 2
    assert "'app.example' is not a URL; write it as https://" in refused.stderr

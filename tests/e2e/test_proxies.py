"""The recipes of ``examples/proxies``: behind each proxy, every link leads back through it."""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from playwright.sync_api import Page
from tests import patient
from tests.cli.conftest import Running
from tests.house.documentation import ROOT, blocks
from tests.needs import MODULES, package, program

RECIPES = ROOT / "examples" / "proxies"
PREFIX = "/mock"

OFFLINE = "globalThis.fetch = () => Promise.reject(new Error('offline'));\n"
"""Next asks the registry for its newest version; a test stays on this machine."""

NGINX = """\
daemon off; pid {place}/pid; error_log stderr; events {{}}
http {{
  access_log off; client_body_temp_path {place}/bodies; proxy_temp_path {place}/proxied;
  fastcgi_temp_path {place}/fastcgi; scgi_temp_path {place}/scgi; uwsgi_temp_path {place}/uwsgi;
  server {{ listen 127.0.0.1:{port}; include {place}/understudy.nginx.conf; }}
}}
"""


class Proxy(NamedTuple):
    """A proxy in front of a mock."""

    url: str
    mock: Running


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def site(mock: Running) -> str:
    return mock.base_url.removesuffix("/v3")


def on_node(name: str, place: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Starts a server that npm has installed; its project is a copy of the recipe."""
    path = MODULES / ".bin" / name
    (place / "node_modules").symlink_to(MODULES)
    return subprocess.Popen(
        [str(path), *arguments], cwd=place, env={**os.environ, **environment}, text=True
    )


def vite(place: Path, port: int) -> tuple[Running, subprocess.Popen[str]]:
    package("vite")
    mock = Running(place)
    options = ("--host", "127.0.0.1", "--port", str(port), "--strictPort")
    return mock, on_node("vite", place, *options, UNDERSTUDY_URL=site(mock))


def next_(place: Path, port: int) -> tuple[Running, subprocess.Popen[str]]:
    package("next")
    mock = Running(place, "--public-url", f"http://127.0.0.1:{port}{PREFIX}")
    (place / "offline.cjs").write_text(OFFLINE)
    (place / "pages").mkdir()
    environment = {
        "UNDERSTUDY_URL": site(mock),
        "NEXT_TELEMETRY_DISABLED": "1",
        "NODE_OPTIONS": f"--require {place}/offline.cjs",
    }
    options = ("dev", "--hostname", "127.0.0.1", "--port", str(port))
    return mock, on_node("next", place, *options, **environment)


def nginx(place: Path, port: int) -> tuple[Running, subprocess.Popen[str]]:
    server = program("nginx")
    url = f"http://127.0.0.1:{port}"
    mock = Running(place, "--public-url", url + PREFIX, "--public-auth-url", f"{url}/login")
    recipe = (RECIPES / "understudy.nginx.conf").read_text()
    for default, address in (("8080", site(mock)), ("8081", mock.auth_url)):
        recipe = recipe.replace(f"http://127.0.0.1:{default}/", f"{address}/")
    (place / "understudy.nginx.conf").write_text(recipe)
    main = place / "nginx.conf"
    main.write_text(NGINX.format(place=place, port=port))
    return mock, subprocess.Popen([server, "-p", str(place), "-c", str(main)], text=True)


STARTS: dict[str, Callable[[Path, int], tuple[Running, subprocess.Popen[str]]]] = {
    "vite": vite,
    "next": next_,
    "nginx": nginx,
}


@pytest.fixture(scope="module", params=STARTS)
def proxy(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxy]:
    place = tmp_path_factory.mktemp(request.param)
    if (RECIPES / request.param).is_dir():
        shutil.copytree(RECIPES / request.param, place, dirs_exist_ok=True)
    port = free_port()
    with ExitStack() as stack:
        mock, process = STARTS[request.param](place, port)
        stack.callback(mock.stop)
        stack.callback(process.wait, 20)
        stack.callback(process.terminate)
        mock.wait_for(lambda: listens(port))
        yield Proxy(f"http://127.0.0.1:{port}", mock)


def listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def got(url: str) -> httpx.Response:
    return patient.get(url)


def test_pictures_load_through_the_proxy(proxy: Proxy):
    profile = got(f"{proxy.url}{PREFIX}/v3/profiles/ada").json()
    assert profile["avatar_url"].startswith(f"{proxy.url}{PREFIX}/avatar/")
    picture = got(f"{profile['avatar_url']}?size=40")
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/png")


def test_a_world_is_reached_through_the_proxy(proxy: Proxy):
    made = patient.post(f"{proxy.url}{PREFIX}/__admin/worlds", json={}).json()
    assert made["base_url"].startswith(f"{proxy.url}{PREFIX}/__world/")
    assert got(f"{made['base_url']}/profiles/ada").status_code == 200


def test_signing_in_stays_at_an_address_that_a_browser_reaches(proxy: Proxy):
    world = got(f"{proxy.url}{PREFIX}/__admin/worlds/default").json()
    page = got(f"{world['auth_url']}/")
    assert page.status_code == 200
    stylesheet = page.text.partition('rel="stylesheet" href="')[2].partition('"')[0]
    assert got(str(httpx.URL(f"{world['auth_url']}/").join(stylesheet))).status_code == 200


@pytest.mark.parametrize("proxy", ["vite"], indirect=True)
def test_the_page_of_the_recipe_shows_the_picture(page: Page, proxy: Proxy):
    page.goto(proxy.url)
    page.get_by_text("Ada Merrowdale").wait_for()
    page.wait_for_function("document.querySelector('#avatar').naturalWidth > 0")


def test_the_manual_shows_the_recipes_as_they_are():
    shown = {block.file_name: block.text for block in blocks("docs/how-to/reach-the-mock.md")}
    recipes = [path for path in RECIPES.rglob("*") if path.name in shown]
    assert len(recipes) == 3
    for path in recipes:
        assert shown[path.name].partition("\n")[2] in path.read_text()

"""``examples/react_app`` as its readers run it, on a machine whose only way to understudy is a Python.

The package comes from its tarball; its launcher makes an environment with the wheel in it, as it does
for a user. The dev server and a browser run as in the example.
"""

import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests import patient
from tests.cli.conftest import Running
from tests.e2e.conftest import browser_program
from tests.e2e.test_proxies import free_port
from tests.house.documentation import ROOT
from tests.needs import IS_REQUIRED, js_package
from tests.npm.packing import PROJECTS, project, run
from tests.npm.test_launcher import wait_for

Done = subprocess.CompletedProcess[str]
EXAMPLE = ROOT / "examples" / "react_app"


PROGRAMS = ("node", "npm", "sh", "env")
RUNS_BROWSER = '#!/bin/sh\nPATH=/usr/bin:/bin exec {path} "$@"\n'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, with the package and the other packages that it names installed."""
    for name in ("@vitejs/plugin-react", "react-dom", "@playwright/test", "vite", "vitest", "msw"):
        js_package(name)
    place = project(tmp_path_factory.mktemp("react") / "app", EXAMPLE)
    shutil.copy(PROJECTS / "browser" / "client.spec.ts", place / "tests")
    return place


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a machine with node, npm, a browser and Python, and nothing of this checkout.

    Where no tool is required, no index need be reached: the packages of the wheel are those of this run.
    """
    home = tmp_path_factory.mktemp("home")
    programs = home / "bin"
    programs.mkdir()
    for name in PROGRAMS:
        (programs / name).symlink_to(Path(str(shutil.which(name))).resolve())
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    (programs / "python3").symlink_to(base)
    environment = {"PATH": str(programs), "HOME": str(home), "NO_COLOR": "1"}
    if IS_REQUIRED:
        return environment
    packages = sysconfig.get_path("purelib")
    return {**environment, "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PYTHONPATH": packages}


@pytest.fixture(scope="module")
def browser(machine: dict[str, str]) -> str:
    """The browser as a program of that machine."""
    program = Path(machine["PATH"]) / "chromium"
    program.write_text(RUNS_BROWSER.format(path=browser_program()))
    program.chmod(0o755)
    return str(program)


def test_its_tests_pass_on_a_machine_that_has_only_python(
    place: Path, machine: dict[str, str], browser: str
):
    variables = {**machine, "CHROMIUM": browser, "PORT": str(free_port())}
    done = run_in(place, variables, "npm", "test")
    assert "11 passed" in done.stdout, done.stdout[-6000:] + done.stderr
    assert "making an environment with Python" in done.stderr
    assert done.stderr.count("(of the dev server)") == 1  # and no second mock was started


def test_a_page_that_talks_to_another_mock_fails_its_test(
    tmp_path: Path, machine: dict[str, str], browser: str
):
    place = project(tmp_path / "project", PROJECTS / "elsewhere")
    with two_mocks(tmp_path) as (tests, pages):
        variables = {**machine, "CHROMIUM": browser, "UNDERSTUDY_URL": tests, "BASE_URL": pages}
        done = run_in(place, variables, "npm", "exec", "playwright", "test")
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{pages}/v3/profiles/ada was answered by another mock" in done.stdout


def test_the_dev_server_starts_and_stops_a_mock_and_prints_where_it_is(
    place: Path, machine: dict[str, str]
):
    port = free_port()
    with vite(place, machine, port) as (server, printed):
        url = f"http://127.0.0.1:{port}"
        wait_for(lambda: "Console:" in printed.read_text(), server)
        assert f"Mock:    {url}/mock/v3\n" in printed.read_text()
        profile = patient.get(f"{url}/mock/v3/profiles/ada").json()
        assert profile["avatar_url"].startswith(f"{url}/mock/avatar/")
        assert patient.get(profile["avatar_url"]).headers["content-type"] == "image/png"
        application = f"{url}/mock/__admin/applications/browser-app"
        wait_for(lambda: f"{url}/" in patient.get(application).json()["redirect_uris"], server)
        (console,) = re.findall(r"Console: (\S+)", printed.read_text())
        page = patient.get(console)
        scripts = re.findall(r'<script [^>]*src="([^"]+)"', page.text)
        kinds = [patient.get(page.url.join(each)).headers["content-type"] for each in scripts]
        assert {kind.partition(";")[0] for kind in kinds} == {"text/javascript"}
        (mock,) = children(server, "understudy")
    assert not Path(f"/proc/{mock}").exists()


def test_its_reads_are_tested_without_a_mock_and_without_python(
    place: Path, tmp_path: Path, machine: dict[str, str]
):
    running = Running(tmp_path, "--log", "off")
    handlers = ["msw", "--base-url", running.base_url, "--out", "offline/handlers.js", "--force"]
    try:
        written = run(place, "understudy-js", *handlers)
    finally:
        running.stop()
    assert written.returncode == 0, written.stderr
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in PROGRAMS:
        (programs / name).symlink_to(Path(machine["PATH"]) / name)
    done = run_in(place, {**machine, "PATH": str(programs)}, "npm", "run", "offline")
    assert "4 passed" in done.stdout, done.stdout + done.stderr


def test_its_types_are_right(place: Path, machine: dict[str, str]):
    done = run_in(place, machine, "npm", "run", "--silent", "check")
    assert (done.returncode, done.stdout) == (0, "")


@contextmanager
def two_mocks(place: Path) -> Iterator[tuple[str, str]]:
    """Yields the addresses of two mocks that know nothing of each other."""
    places = [place / "first", place / "second"]
    for each in places:
        each.mkdir()
    first, second = (Running(each, "--log", "off", "--single-port") for each in places)
    try:
        yield first.base_url.removesuffix("/v3"), second.base_url.removesuffix("/v3")
    finally:
        first.stop()
        second.stop()


def children(process: "subprocess.Popen[str]", program: str) -> list[str]:
    """Returns the processes that a process has started to run a program."""
    started = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [it for it in started if f"\0{program}\0" in Path(f"/proc/{it}/cmdline").read_text()]


@contextmanager
def vite(
    place: Path, machine: dict[str, str], port: int
) -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    printed = place / "vite.txt"
    program = str(place / "node_modules" / ".bin" / "vite")
    options = ("--host", "127.0.0.1", "--port", str(port), "--strictPort")
    with printed.open("w") as output:
        server = subprocess.Popen(
            [program, *options], cwd=place, env=machine, stdout=output, text=True
        )
    try:
        yield server, printed
    finally:
        server.terminate()
        server.wait(60)


def run_in(place: Path, variables: dict[str, str], *command: str) -> Done:
    program = str(Path(variables["PATH"]) / command[0])
    return subprocess.run(
        [program, *command[1:]],
        cwd=place,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

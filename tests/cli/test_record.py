"""``understudy record`` as its users start it: sockets, live lines, a signal at the end."""

import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.cli.conftest import UNDERSTUDY
from tests.patient import PATIENCE, get, request

from understudy.cli import main
from understudy.mock.fixtures import loading
from understudy.mock.settings import Settings, settings_like
from understudy.testing.background import Background

ADA = {"Authorization": "Bearer ada-full"}


@pytest.fixture(scope="module")
def background() -> Iterator[Background]:
    """A mock that plays the deployment."""
    background = Background(Settings(log="off"))
    yield background
    background.stop()


@pytest.fixture
def target(background: Background, tmp_path: Path) -> Path:
    path = tmp_path / "staging.toml"
    path.write_text(f'base_url = "{background.url}/v3"\nauth_url = "{background.auth_url}"\n')
    return path


class Proxying:
    """A proxy in a process of its own.

    Attributes:
        base_url: Base URL of the resource API.
        output: What the process has printed, once it has ended.
    """

    def __init__(self, process: subprocess.Popen[str], ready: Path) -> None:
        self.process = process
        deadline = time.monotonic() + PATIENCE
        while not ready.exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)  # noqa: TID251 - waits for another process, not for a world's clock
        self.base_url: str = json.loads(ready.read_text())["base_url"]
        self.output = ""

    def end(self, number: signal.Signals) -> int:
        """Sends a signal, and returns the exit code."""
        self.process.send_signal(number)
        self.output = "".join(self.process.communicate(timeout=PATIENCE))
        return self.process.returncode


@contextmanager
def proxying(target: Path, *options: str, directory: Path | None = None) -> Iterator[Proxying]:
    ready = target.with_name("ready.json")
    command = [str(UNDERSTUDY), "record", "--target", str(target), "--ready-file", str(ready)]
    with subprocess.Popen(
        [*command, "--port", "0", "--auth-port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=directory,
    ) as process:
        try:
            yield Proxying(process, ready)
        finally:
            process.kill()


@contextmanager
def unlimited_core_dumps() -> Iterator[None]:
    """Lets processes that are started meanwhile leave core dumps, as a developer's machine may."""
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)


def parts(count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield b"x" * 65_536


def test_traffic_passes_and_is_judged_until_a_signal_ends_the_proxy(target: Path) -> None:
    with proxying(target, "--fallback") as proxy:
        assert get(f"{proxy.base_url}/profiles/ada").json()["display_name"]
        chunked = request("POST", f"{proxy.base_url}/me/avatars", headers=ADA, content=parts(20))
        assert chunked.status_code == 415
        waiting = {**ADA, "Expect": "100-continue", "Content-Type": "application/json"}
        changed = request("PATCH", f"{proxy.base_url}/me/profile", headers=waiting, content=b"{}")
        assert changed.status_code == 200
        assert proxy.end(signal.SIGTERM) == 0, proxy.output
    assert "3 exchanges judged, 0 findings" in proxy.output
    assert "0 responses of the mock, where the deployment had none" in proxy.output


@pytest.mark.usefixtures("measured_children")
def test_a_recording_is_served_at_once_and_nothing_of_a_token_is_on_the_disk(target: Path) -> None:
    out, key = target.with_name("staging"), target.with_suffix(".key")
    with proxying(target, "--out", str(out)) as proxy:
        get(f"{proxy.base_url}/me/profile?canary=Canary7Q", headers={**ADA, "X-C": "Canary7Q"})
        get(f"{proxy.base_url}/me/profile", headers={"Authorization": "Bearer Canary7Q"})
        assert proxy.end(signal.SIGINT) == 0, proxy.output
    assert f"understudy serve --like {out}/deployment.yaml" in proxy.output
    assert settings_like(out / "deployment.yaml").fixtures == out
    assert "keep it out of version control" in proxy.output
    assert key.stat().st_mode & 0o777 == 0o600
    written = [path for path in out.parent.rglob("*") if path.is_file()]
    assert len(written) > 5
    texts = [proxy.output.encode(), *(path.read_bytes() for path in written)]
    assert [text for text in texts if b"Canary7Q" in text or b"ada-full" in text] == []
    assert loading.load(out)


def test_a_proxy_that_crashes_leaves_nothing_of_what_passed(target: Path) -> None:
    out = target.with_name("staging")
    started = proxying(target, "--out", str(out), directory=target.parent)  # where a dump would be
    with unlimited_core_dumps(), started as proxy:
        get(f"{proxy.base_url}/profiles/Canary7Q?q=Canary7Q", headers={"X-Canary": "Canary7Q"})
        proxy.process.send_signal(signal.SIGABRT)
        ended = os.waitid(os.P_PID, proxy.process.pid, os.WEXITED | os.WNOWAIT)
        output = "".join(proxy.process.communicate(timeout=PATIENCE))
    assert ended is not None
    assert (ended.si_code, ended.si_status) == (os.CLD_KILLED, signal.SIGABRT)  # not CLD_DUMPED
    assert "Canary7Q" not in output
    assert not out.exists()
    written = [path for path in target.parent.rglob("*") if path.is_file()]
    assert [path for path in written if b"Canary7Q" in path.read_bytes()] == []


def test_a_key_that_others_can_read_is_refused(target: Path) -> None:
    key = target.with_suffix(".key")
    key.write_text("0" * 64)
    key.chmod(0o644)
    options = ["record", "--target", str(target), "--out", str(target.with_name("out"))]
    result = CliRunner().invoke(main, options)
    assert result.exit_code == 2
    assert f"chmod 600 {key}" in result.output


def test_a_recording_needs_a_deployment() -> None:
    result = CliRunner().invoke(main, ["record"])
    assert result.exit_code == 2
    assert "--target FILE or --base-url URL" in result.output


@pytest.mark.parametrize("option", ["--port", "--ready-file"])
def test_what_cannot_be_used_is_said_in_one_line(
    target: Path, background: Background, option: str
) -> None:
    values: dict[str, Callable[[], str]] = {
        "--port": lambda: background.url.rpartition(":")[2],
        "--ready-file": lambda: str(target / "ready.json"),
    }
    result = CliRunner().invoke(main, ["record", "--target", str(target), option, values[option]()])
    assert result.exit_code == 2
    assert option in result.output

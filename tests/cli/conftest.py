"""The command as its users start it: a process with sockets."""

import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

UNDERSTUDY = Path(sys.executable).with_name("understudy")
PATIENCE = 120
"""Seconds that a busy machine may take."""


class Running:
    """A mock in a process of its own."""

    command: tuple[str, ...] = ("serve",)

    def __init__(self, directory: Path, *options: str, **environment: str) -> None:
        self.ready_file = directory / "ready.json"
        self.output = directory / "output.txt"
        command = [str(UNDERSTUDY), *self.command, "--ready-file", str(self.ready_file)]
        ports = ["--port", "0", "--auth-port", "0"]
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [*command, *ports, *options],
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
            )
        try:
            self.wait_for(self.ready_file.exists)
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise
        addresses: dict[str, Any] = json.loads(self.ready_file.read_text())
        self.base_url: str = addresses["base_url"]
        self.auth_url: str = addresses["auth_url"]

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Waits until something is so, and tells what the mock said where it never is."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            alive = self.process.poll() is None
            assert alive, self.said()
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.01)  # noqa: TID251 - waits for another process, not for a world's clock

    def said(self) -> str:
        return self.output.read_text()

    def stop(self) -> int:
        """Does what Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    """Lets garbage be collected that a command has frozen, which would be the process's last."""
    yield
    gc.unfreeze()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    with ExitStack() as stack:

        def start(*options: str, **environment: str) -> Running:
            directory = tmp_path / f"run-{time.monotonic_ns()}"
            directory.mkdir()
            running = Running(directory, *options, **environment)
            stack.callback(running.stop)
            return running

        yield start


@pytest.fixture
def run() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command to its end."""

    def to_its_end(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(UNDERSTUDY), *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE
        )

    return to_its_end

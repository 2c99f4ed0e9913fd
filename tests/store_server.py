"""Starts a real Valkey or Redis server for tests; it listens on this machine only."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.leftovers import take_over
from tests.needs import program

from understudy.fleet.connection import send_once
from understudy.store_address import StoreAddress


class StoreServer:
    """A server that was started for tests.

    Args:
        directory: Where it keeps its files.
        options: Further options of the program.
    """

    def __init__(self, directory: Path, *options: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._directory = directory
        self._options = options
        self.process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        """Starts the program, and waits for the line with which it says that it is ready."""
        about = ("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._directory))
        process = subprocess.Popen(
            [program("redis-server"), *about, "--save", "", *self._options],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        if not any("eady to accept connections" in line for line in lines):
            process.kill()
            process.communicate()
            pytest.fail(f"{process.args!r} does not start")
        return process

    def url(self, scheme: str = "valkey", login: str = "") -> str:
        """Returns the URL of its first database."""
        return f"{scheme}://{login}127.0.0.1:{self.port}/0"

    def send(self, *command: str | int) -> Any:
        """Returns the reply to a command."""
        return send_once(StoreAddress("valkey", "127.0.0.1", self.port, 0), command)

    def stop(self) -> None:
        """Kills it."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def start_again(self) -> None:
        """Starts it at the same port, after it was stopped."""
        before = self.process.pid
        self.process = self._started()
        take_over(self.process.pid, before)


@contextmanager
def store_server(directory: Path, *options: str) -> Iterator[StoreServer]:
    """Runs a server; skips the test where none is installed, unless one is required."""
    server = StoreServer(directory, *options)
    try:
        yield server
    finally:
        server.stop()

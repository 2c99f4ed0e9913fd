"""Starts a real Valkey or Redis server for tests; it listens on this machine only."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.needs import program


@contextmanager
def served(directory: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Runs a server; yields its address and its process.

    Args:
        directory: The directory for its files.
        options: Further options of the program; a port among them replaces the free one.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    named = [option.replace("PORT", str(port)) for option in options]
    ports = [] if "--tls-port" in named else ["--port", str(port)]
    command = [program("redis-server"), *ports, "--bind", "127.0.0.1", "--dir", str(directory)]
    process = subprocess.Popen([*command, "--save", "", *named], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = iter(process.stdout.readline, "")
    try:
        assert any("eady to accept connections" in line for line in lines)
        yield f"127.0.0.1:{port}", process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()

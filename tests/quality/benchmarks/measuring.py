"""Starts a server alone on the machine, loads it with wrk, and looks at its memory."""

import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.quality.benchmarks.peers import Peer
from tests.quality.benchmarks.workloads import Workload

PATIENCE = 60
CONNECTIONS = 16
WARM_UP = 2
"""Seconds of the same load before it counts: node and the JVM compile what is used often."""


@dataclass(frozen=True)
class Load:
    """What wrk measured.

    Attributes:
        rate: Requests a second.
        p50: Milliseconds.
        p99: Milliseconds.
        requests: How many were answered.
    """

    rate: float
    p50: float
    p99: float
    requests: int = 0


class NotServed(Exception):
    """The server did not start, or does not do this work; its text says why."""


class Server:
    """A running server.

    Attributes:
        start_seconds: From the start of the process to its first good answer.
    """

    def __init__(self, peer: Peer, port: int, process: "subprocess.Popen[bytes]") -> None:
        self.peer = peer
        self.url = f"http://127.0.0.1:{port}{peer.prefix}"
        self.start_seconds = 0.0
        self._process = process

    def refusal(self, work: Workload) -> str | None:
        """Returns why the server does not do a piece of work, or None."""
        work = work.first or work
        parts = urlsplit(self.url + work.path)
        connection = HTTPConnection(parts.netloc, timeout=PATIENCE)
        try:
            connection.request(
                work.method, f"{parts.path}?{parts.query}", work.body or None, work.headers
            )
            status = connection.getresponse().status
        except (OSError, HTTPException) as error:
            return str(error)
        finally:
            connection.close()
        return f"answers {status}" if status >= 400 else None

    def load(self, work: Workload, seconds: int) -> Load:
        """Loads the server with one piece of work.

        Raises:
            NotServed: It does not do that work.
        """
        refusal = self.refusal(work)
        if refusal is not None:
            raise NotServed(refusal)
        with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
            script.write(work.script(self.peer.prefix))
            script.flush()
            self._wrk(script.name, WARM_UP)
            return parsed(self._wrk(script.name, seconds))

    def cost(self, work: Workload, seconds: int) -> float:
        """Returns the microseconds of processor time that a request costs the server.

        Raises:
            NotServed: It does not do that work.
        """
        before = self._processor_seconds()
        with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
            script.write(work.script(self.peer.prefix))
            script.flush()
            requests = parsed(self._wrk(script.name, seconds)).requests
        return (self._processor_seconds() - before) / requests * 1e6

    def _processor_seconds(self) -> float:
        """Returns the processor time that the process has used, in user and kernel mode."""
        status = Path(f"/proc/{self._process.pid}/stat").read_text()
        user, kernel = status.rpartition(")")[2].split()[11:13]
        return (int(user) + int(kernel)) / os.sysconf("SC_CLK_TCK")

    def _wrk(self, script: str, seconds: int) -> str:
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "-s", script]
        ran = subprocess.run([*command, self.url], capture_output=True, text=True, check=True)
        return ran.stdout

    def memory(self) -> float:
        """Returns the resident memory of the whole process tree, in megabytes."""
        return sum(_resident(pid) for pid in _tree(self._process.pid)) / 1e6


def parsed(output: str) -> Load:
    """Reads what the script of a workload wrote.

    Raises:
        NotServed: More than a few requests failed.
    """
    found = re.search(r"RESULT (\{.*\})", output)
    if found is None:
        msg = f"wrk says {output.strip()[-200:]!r}"
        raise NotServed(msg)
    said: dict[str, Any] = json.loads(found[1])
    if said["failed"] > said["requests"] / 1000:
        msg = f"{said['failed']} of {said['requests']} requests failed"
        raise NotServed(msg)
    rate = said["requests"] / (said["microseconds"] / 1e6)
    return Load(rate, said["p50"] / 1000, said["p99"] / 1000, said["requests"])


@contextmanager
def served(peer: Peer, cache: Path, works: Sequence[Workload]) -> Iterator[Server]:
    """Runs a server for as long as the block; it has started once it does any of the work.

    Raises:
        NotServed: It did not answer in time.
    """
    port = _free_port()
    with (cache / "server.log").open("w+b") as log:
        command: Sequence[str] = peer.command(port, cache)
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=log, stderr=log, cwd=cache, start_new_session=True
        )
        server = Server(peer, port, process)
        try:
            while all(server.refusal(work) is not None for work in works):
                if process.poll() is not None or time.perf_counter() - started > PATIENCE:
                    log.seek(0)
                    msg = f"did not start: {log.read()[-300:].decode(errors='replace')!r}"
                    raise NotServed(msg)
                time.sleep(0.005)  # noqa: TID251 - waits for another process
            server.start_seconds = time.perf_counter() - started
            yield server
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def import_seconds(times: int) -> float:
    """Returns the median wall time of ``python -c "import connexion"``."""
    command = [sys.executable, "-W", "ignore", "-c", "import connexion"]
    found = []
    for _ in range(times):
        started = time.perf_counter()
        subprocess.run(command, check=True)
        found.append(time.perf_counter() - started)
    return statistics.median(found)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _tree(pid: int) -> Iterator[int]:
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except FileNotFoundError:
        return
    for child in children:
        yield from _tree(int(child))


def _resident(pid: int) -> int:
    """Returns the most bytes that a process ever held (``VmHWM``)."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0

"""Starts a server, loads it with wrk, and looks at its memory and its processor time."""

import os
import resource
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from tests.tools.benchmarks.loads import Load, NotServed, parsed
from tests.tools.benchmarks.peers import Peer
from tests.tools.benchmarks.processes import machine_seconds, processor_seconds, resident_megabytes
from tests.tools.benchmarks.workloads import Workload

PATIENCE = 60
"""Seconds that a server may take to start, and to respond."""

CONNECTIONS = 16

_LONGEST_START = 10.0
"""Seconds within which a server becomes idle after its first response, or is loaded all the same."""

_IDLE_SECONDS = 0.3
_IDLE_PROCESSOR = 0.02
"""An idle server takes at most this many seconds of processor time in ``_IDLE_SECONDS``."""


class Server:
    """A running server.

    Attributes:
        start_seconds: From the start of the process to its first good response.
        start_processor: The same in seconds of processor time.
    """

    def __init__(self, peer: Peer, port: int, process: "subprocess.Popen[bytes]") -> None:
        self.peer = peer
        self.url = f"http://127.0.0.1:{port}{peer.prefix}"
        self.start_seconds = 0.0
        self.start_processor = 0.0
        self._process = process

    def refusal(self, work: Workload) -> str | None:
        """Returns why the server does not do a piece of work, or None."""
        work = (work.first or work).example()
        parts = urlsplit(self.url + work.path)
        connection = HTTPConnection(parts.netloc, timeout=PATIENCE)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        try:
            connection.request(work.method, target, work.body or None, work.headers)
            status = connection.getresponse().status
        except (OSError, HTTPException) as error:
            return str(error)
        finally:
            connection.close()
        return f"responds with {status}" if status >= 400 else None

    def load(self, work: Workload, seconds: int, connections: int = CONNECTIONS) -> Load:
        """Loads the server with one piece of work, after as many seconds as it needs to warm up.

        Raises:
            NotServed: It does not do that work.
        """
        refusal = self.refusal(work)
        if refusal is not None:
            raise NotServed(refusal)
        with self._script(work) as script:
            if self.peer.warm_up:
                self._wrk(script, self.peer.warm_up, connections)
            before = self._others_seconds()
            started = time.perf_counter()
            load = parsed(self._wrk(script, seconds, connections))
            other_seconds = self._others_seconds() - before
            other_cores = max(0.0, other_seconds / (time.perf_counter() - started))
            return replace(load, other_cores=other_cores)

    def cost(self, work: Workload, seconds: int) -> float:
        """Returns the microseconds of processor time that a request costs the server.

        Raises:
            NotServed: It does not do that work.
        """
        before = self.processor_seconds()
        with self._script(work) as script:
            requests = parsed(self._wrk(script, seconds, CONNECTIONS)).requests
        return (self.processor_seconds() - before) / requests * 1e6

    def processor_seconds(self) -> float:
        """Returns the processor time of the server since its start."""
        return processor_seconds(self._process.pid)

    def wait_until_idle(self) -> None:
        """Waits until the server has finished its start, or has had 10 seconds for it.

        The mock imports what unusual requests need in a thread after its first response, and programs
        in other languages compile themselves: a load at that time measures the start.
        """
        deadline = time.monotonic() + _LONGEST_START
        before, now = -1.0, self.processor_seconds()
        while now - before > _IDLE_PROCESSOR and time.monotonic() < deadline:
            time.sleep(_IDLE_SECONDS)  # noqa: TID251 - waits for another process
            before, now = now, self.processor_seconds()

    def memory(self) -> float:
        """Returns the most memory that the server ever held, in megabytes."""
        return resident_megabytes(self._process.pid)

    def _others_seconds(self) -> float:
        """Returns the processor time of all that is neither the server nor ours."""
        ours = sum(
            usage.ru_utime + usage.ru_stime
            for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        )
        return machine_seconds() - self.processor_seconds() - ours

    @contextmanager
    def _script(self, work: Workload) -> Iterator[str]:
        with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
            script.write(work.script(self.peer.prefix))
            script.flush()
            yield script.name

    def _wrk(self, script: str, seconds: int, connections: int) -> str:
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", script]
        wrk = subprocess.run([*command, self.url], capture_output=True, text=True, check=True)
        return wrk.stdout


@contextmanager
def served(peer: Peer, cache: Path, works: Sequence[Workload]) -> Iterator[Server]:
    """Runs a server for as long as the block; it has started once it does any of the work.

    Raises:
        NotServed: It did not answer in time.
    """
    port = _free_port()
    with tempfile.TemporaryFile() as log:
        command: Sequence[str] = peer.command(port, cache)
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=log, stderr=log, cwd=cache, start_new_session=True
        )
        server = Server(peer, port, process)
        try:
            while process.poll() is not None or all(map(server.refusal, works)):
                if process.poll() is not None or time.perf_counter() - started > PATIENCE:
                    log.seek(0)
                    msg = f"did not start: {log.read()[-300:].decode(errors='replace')!r}"
                    raise NotServed(msg)
                time.sleep(0.005)  # noqa: TID251 - waits for another process
            server.start_seconds = time.perf_counter() - started
            server.start_processor = server.processor_seconds()
            server.wait_until_idle()
            yield server
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port

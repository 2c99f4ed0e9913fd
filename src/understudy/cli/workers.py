"""Runs several processes that serve the same worlds on the same ports (``serve --workers``).

Each worker listens on the ports with SO_REUSEPORT, so that the kernel distributes the connections.
The process that the user started serves nothing: it replaces workers that die, and ends them all.
"""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from threading import Event
from types import FrameType
from typing import Any, Final

import orjson

from understudy.errors import StartupError
from understudy.mock.server import serving
from understudy.mock.settings import Settings
from understudy.terminal import echo

_log = logging.getLogger(__name__)

_PAUSE: Final = 1.0
"""Seconds before a dead worker is replaced."""

_USAGE: Final = 2
"""The exit code of a command that cannot start."""


class WorkerLink:
    """The connection of a worker with its supervisor.

    Args:
        announced: File descriptor to write the addresses to, once the worker serves.
        lifeline: File descriptor that reaches its end when the supervisor ends.
        is_first: True if the worker prints the first screen.
    """

    def __init__(self, announced: int, lifeline: int, *, is_first: bool) -> None:
        self._announced = announced
        self._lifeline = lifeline
        self.is_first = is_first

    def announce(self, addresses: Mapping[str, str], stop: Callable[[], None]) -> None:
        """Tells the supervisor that this worker serves, and stops the worker when that ends."""
        with suppress(BrokenPipeError):  # the supervisor does not wait for replaced workers
            os.write(self._announced, orjson.dumps(addresses))
        os.close(self._announced)
        asyncio.get_running_loop().add_reader(self._lifeline, stop)


Serve = Callable[[Settings, WorkerLink], None]
"""Serves as one worker until it is stopped."""


class Supervisor:
    """Starts, replaces and ends the workers of one mock.

    Args:
        settings: The settings of the mock, with the ports that the workers share.
        serve: The function that each worker runs.
    """

    def __init__(self, settings: Settings, serve: Serve) -> None:
        self._settings = settings
        self._serve = serve
        self._workers: set[int] = set()
        self._stopping = Event()
        self._lifeline = os.pipe()

    def run(self, ready: Callable[[Mapping[str, str]], None]) -> None:
        """Runs the workers until SIGINT or SIGTERM.

        Args:
            ready: Called with the addresses once every worker serves.
        """
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        # the first one alone, so that an error is printed once and not by every worker
        addresses = self._started(is_first=True)
        for _ in range(1, self._settings.workers):
            self._started(is_first=False)
        ready(addresses)
        while self._workers:
            with suppress(ChildProcessError):
                pid, status = os.wait()
                self._ended(pid, os.waitstatus_to_exitcode(status))

    def _ended(self, pid: int, code: int) -> None:
        self._workers.discard(pid)
        if self._stopping.is_set():
            return
        _log.warning("The worker %d has ended with %d; another one is started.", pid, code)
        self._stopping.wait(_PAUSE)
        if not self._stopping.is_set():
            os.close(self._fork(is_first=False))

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping.set()
        for pid in self._workers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    def _started(self, *, is_first: bool) -> Any:
        """Starts a worker, and returns its addresses once it serves; exits if it cannot start."""
        announced = self._fork(is_first=is_first)
        with os.fdopen(announced, "rb") as pipe:
            line = pipe.read()
        if line:
            return orjson.loads(line)
        was_stopped = self._stopping.is_set()
        self._stop(signal.SIGTERM, None)
        sys.exit(0 if was_stopped else _USAGE)

    def _fork(self, *, is_first: bool) -> int:
        """Starts a worker; returns the file descriptor to read its addresses from."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid:
            os.close(writing)
            self._workers.add(pid)
            return reading
        code = _USAGE
        try:
            os.close(reading)
            os.close(self._lifeline[1])
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            self._serve(self._settings, WorkerLink(writing, self._lifeline[0], is_first=is_first))
            code = 0
        except StartupError as error:
            echo(f"understudy: {error}", err=True)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)  # without the exit handlers of the supervisor


def supervise(settings: Settings, serve: Serve, ready: Callable[[Mapping[str, str]], None]) -> None:
    """Runs the workers of ``--workers`` until they are stopped.

    Raises:
        StartupError: There is no shared store, a port is in use, or the platform cannot share ports.
    """
    if not isinstance(settings.state, str):
        msg = (
            f"--workers {settings.workers} needs a store that the processes share: "
            "add --state valkey://host/0."
        )
        raise StartupError(msg)
    if not hasattr(os, "fork") or not serving.CAN_SHARE_PORTS:
        msg = "--workers is for Linux and other systems that share a port among processes."
        raise StartupError(msg)
    reserved = [serving.bind(settings.host, settings.port, "--port", is_shared=True)]
    settings = replace(settings, port=reserved[0].getsockname()[1])
    if not settings.single_port:
        reserved.append(
            serving.bind(settings.host, settings.auth_port, "--auth-port", is_shared=True)
        )
        settings = replace(settings, auth_port=reserved[1].getsockname()[1])
    Supervisor(settings, serve).run(ready)
    for listener in reserved:
        listener.close()

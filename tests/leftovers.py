"""Fails a test that leaves a thread, a process or a server behind, so that nobody else is charged with it.

What a fixture of a wider scope starts may live until that fixture ends, and so may what takes its place; what
is started for the whole run says so. Anything else has to be over when the test is torn down. A process whose
parent is gone is found when the session ends, by the name of the test in its environment.
"""

import gc
import os
import socket
import threading
import time
import uuid
from collections.abc import Generator, Iterator
from concurrent.futures import thread
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

GRACE: Final = 10.0
"""Seconds in which what was told to end may do so."""

RUN: Final = "UNDERSTUDY_TEST_RUN"
"""The variable by which processes of this run are told from those of another one on the machine."""

TEST: Final = "PYTEST_CURRENT_TEST"
"""The variable by which pytest names the test that runs."""

POOLS: Final = (
    *("AnyIO worker thread", "Dummy-"),
    "loop-watchdog",
    "asyncio-portal-",  # Schemathesis has one for the process, to ask applications through
)
"""Threads that a server starts when it is first asked, and ends with itself or the process."""

_OF_EXECUTORS: Final = thread._threads_queues

Started = threading.Thread | int | str
"""A thread, the number of a process, or the name of a listening socket as /proc/self/fd has it."""

_for_the_run: set[Started] = set()
_replaced: dict[int, int] = {}


@contextmanager
def kept_for_the_run() -> Iterator[None]:
    """Lets live on what is started here by the test that happens to be the first to need it."""
    before = _living()
    test = os.environ.pop(TEST, None)  # nor is it an orphan of that test: it ends with the process
    try:
        yield
    finally:
        if test is not None:
            os.environ[TEST] = test
    _for_the_run.update(_living() - before)


def take_over(process: int, before: int) -> None:
    """Takes that a process has the place of one that a fixture has started, and ends with that fixture."""
    _replaced[process] = before


def _children() -> Iterator[int]:
    """Yields the processes that this one has started; nothing where the system does not list them."""
    for task in Path("/proc/self/task").glob("*/children"):
        try:
            yield from map(int, task.read_text().split())
        except OSError:
            continue  # the thread has ended


def _is_over(started: Started) -> bool:
    """Returns whether something has ended, if only its parent has not asked for its exit code yet."""
    if isinstance(started, threading.Thread):
        return not started.is_alive()
    if isinstance(started, str):
        return started not in _listening()
    try:
        return Path(f"/proc/{started}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def _listening() -> set[str]:
    """Returns the listening sockets of this process; nothing where the system does not list them."""
    place = Path("/proc/self/fd")
    return {name for it in place.glob("*") if (name := _name_of_listener(it)) is not None}


def _name_of_listener(descriptor: Path) -> str | None:
    """Returns the name of a socket that accepts connections; None for any other descriptor."""
    try:
        name = os.readlink(descriptor)  # noqa: PTH115 - a name, not a path
        if not name.startswith("socket:"):
            return None
        borrowed = socket.socket(fileno=int(descriptor.name))
    except OSError:
        return None  # closed meanwhile
    try:
        listens = borrowed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    except OSError:
        listens = 0
    finally:
        borrowed.detach()  # it is its owner who closes it
    return name if listens else None


def _described(started: Started) -> str:
    if isinstance(started, threading.Thread):
        return f"thread {started.name}"
    if isinstance(started, str):
        return f"listening {started}"
    try:
        command = Path(f"/proc/{started}/cmdline").read_bytes()
    except OSError:
        command = b"(over)"
    return f"process {started}: {command.replace(bytes(1), b' ').decode(errors='replace').strip()}"


def _living() -> set[Started]:
    threads = {
        it
        for it in threading.enumerate()
        if it not in _OF_EXECUTORS and not it.name.startswith(POOLS)
    }
    return {*threads, *_children(), *_listening()}


class Leftovers:
    """Knows what lives on purpose."""

    def __init__(self) -> None:
        self._known: set[Started] = set()
        self._owned: dict[int, set[Started]] = {}

    def pytest_collection_finish(self) -> None:
        self._known = _living()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any]
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        before = _living()
        result = yield  # one that fails halfway owns nothing, and the test is charged
        self._owned[id(fixturedef)] = _living() - before
        return result

    def pytest_fixture_post_finalizer(self, fixturedef: pytest.FixtureDef[Any]) -> None:
        self._owned.pop(id(fixturedef), None)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        result = yield
        left = self._left()
        if left:
            self._known |= left  # charged once
            names = "\n".join(sorted(map(_described, left)))
            pytest.fail(f"{item.nodeid} leaves behind:\n{names}", pytrace=False)
        return result

    def _left(self) -> set[Started]:
        """Returns what should be over and is not."""
        expected = self._known.union(_for_the_run, *self._owned.values())
        for new, before in _replaced.items():  # the earliest first
            if before in expected:
                expected.add(new)
        left = _living() - expected
        if any(isinstance(it, str) for it in left):
            gc.collect()  # which warns of a socket in a cycle, while its test can still be charged
        deadline = time.monotonic() + GRACE
        while left:
            left = {it for it in left if not _is_over(it)}
            if not left or time.monotonic() > deadline:
                break
            time.sleep(0.01)  # noqa: TID251 - waits for what was told to end
        return left


class Orphans:
    """Fails a session after which a process of one of its tests still runs; its first process asks."""

    def __init__(self) -> None:
        self._run = uuid.uuid4().hex  # noqa: TID251 - names this run among others on the machine
        self._left: list[str] = []
        os.environ[RUN] = self._run

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        deadline = time.monotonic() + GRACE
        while (left := list(self._found())) and time.monotonic() < deadline:
            time.sleep(0.05)  # noqa: TID251 - waits for what was told to end
        self._left = left
        if left and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in self._left:
            terminalreporter.write_line(line, red=True)

    def _found(self) -> Iterator[str]:
        mark = f"{RUN}={self._run}".encode()
        for place in Path("/proc").glob("[0-9]*"):
            try:
                variables = (place / "environ").read_bytes().split(b"\0")
            except OSError:
                continue  # over, or another user's
            tests = [it for it in variables if it.startswith(f"{TEST}=".encode())]
            process = int(place.name)
            if mark in variables and tests and process != os.getpid() and not _is_over(process):
                test = tests[0].partition(b"=")[2].decode(errors="replace")
                yield f"{test} leaves behind {_described(process)}"

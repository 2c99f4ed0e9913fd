"""Reads from /proc what processes and the whole machine have used, and runs programs to their end."""

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")
"""Units of /proc in a second."""

_BUSY = (0, 1, 2, 5, 6, 7)
"""Columns of /proc/stat that are work: user, nice, system, both interrupts, stolen by other guests."""


class Usage(NamedTuple):
    """What one run of a program used.

    Attributes:
        seconds: On the wall.
        processor: Seconds of processor time, its children's included.
    """

    seconds: float
    processor: float


def run(
    command: Sequence[str], directory: Path | None = None, expected: Collection[int] = (0,)
) -> Usage:
    """Runs a program to its end.

    Args:
        command: The program and its arguments.
        directory: Where it runs.
        expected: The exit codes that are no failure.

    Raises:
        RuntimeError: It ended with another exit code.
    """
    with tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in expected:
            errors.seek(0)
            last = errors.read()[-300:].decode(errors="replace")
            msg = f"{' '.join(command)} ended with {process.returncode}: {last}"
            raise RuntimeError(msg)
    return Usage(seconds, used.ru_utime + used.ru_stime)


def busy_seconds(statistics: str) -> float:
    """Returns the processor time that all cores together have worked since the machine started.

    Args:
        statistics: The text of /proc/stat.
    """
    columns = statistics.partition("\n")[0].split()[1:]
    return sum(int(columns[column]) for column in _BUSY) / TICKS


def machine_seconds() -> float:
    """Returns the processor time that this machine has worked."""
    return busy_seconds(Path("/proc/stat").read_text())


def processor_seconds(pid: int) -> float:
    """Returns the processor time of a process and those it started, in user and kernel mode."""
    return sum(_own_seconds(each) for each in _tree(pid))


def resident_megabytes(pid: int) -> float:
    """Returns the most memory that a process and those it started ever held (``VmHWM``)."""
    return sum(_resident(each) for each in _tree(pid)) / 1e6


def _tree(pid: int) -> Iterator[int]:
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except FileNotFoundError:
        return
    for child in children:
        yield from _tree(int(child))


def _own_seconds(pid: int) -> float:
    """Returns the processor time of a process's threads, in nanoseconds' precision where there is.

    ``stat`` counts hundredths of a second, of which a server on a busy machine gets few.
    """
    try:
        threads = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
        if threads:
            return sum(int(thread.split()[0]) for thread in threads) / 1e9
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    user, kernel = status.rpartition(")")[2].split()[11:13]
    return (int(user) + int(kernel)) / TICKS


def _resident(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    kilobytes = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(kilobytes[1]) * 1024 if kilobytes else 0

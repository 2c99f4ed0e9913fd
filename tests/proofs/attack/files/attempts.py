"""Lists of hostile files, each with a budget of processor time and of memory.

A list is run in a process of its own, so that its peak of memory is its own: ``every_list.py`` names
the lists, and ``python -m tests.proofs.attack.files NAME`` runs one.
"""

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import NamedTuple

from msgspec import Struct
from msgspec.json import decode

ROOT = Path(__file__).parents[4]


class Attempt(NamedTuple):
    """One hostile file, and what is done with it.

    Attributes:
        name: Names it in reports, so that it can be found again.
        problems: Does it, and yields what should not have come of it.
    """

    name: str
    problems: Callable[[], Iterable[str]]


@dataclass(frozen=True, slots=True)
class FileList:
    """Hostile files of one kind.

    Attributes:
        attempts: Makes so many attempts of a seed; what they share is made before the first one.
        count: How many ``make attack`` makes.
        seconds: Processor time that one attempt may cost, children of the process included.
        megabytes: Memory that all of them together may add to the process at their peak.
        child: Memory that one process which it starts may have at its peak.
    """

    attempts: Callable[[int, int], Iterator[Attempt]]
    count: int
    seconds: float
    megabytes: int
    child: int = 0


class Outcome(Struct, frozen=True):
    """What came of a list.

    Attributes:
        attempts: How many there were.
        failures: What should not have been.
        slowest: Processor seconds of the costliest attempt.
        slowest_name: That attempt.
        rest: Resident megabytes before the first attempt.
        peak: The most resident megabytes of the process.
        child: The most resident megabytes of one of its children.
    """

    attempts: int
    failures: list[str]
    slowest: float
    slowest_name: str
    rest: int
    peak: int
    child: int


def run(files: FileList, count: int, seed: int) -> Outcome:
    """Makes the attempts of a list in this process."""
    failures: list[str] = []
    number, slowest, slowest_name, rest = 0, 0.0, "", 0
    for attempt in files.attempts(count, seed):
        rest = rest or _megabytes("VmRSS")
        started = _processor_seconds()
        failures += [f"{attempt.name}: {problem}" for problem in attempt.problems()]
        spent = _processor_seconds() - started
        if spent > files.seconds:
            failures.append(f"{attempt.name}: {spent:.2f} s of processor time")
        if spent > slowest:
            slowest, slowest_name = spent, attempt.name
        number += 1
    peak = _megabytes("VmHWM")
    if peak - rest > files.megabytes:
        failures.append(f"{peak - rest} MB over rest; {files.megabytes} are allowed")
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    if child > files.child:
        failures.append(f"{child} MB in a process of its own; {files.child} are allowed")
    return Outcome(number, failures, round(slowest, 3), slowest_name, rest, peak, child)


def run_apart(name: str, count: int, seed: int) -> Outcome:
    """Makes the attempts of a list in a process of its own."""
    command = [sys.executable, "-m", "tests.proofs.attack.files", name, str(count), str(seed)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        return Outcome(0, [f"{name}: the process ended: {done.stderr[-2000:]}"], 0, "", 0, 0, 0)
    return decode(done.stdout.splitlines()[-1], type=Outcome)


def shown(outcome: Outcome) -> str:
    """Returns an outcome as a line of JSON."""
    return json.dumps({name: getattr(outcome, name) for name in outcome.__struct_fields__})


def _processor_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


def _megabytes(field: str) -> int:
    """Returns a figure of this process's memory; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    text = status.read_text() if status.exists() else ""
    return int(text.partition(f"{field}:")[2].split()[0]) >> 10 if field in text else 0

"""How fast ``understudy verify`` judges a served mock, beside plain ``schemathesis run``."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import httpx
import msgspec
from tests.quality.benchmarks.measuring import served
from tests.quality.benchmarks.peers import Peer, mock_command
from tests.quality.benchmarks.report import Target, at_least
from tests.quality.benchmarks.workloads import workloads
from tests.quality.mutants.curve import Trial
from tests.quality.mutants.runner import Wish, chosen, hours_requests, side_by_side, tried

from understudy.api.bundled_target import TARGET
from understudy.openapi.bundled import openapi_directory

VERIFY, SERVED = "understudy verify", "understudy verify, by a socket"
SCHEMATHESIS = "schemathesis run, by a socket"
CASES, PEERS_CASES = 10, 100
"""Generated cases of each operation, so many that both send some 1,700 requests.

Verify makes them twice, as owner and as nobody, beside its probes and scenarios.
"""

NO_LIMIT = 1_000_000
SECONDS = 60
"""Of a whole run on two cores (issue 5, Speed)."""


class Ran(NamedTuple):
    """A run.

    Attributes:
        requests: That reached the mock.
        seconds: On the wall.
        processor: Seconds of the program's own process.
    """

    requests: int
    seconds: float
    processor: float


@dataclass(frozen=True)
class Judging:
    """What was measured.

    Attributes:
        runs: Of each program, round by round; the first is the default run, with the mock in it.
        trials: Of a sample of mutants.
        requests: That each program might send to a mutant.
    """

    runs: dict[str, list[Ran]]
    trials: list[Trial]
    requests: int

    def rate(self, program: str) -> float:
        """Returns the median of its requests a second."""
        return statistics.median(ran.requests / ran.seconds for ran in self.runs[program])

    def processor_rate(self, program: str) -> float:
        """Returns the median of its requests a second of its processor's time."""
        return statistics.median(ran.requests / ran.processor for ran in self.runs[program])

    def seconds(self, program: str) -> float:
        """Returns the median of its seconds on the wall."""
        return statistics.median(ran.seconds for ran in self.runs[program])

    def caught(self, program: str) -> float:
        """Returns the mutants caught per 100 requests; a mutant's requests end where it is caught."""
        seen = [t.peers[0] if program == SCHEMATHESIS else t.sightings[0] for t in self.trials]
        known = [n if n is not None and n <= self.requests else None for n in seen]
        spent = sum(self.requests if number is None else number for number in known)
        return 100 * sum(number is not None for number in known) / spent

    def targets(self) -> list[Target]:
        """Compares what was measured with what was to be reached (issue 5, Speed)."""
        ours, theirs = self.rate(VERIFY), self.rate(SCHEMATHESIS)
        whole = self.seconds(VERIFY)
        return [
            at_least("verify to schemathesis run", ours, theirs, 1.5),
            at_least("the same, both by a socket", self.rate(SERVED), theirs, 1.5),
            Target("a whole run, s", f"< {SECONDS}", f"{whole:.1f}", whole < SECONDS),
        ]

    def rows(self) -> list[list[str]]:
        """Returns the table, its heading first."""
        heading = [
            "program",
            "requests",
            "requests a second",
            "a second of processor",
            f"mutants of {len(self.trials)} caught per 100 requests",
            "seconds",
        ]
        return [
            heading,
            *(
                [
                    program,
                    f"{statistics.median(ran.requests for ran in runs):g}",
                    f"{self.rate(program):.0f}",
                    f"{self.processor_rate(program):.0f}",
                    f"{self.caught(program):.1f}",
                    f"{self.seconds(program):.1f}",
                ]
                for program, runs in self.runs.items()
            ),
        ]

    def as_json(self) -> dict[str, Any]:
        """Returns everything, for machines."""
        return {
            "runs": {name: [ran._asdict() for ran in runs] for name, runs in self.runs.items()},
            "caught_per_100_requests": {name: self.caught(name) for name in self.runs},
            "mutants": {t.mutant: [t.sightings[0], t.peers[0]] for t in self.trials},
        }


def judging(rounds: int, every: int, cache: Path) -> Judging:
    """Measures.

    Args:
        rounds: Of each program.
        every: Of the mutants, one of so many.
        cache: Where the server's log goes.
    """
    cache.mkdir(parents=True, exist_ok=True)
    runs: dict[str, list[Ran]] = {VERIFY: [], SERVED: [], SCHEMATHESIS: []}
    for _ in range(rounds):
        for program, found in runs.items():
            found.append(_whole() if program == VERIFY else _judge(program, cache))
    requests = hours_requests()
    wish = Wish(seeds=1, peer_seeds=1, requests=requests)
    asked = [(mutant.name, wish) for mutant in chosen("", every)]
    trials = [trial for trial in side_by_side(tried, asked, 2) if not trial.crashed]
    return Judging(runs, trials, requests)


def _whole() -> Ran:
    """Runs verify as it is run without an option, on the mock in its own process."""
    with TemporaryDirectory(prefix="judging-") as named:
        report = Path(named) / "report.json"
        ran = _timed([*_python("understudy"), "verify", "--quiet", "--report", f"json={report}"])
        return ran._replace(requests=json.loads(report.read_text())["budget"]["requests"])


def _judge(program: str, cache: Path) -> Ran:
    """Runs a program on a mock of its own, and asks the mock how many requests came."""
    mock = Peer(program, mock_command("--single-port", "--journal", "100000"), "/v3")
    with TemporaryDirectory(prefix="judging-") as named, served(mock, cache, workloads()) as server:
        root = server.url.removesuffix(mock.prefix)
        target = Path(named) / "target.toml"
        target.write_text(target_file(root))
        httpx.delete(f"{root}/__admin/requests")
        ran = _timed(_command(program, server.url, target), Path(named))
        counted = httpx.post(f"{root}/__admin/requests/count", json={}).json()
        return ran._replace(requests=counted["count"])


def _command(program: str, url: str, target: Path) -> Sequence[str]:
    if program == SERVED:
        ours = ("verify", "--target", str(target), "--cases", str(CASES), "--quiet")
        return [*_python("understudy"), *ours]
    document = str(openapi_directory() / "service.yaml")
    theirs = ("--url", url, "--max-examples", str(PEERS_CASES), "--seed", "0")
    token = ("-H", "Authorization: Bearer ada-full")
    return [*_python("schemathesis"), "run", document, *theirs, *token]


def _python(program: str) -> Sequence[str]:
    return [str(Path(sys.executable).with_name(program))]


def _timed(command: Sequence[str], directory: Path | None = None) -> Ran:
    """Runs a program, which may end with findings.

    Raises:
        RuntimeError: It could not run.
    """
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1, 3):
        msg = f"{command[0]} ended with {process.returncode}"
        raise RuntimeError(msg)
    return Ran(0, time.perf_counter() - started, used.ru_utime + used.ru_stime)


def target_file(root: str) -> str:
    """Returns the target file of a mock at this address that keeps no limit."""
    target = msgspec.to_builtins(TARGET)
    target["base_url"], target["auth_url"] = f"{root}/v3", root
    target["permit"]["exhaust_rate_limit"] = False
    target["budget"] = {"anonymous": NO_LIMIT, "token": NO_LIMIT}
    target.pop("is_mock")
    tables = {name: part for name, part in target.items() if isinstance(part, dict)}
    plain = {name: part for name, part in target.items() if name not in tables}
    lines = [_line(name, value) for name, value in plain.items() if value is not None]
    for name, table in tables.items():
        lines.append(f"[{name}]")
        lines += [_line(key, value) for key, value in table.items() if value is not None]
    return "\n".join(lines) + "\n"


def _line(name: str, value: Any) -> str:
    return f"{name} = {json.dumps(value)}"  # JSON's texts, numbers and lists are TOML's

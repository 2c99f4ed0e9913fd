"""``make bench-guard``: what each request costs the mock's process, beside an earlier commit.

Both servers run, and are loaded, at once; what is compared is the processor's time of the server's
own process, which other work on the machine changes far less than seconds on the wall, and alike.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from tests.tools.benchmarks.measuring import Server, served
from tests.tools.benchmarks.peers import Peer, mock_command
from tests.tools.benchmarks.workloads import Workload, our_grants, workloads

ROOT = Path(__file__).parents[3]
MOST = 1.10
"""The ratio of the costs above which the command fails."""

AGAIN = 4
"""Times the rounds in which a workload is measured again that seems to cost more."""

START = "from understudy.cli import main; main()"
console = Console()


def main() -> None:
    """Measures both commits, prints a line a workload, and fails where one costs more."""
    options = _options()
    with ExitStack() as opened:
        directory = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        before = opened.enter_context(_checkout(options.base, directory / "before"))
        ratios = _compare(before, directory, options.rounds, options.seconds)
    slower = [name for name, ratio in ratios.items() if ratio > MOST]
    if slower:
        sys.exit(f"more than {MOST - 1:.0%} above {options.base}: {', '.join(slower)}")


def _compare(before: Path, cache: Path, rounds: int, seconds: int) -> Mapping[str, float]:
    """Returns, for each workload, the cost after to the cost before."""
    ratios: dict[str, float] = {}
    for name, works, prefix, words in (
        ("resource", workloads(), "/v3", ()),
        ("authorization", our_grants(), "", ("--single-port",)),
        ("state on disk", _kept(), "/v3", ("--state", "{cache}/state")),
    ):
        peers = [
            Peer(f"{name}, {side}", _command(place, words), prefix)
            for side, place in (("before", before), ("after", ROOT))
        ]
        with ExitStack() as opened:
            servers = [_opened(opened, peer, cache, works) for peer in peers]
            for work in works:
                ratios[work.name] = _ratio(servers, work, rounds, seconds)
    return ratios


def _opened(opened: ExitStack, peer: Peer, cache: Path, works: Sequence[Workload]) -> Server:
    place = cache / peer.name
    place.mkdir()
    return opened.enter_context(served(peer, place, works[:1]))


def _ratio(servers: Sequence[Server], work: Workload, rounds: int, seconds: int) -> float:
    """Measures one workload, and once more at length where the first look sees a difference."""
    for times in (rounds, AGAIN * rounds):
        costs = _measure(servers, work, times, seconds)
        ratio = statistics.median(after / before for before, after in costs)
        before, after = (statistics.median(side) for side in zip(*costs, strict=True))
        console.print(f"{work.name:22} {before:8.1f} µs before {after:8.1f} µs after {ratio:6.2f}")
        if ratio <= MOST:
            break
    return ratio


def _kept() -> list[Workload]:
    """Returns the edit of a profile, as the work of a mock that keeps its state on disk."""
    edit = next(work for work in workloads() if work.method == "PATCH")
    return [replace(edit, name="PATCH, state on disk")]


def _measure(
    servers: Sequence[Server], work: Workload, rounds: int, seconds: int
) -> list[tuple[float, ...]]:
    """Returns the cost of a request to each server, round by round.

    Both are loaded at once, so that whatever else the machine does changes both costs alike.
    """
    with ThreadPoolExecutor(len(servers)) as threads:
        return [
            tuple(threads.map(lambda server: server.cost(work, seconds), servers))
            for _ in range(rounds)
        ]


def _command(place: Path, words: tuple[str, ...]) -> Callable[[int, Path], Sequence[str]]:
    """Returns what serves the mock of a checkout, without limits and without a log."""
    serve = mock_command(*words)

    def command(port: int, cache: Path) -> list[str]:
        _, *rest = serve(port, cache)
        return ["env", f"PYTHONPATH={place / 'src'}", sys.executable, "-c", START, *rest]

    return command


@contextmanager
def _checkout(commit: str, place: Path) -> Iterator[Path]:
    """Checks a commit out for as long as the block."""
    worktree = ("git", "-C", str(ROOT), "worktree")
    subprocess.run([*worktree, "add", "--quiet", "--detach", str(place), commit], check=True)
    try:
        yield place
    finally:
        subprocess.run([*worktree, "remove", "--force", str(place)], check=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-guard", description=__doc__)
    parser.add_argument("base", nargs="?", default="HEAD~1", help="the commit to compare with")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()

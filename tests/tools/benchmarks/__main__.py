"""``make bench``: the mock, verify and generate beside their peers, as figures, tables and charts.

All servers of a round run, and one is loaded at a time, each kind of work on one after the other: the speed
of a shared machine changes within minutes, so what is compared is measured within seconds. What remains of
the machine's load is measured, and said.
"""

import argparse
import json
import os
import platform
import shutil
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from rich.console import Console
from tests.tools.benchmarks import preparing
from tests.tools.benchmarks.costs import costs, costs_of
from tests.tools.benchmarks.figures import Figures, Results
from tests.tools.benchmarks.growth import growths
from tests.tools.benchmarks.judging import judging
from tests.tools.benchmarks.loads import NotServed, warning
from tests.tools.benchmarks.measuring import Server, served
from tests.tools.benchmarks.page import page, write
from tests.tools.benchmarks.peers import Peer, peers
from tests.tools.benchmarks.report import markdown, tables, verdicts
from tests.tools.benchmarks.targets import targets
from tests.tools.bring import PLACE

from understudy.terminal import counted

ROOT = Path(__file__).parents[3]
PARTS = ("verify", "growth", "costs")
"""What is measured beside the servers; ``--only`` names a part as it names a server."""

console = Console(soft_wrap=True)


def main() -> None:
    """Measures, prints the tables, and writes the page."""
    options = _options()
    if shutil.which("wrk") is None:
        preparing.install_programs(["wrk"])
    if shutil.which("wrk") is None:
        sys.exit("wrk is not installed: apt-get install wrk")
    load_average, cores = os.getloadavg()[0], os.cpu_count() or 1
    chosen = [peer for peer in peers() if _is_wanted(peer.name, options.only)]
    lacking = _prepared(chosen, options.cache)
    present = [peer for peer in chosen if peer.name not in lacking]
    results = measured(present, options.cache, options.rounds, options.seconds)
    results.servers |= {name: Figures(notes={"start": why}) for name, why in lacking.items()}
    _measure_parts(results, options)
    others = [load.other_cores for load in results.loads()]
    _tell(results, warning(load_average, cores, others), options)


def measured(chosen: list[Peer], cache: Path, rounds: int, seconds: int) -> Results:
    """Returns what was measured of servers, each once in every round."""
    results = Results({peer.name: Figures() for peer in chosen})
    for number in range(1, rounds + 1):
        with ExitStack() as running:
            servers = {}
            for peer in chosen:
                console.print(f"round {number}: start {peer.name}")
                server = _started(peer, results.servers[peer.name], cache, seconds, running)
                if server is not None:
                    servers[peer] = server
            _load(servers, results, cache, seconds)
            for peer, server in servers.items():
                results.servers[peer.name].memory.append(server.memory())
    return results


def _started(
    peer: Peer, figures: Figures, cache: Path, seconds: int, running: ExitStack
) -> Server | None:
    """Starts a server, and notes how long that took, or why it did not start."""
    works = peer.works(cache)
    try:
        server = running.enter_context(served(peer, cache, works[:2]))
        figures.starts.append(server.start_seconds)
        figures.start_costs.append(server.start_processor)
        # Programs that compile themselves, and caches, are measured once they are warm.
        with suppress(NotServed):
            server.load(works[0], seconds)
    except (NotServed, OSError) as reason:
        figures.notes["start"] = str(reason)
        return None
    return server


def _load(servers: Mapping[Peer, Server], results: Results, cache: Path, seconds: int) -> None:
    """Adds one load of each kind of work to the figures of every server that does it."""
    works = {peer: {work.name: work for work in peer.works(cache)} for peer in servers}
    for name in dict.fromkeys(chain.from_iterable(works.values())):
        console.print(f"  {name}")
        for peer, server in servers.items():
            if name not in works[peer]:
                continue
            figures = results.servers[peer.name]
            try:
                load = server.load(works[peer][name], seconds)
                figures.loads.setdefault(name, []).append(load)
            except (NotServed, OSError) as reason:
                figures.notes[name] = str(reason)


def _prepared(chosen: list[Peer], cache: Path) -> dict[str, str]:
    """Installs what is missing; returns the peers that cannot run, and why."""
    console.print(f"peers and inputs: {cache}")
    preparing.compile_modules(ROOT / "src" / "understudy")
    preparing.write_inputs(cache)
    wanted = {program for peer in chosen for program in peer.programs}
    preparing.install_programs(sorted(program for program in wanted if not shutil.which(program)))
    reasons = {peer.name: preparing.install(peer, cache) for peer in chosen}
    for name, reason in reasons.items():
        if reason is not None:
            console.print(f"{name} is left out: {reason}")
    return {name: reason for name, reason in reasons.items() if reason is not None}


def _measure_parts(results: Results, options: argparse.Namespace) -> None:
    """Measures what is not a load of a peer; what fails is noted, and the rest goes on."""
    wanted = [part for part in PARTS if _is_wanted(part, options.only)]
    for part in wanted:
        console.print(part)
        try:
            if part == "verify":
                judged = judging(1, options.every, options.cache)
                results.programs = judged.rows()
                results.costs |= judged.costs()
            elif part == "growth":
                results.growths, reasons = growths(options.cache, options.seconds)
                results.notes += reasons
                results.costs |= costs_of(results.growths)
            else:
                results.costs |= costs(options.cache, options.rounds, options.seconds)
        except (NotServed, OSError, RuntimeError) as reason:
            results.notes.append(f"{part}: {reason}")


def _tell(results: Results, not_trusted: str | None, options: argparse.Namespace) -> None:
    reached = targets(results)
    for caption, rows in tables(results).items():
        console.print(f"\n{caption}\n\n{markdown(rows)}", markup=False, highlight=False)
    console.print(f"\n{markdown(verdicts(reached))}\n", markup=False, highlight=False)
    for reason in results.reasons():
        console.print(f"not measured: {reason}", markup=False)
    today = datetime.now(UTC)  # noqa: TID251 - the day of a measurement, not a world's
    command = f'make bench ARGS="{" ".join(sys.argv[1:])}"' if sys.argv[1:] else "make bench"
    about = (
        f"{today:%Y-%m-%d}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}; {counted(options.rounds, 'round')} of {options.seconds} s; {command}"
    )
    write(options.out, page(results, reached, about, not_trusted), results)
    figures = {"about": about, "warning": not_trusted, **results.as_json()}
    (options.out / "figures.json").write_text(json.dumps(figures, indent=2))
    console.print(about, markup=False)
    if not_trusted is not None:
        console.print(not_trusted, style="bold red", markup=False)
    console.print(f"{options.out / 'index.html'}: the page with charts; figures.json beside it")


def _is_wanted(name: str, only: list[str]) -> bool:
    return not only or any(word.lower() in name.lower() for word in only)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=1, help="of each load")
    only = f"a word of a server's name, or {', '.join(PARTS)}; repeatable"
    parser.add_argument("--only", action="append", default=[], help=only)
    every = "measure one of so many mutants too, by verify and by Schemathesis; 0: none"
    parser.add_argument("--every", type=int, default=0, help=every)
    out = ROOT / "build" / "bench"
    parser.add_argument("--out", type=Path, default=out, help="where the page is written")
    cache = PLACE / "peers"
    parser.add_argument("--cache", type=Path, default=cache, help="where the peers are installed")
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""``make bench``: this mock, and verify, beside their peers, each alone on the machine in turn."""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from tests.quality.benchmarks import report
from tests.quality.benchmarks.judging import SCHEMATHESIS, VERIFY, judging
from tests.quality.benchmarks.measuring import NotServed, import_seconds, served
from tests.quality.benchmarks.peers import OUR_WORLDS, PRISM, THEIR_GRANTS, Peer, install, peers
from tests.quality.benchmarks.workloads import in_worlds, our_grants, workloads

ROOT = Path(__file__).parents[3]
console = Console()
WIDTH = 150
JUDGING = "verify"
"""Names verify's speed among the servers."""


def main() -> None:
    """Measures, and says what was found."""
    options = _options()
    found: dict[str, Any] = {}
    if not options.only or JUDGING in options.only:
        found[JUDGING] = _judge(options)
    if options.only != [JUDGING]:
        found |= _serve(options)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(found, indent=2))
    console.print(f"\nAll figures: {options.json}")


def _judge(options: argparse.Namespace) -> dict[str, Any]:
    console.print(f"{options.rounds} rounds of {VERIFY} and {SCHEMATHESIS}")
    judged = judging(options.rounds, options.every, options.cache)
    console.print(report.markdown(judged.rows()), soft_wrap=True)
    _verdicts(judged.targets())
    return judged.as_json()


def _serve(options: argparse.Namespace) -> dict[str, Any]:
    if shutil.which("wrk") is None:
        sys.exit("wrk is not installed; apt-get install wrk")
    reason = install(options.cache)
    if reason is not None:
        console.print(f"peers from npm are skipped: {reason}")
    chosen = [p for p in peers(_crowd(options.cache)) if _is_wanted(p, options.only)]
    figures = {peer.name: report.Figures() for peer in chosen}
    for number in range(1, options.rounds + 1):
        for peer in chosen:
            console.print(f"round {number}: {peer.name}")
            _measure(peer, figures[peer.name], options.cache, options.seconds)
    reached = report.targets(figures, import_seconds(2 * options.rounds + 1))
    _tell(figures, reached)
    return report.as_json(figures, reached)


def _measure(peer: Peer, figures: report.Figures, cache: Path, seconds: int) -> None:
    lacking = peer.lacking()
    if lacking is not None:
        figures.notes["start"] = lacking
        return
    works = peer.works()
    try:
        with served(peer, cache, works[:2]) as server:
            for work in works:
                try:
                    figures.loads.setdefault(work.name, []).append(server.load(work, seconds))
                except NotServed as reason:
                    figures.notes[work.name] = str(reason)
                if work is works[0]:
                    figures.starts.append(server.start_seconds)
            figures.memory.append(server.memory())
    except (NotServed, OSError) as reason:
        figures.notes["start"] = str(reason)


def _tell(figures: dict[str, report.Figures], reached: list[report.Target]) -> None:
    tables = [
        _table(figures, [work.name for work in workloads()], PRISM),
        _table(figures, [work.name for work in in_worlds()], OUR_WORLDS),
        _table(figures, [work.name for work in our_grants()], THEIR_GRANTS),
    ]
    wide = Console(width=max(console.width, WIDTH))
    for heading, *rest in tables:
        table = Table(*heading, title="Requests a second; medians over the rounds")
        for row in rest:
            table.add_row(*row)
        wide.print(table)
    for name, found in figures.items():
        for work, note in found.notes.items():
            console.print(f"{name}, {work}: {note}")
    _verdicts(reached)
    for found_rows in tables:
        console.print("\n" + report.markdown(found_rows), soft_wrap=True)


def _verdicts(reached: list[report.Target]) -> None:
    for target in reached:
        console.print(
            f"{target.verdict:<12} {target.what}: {target.found} (wanted {target.wanted})"
        )


def _table(figures: dict[str, report.Figures], works: list[str], rival: str) -> list[list[str]]:
    group = {name: found for name, found in figures.items() if not found.loads.keys() - {*works}}
    return report.rows(group, works, rival)


def _crowd(cache: Path) -> Path:
    """Returns a fixtures directory of 100,000 people, made once."""
    crowd = cache / "crowd"
    if not crowd.exists():
        understudy = Path(sys.executable).with_name("understudy")
        people = ["--people", "100000", "--seed", "7", "--out", str(crowd)]
        subprocess.run([understudy, "fixtures", *people], check=True)
    return crowd


def _is_wanted(peer: Peer, only: list[str]) -> bool:
    return not only or any(word.lower() in peer.name.lower() for word in only)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    only = f"a word of a server's name, or {JUDGING}"
    parser.add_argument("--only", action="append", default=[], help=only)
    parser.add_argument("--every", type=int, default=20, help="of the mutants, one of so many")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench.json")
    cache = Path.home() / ".cache" / "understudy-bench"
    parser.add_argument("--cache", type=Path, default=cache, help="where the peers are installed")
    return parser.parse_args()


if __name__ == "__main__":
    main()

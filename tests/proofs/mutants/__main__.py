"""``make mutants``: runs verify on every mutant, and prints what catches it and how soon.

Then the whole of verify on the unbroken mock, with other seeds. Options set peers beside it: what
``schemathesis run`` finds with as many requests, and what contract tests from npm find.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track
from tests.proofs.mutants import curve, peers
from tests.proofs.mutants.edge import Mutant
from tests.proofs.mutants.runner import (
    Wish,
    chosen,
    control,
    hours_requests,
    reproductions,
    side_by_side,
    tried,
)

from understudy.verify.catalogue import catalogue
from understudy.verify.checks import CHECKS

SHOWN_AGAIN = 0.98
"""The least share of findings that their printed commands must show again."""


def main() -> int:
    """Runs what was asked for; returns 1 where something is not caught, or found without a cause."""
    asked = _options()
    console = Console(highlight=False, markup=False, soft_wrap=True)
    mutants = chosen(asked.only, asked.every)
    if asked.tool:
        return _contract_tests(console, mutants, asked)
    if asked.reproduce:
        return _reproductions(console, mutants, asked)
    is_good = _judge(console, mutants, asked) if mutants else False
    return 0 if _control(console, asked) and is_good else 1


def _judge(console: Console, mutants: Sequence[Mutant], asked: argparse.Namespace) -> bool:
    requests = hours_requests() if asked.schemathesis else 0
    wish = Wish(asked.seeds, asked.schemathesis, requests)
    work = side_by_side(tried, [(mutant.name, wish) for mutant in mutants], asked.jobs)
    trials = []
    quiet = not console.is_terminal
    for trial in track(work, console=console, total=len(mutants), disable=quiet):
        trials.append(trial)
        console.print(str(trial))
    if asked.matrix:
        asked.matrix.parent.mkdir(parents=True, exist_ok=True)
        asked.matrix.write_text(curve.as_csv(trials))
        for line in curve.as_text(trials):
            console.print(line)
        for line in curve.by_section(trials, _sections()):
            console.print(line)
    ran = [trial for trial in trials if not trial.crashed]
    console.print(f"\nverify, an hour's budget of requests, seeds: {asked.seeds}")
    for line in curve.curve(trial.sightings for trial in ran):
        console.print(line)
    noted = sum(trial.is_only_noted for trial in ran)
    console.print(f"only noted, as assumptions that bind no other deployment: {noted}")
    if asked.schemathesis:
        console.print(
            f"\nschemathesis run, {requests} requests to each of two addresses,"
            f" seeds: {asked.schemathesis}"
        )
        for line in curve.curve((trial.peers for trial in ran), requests):
            console.print(line)
    return _is_whole(console, trials, asked)


def _is_whole(console: Console, trials: Sequence[curve.Trial], asked: argparse.Namespace) -> bool:
    """Tells whether every mutant was caught and every check tripped; where all ran."""
    missed = [trial.mutant for trial in trials if not (trial.is_caught or trial.is_only_noted)]
    is_all = not asked.only and asked.every == 1
    idle = curve.untripped(trials, _sections()) if is_all else []
    console.print(f"\nneither caught nor noted with every seed: {', '.join(missed) or 'none'}")
    if is_all:
        console.print(f"rules whose check nothing trips: {', '.join(idle) or 'none'}")
    return not missed and not idle


def _sections() -> dict[str, str]:
    """Returns the section of each rule that has a check."""
    checked = {rule for registered in CHECKS for rule in registered.rules}
    return {rule.id: rule.section for rule in catalogue().values() if rule.id in checked}


def _contract_tests(console: Console, mutants: Sequence[Mutant], asked: argparse.Namespace) -> int:
    """Prints what a tool from npm catches; returns 2 where it cannot run."""
    try:
        peers.require(asked.tool)
    except peers.NotRun as reason:
        console.print(f"{asked.tool}: {reason}")
        return 2
    work = [(asked.tool, mutant.name) for mutant in mutants]
    verdicts = []
    for verdict in side_by_side(peers.judged, work, asked.jobs):
        verdicts.append(verdict)
        console.print(str(verdict))
    lost = sum(bool(verdict.crashed) for verdict in verdicts)
    caught = sum(bool(verdict.failures) for verdict in verdicts)
    console.print(f"\n{asked.tool}: caught {caught} of {len(verdicts)}, not run {lost}")
    return 1 if lost else 0


def _reproductions(console: Console, mutants: Sequence[Mutant], asked: argparse.Namespace) -> int:
    """Prints which findings their printed commands show again; returns 1 where fewer than 98 % do."""
    reasons: list[str] = []
    for found in side_by_side(reproductions, [mutant.name for mutant in mutants], asked.jobs):
        for finding, reason in found:
            reasons.append(reason)
            if reason:
                console.print(f"NOT SHOWN AGAIN {finding}\n  {reason[-500:]}")
    shown = reasons.count("")
    share = shown / max(1, len(reasons))
    console.print(
        f"\nshown again: {shown} of {len(reasons)} findings at {len(mutants)} mutants ({share:.1%})"
    )
    return int(share < SHOWN_AGAIN)


def _control(console: Console, asked: argparse.Namespace) -> bool:
    found: Counter[str] = Counter()
    if asked.controls:
        for rules in side_by_side(control, range(asked.controls), asked.jobs):
            found.update(rules)
    told = dict(sorted(found.items())) or "none"
    console.print(f"control runs on the unbroken mock: {asked.controls}, findings: {told}")
    return not found


def _number(text: str) -> int:
    number = int(text)
    if number < 1:
        msg = f"{text} is less than one"
        raise argparse.ArgumentTypeError(msg)
    return number


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.mutants", description=__doc__)
    add = parser.add_argument
    add("--jobs", type=_number, default=2, metavar="N", help="processes")
    add("--seeds", type=_number, default=5, metavar="N", help="runs of verify on each mutant")
    add("--controls", type=int, default=5, metavar="N", help="runs on the unbroken mock")
    add("--matrix", type=Path, metavar="FILE", help="write mutant x rule as CSV, and print it")
    add(
        "--schemathesis",
        type=_number,
        nargs="?",
        const=1,
        default=0,
        metavar="SEEDS",
        help="compare with plain schemathesis run, once or for so many seeds",
    )
    add("--tool", choices=peers.TOOLS, help="run contract tests from npm, and nothing else")
    add(
        "--reproduce",
        action="store_true",
        help="run the commands of every finding, and nothing else",
    )
    add("--only", default="", metavar="TEXT", help="mutants whose name holds it")
    add("--every", type=_number, default=1, metavar="N", help="of these, one of N")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())

"""Judges many mutants in two ways, in a random order that is always the same, and counts the differences.

A log has a line for each mutant that was judged. A later run with the same log judges the others alone.
"""

import argparse
import random  # noqa: TID251 - chooses mutants
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec
from tests.proofs.mutants.edge import MUTANTS
from tests.proofs.mutants.runner import side_by_side


class Comparison(Protocol):
    """What the two ways find of one mutant; its text says it."""

    @property
    def is_same(self) -> bool:
        """True if the two agree."""


class Judge(Protocol):
    """Judges the mutant of a name in both ways; the unbroken mock where it is empty."""

    def __call__(self, name: str, *, is_own: bool = False) -> Comparison:
        """Judges it by the rules that it breaks alone where ``is_own``, which takes a tenth of the time."""


class Comparing(NamedTuple):
    """What comes of one mutant.

    Attributes:
        mutant: Its name; empty for the unbroken mock.
        is_same: True if the two ways agree.
        text: What they find, in a line.
    """

    mutant: str
    is_same: bool
    text: str


def drawn(count: int, seed: int) -> list[str]:
    """Returns the names of so many mutants in a random order, of which a smaller count is the beginning."""
    names = [mutant.name for mutant in MUTANTS]
    return random.Random(seed).sample(names, len(names))[:count]


def compare(
    judge: Callable[[str], Comparison], log: Path, names: Sequence[str], jobs: int
) -> list[Comparing]:
    """Returns what comes of these mutants, of which the log has some already, and adds the others to it."""
    judged = {it.mutant: it for it in _logged(log)}
    rest = [name for name in names if name not in judged]
    with log.open("ab") as lines:
        for comparing in side_by_side(partial(_compared, judge), rest, jobs):
            lines.write(msgspec.json.encode(comparing) + b"\n")
            lines.flush()
            print(comparing.text, flush=True)  # noqa: T201 - the output of a program
            judged[comparing.mutant] = comparing
    return [judged[name] for name in names]


def main(judge: Judge, program: str, seed: int) -> int:
    """Judges the unbroken mock and a random share; returns 1 where the two ways differ.

    Args:
        judge: Judges in both ways.
        program: The name of the module that is run.
        seed: Draws the mutants, unless another one is named.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {program}")
    parser.add_argument("--count", type=int, default=60, metavar="N", help="mutants")
    parser.add_argument("--seed", type=int, default=seed, metavar="N", help="draws them")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes")
    parser.add_argument("--log", type=Path, default=Path("/dev/null"), metavar="FILE")
    parser.add_argument("--own", action="store_true", help="by the rules alone that each breaks")
    options = parser.parse_args()
    names = ["", *drawn(options.count, options.seed)]
    trials = compare(partial(judge, is_own=options.own), options.log, names, options.jobs)
    different = [trial.text for trial in trials if not trial.is_same]
    print(f"\n{len(names)} deployments of {len(MUTANTS) + 1}, differently judged: {len(different)}")  # noqa: T201 - as above
    print(*different, sep="\n")  # noqa: T201 - as above
    return 1 if different else 0


def _logged(log: Path) -> list[Comparing]:
    lines = log.read_bytes().splitlines() if log.exists() else []
    return [msgspec.json.decode(line, type=Comparing) for line in lines]


def _compared(judge: Callable[[str], Comparison], name: str) -> Comparing:
    try:
        comparison = judge(name)
    except Exception as crash:
        return Comparing(name, is_same=False, text=f"{name}: {type(crash).__name__}: {crash}")
    return Comparing(name, comparison.is_same, str(comparison))

"""``make mutants``: runs all of verify on every mutant, and prints the matrix mutant x rule.

Also how many are caught after 10, 25, 50, 100 and 1000 requests, and what ``schemathesis run`` finds
of them with as many requests.
"""

import argparse
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.progress import track
from tests.mutants.edge import MUTANTS, Mutant
from tests.mutants.generated import caught_by_schemathesis
from tests.mutants.verifying import failed, verified

from understudy.contract.outcome import Outcome

HOUR = 420
"""Requests that verify sends within the published budget, and so what its peer may send."""

STEPS = (10, 25, 50, 100, 1000)


def first_sighting(mutant: Mutant, outcome: Outcome) -> int | None:
    """Returns after how many requests a mutant was caught by a rule that it breaks."""
    seen = [f.exchange.number for f in outcome.findings if f.rule.id in mutant.rules]
    return min(seen, default=None)


def matrix(console: Console, mutants: Sequence[Mutant], *, is_compared: bool) -> bool:
    """Prints the matrix; tells whether every mutant was caught by a rule that it breaks."""
    numbers: list[int | None] = []
    schemathesis = 0
    for mutant in track(mutants, console=console, disable=not console.is_terminal):
        outcome = verified(mutant, is_hour=True)
        number = first_sighting(mutant, outcome)
        if number is None:  # an hour's budget is not enough where the limit itself is broken
            outcome = verified(mutant)
            number = first_sighting(mutant, outcome)
            number = None if number is None else max(number, 1001)
        numbers.append(number)
        others = sorted(failed(outcome) - set(mutant.rules))
        caught = sorted(failed(outcome) & set(mutant.rules))
        note = ""
        if is_compared:
            is_seen = caught_by_schemathesis(mutant, HOUR)
            schemathesis += is_seen
            note = f"; schemathesis {'too' if is_seen else 'not'}"
        said = f"request {number}" if number else "NOT CAUGHT"
        also = f", also {', '.join(others)}" if others else ""
        kind = "m" if mutant.is_mechanical else " "
        console.print(
            f"{kind} {mutant.name}: {said}: {', '.join(caught)}{also}{note}", soft_wrap=True
        )
    _sum(console, numbers)
    if is_compared:
        console.print(f"schemathesis run, {HOUR} requests each: {schemathesis} of {len(mutants)}")
    return None not in numbers


def _sum(console: Console, numbers: Sequence[int | None]) -> None:
    whole = len(numbers)
    for step in STEPS:
        caught = sum(number is not None and number <= step for number in numbers)
        console.print(
            f"caught after {step:4} requests: {caught:3} of {whole} ({caught / whole:.0%})"
        )
    caught = sum(number is not None for number in numbers)
    console.print(f"caught at all: {caught} of {whole}")


def controls(console: Console, seeds: int) -> bool:
    """Runs verify on the unbroken mock; tells whether nothing was found."""
    found: Counter[str] = Counter()
    for seed in range(seeds):
        found.update(
            finding.rule.id for finding in verified(None, seed=seed, is_whole=True).findings
        )
    console.print(f"control runs on the unbroken mock: {seeds}, findings: {dict(found) or 'none'}")
    return not found


def main() -> int:
    """Runs what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of a name")
    parser.add_argument("--schemathesis", action="store_true", help="compare; takes hours")
    parser.add_argument("--controls", type=int, default=5, help="runs on the unbroken mock")
    asked = parser.parse_args()
    console = Console(highlight=False, width=160)
    chosen = [mutant for mutant in MUTANTS if asked.only in mutant.name]
    is_good = matrix(console, chosen, is_compared=asked.schemathesis)
    return 0 if controls(console, asked.controls) and is_good else 1


if __name__ == "__main__":
    raise SystemExit(main())

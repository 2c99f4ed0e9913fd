"""``python -m tests.quality.fleet.mutants``: verify on broken deployments that are fleets.

Each mutant of a random share stands before one mock, and then before three replicas on a store behind
a proxy that sends each request to another one. Verify has to find the same with the same requests; on
the unbroken fleet it has to find nothing.
"""

import argparse
import random  # noqa: TID251 - chooses mutants
from functools import cache
from typing import NamedTuple

from tests.quality.fleet.replicated import replicated
from tests.quality.mutants.edge import MUTANTS
from tests.quality.mutants.runner import side_by_side
from tests.quality.mutants.verifying import ALONE, Served, verified

from understudy.api.bundled_target import AUTHORIZATION, SITE
from understudy.mock.engine.request_context import Addresses
from understudy.mock.settings import Settings
from understudy.verify.findings import Finding


class Comparison(NamedTuple):
    """What verify finds of a mutant on one mock and on a fleet: rule, number of request, expected.

    Attributes:
        mutant: Its name; empty for the unbroken mock.
        alone: The findings on one mock.
        fleet: The findings on three replicas.
    """

    mutant: str
    alone: frozenset[tuple[str, int, str]]
    fleet: frozenset[tuple[str, int, str]]

    @property
    def is_same(self) -> bool:
        """True if the two agree."""
        return self.alone == self.fleet

    def __str__(self) -> str:
        name = self.mutant or "unbroken"
        if self.is_same:
            return f"{name}: {len(self.alone)} findings on both"
        rest = (("one mock", self.alone - self.fleet), ("the fleet", self.fleet - self.alone))
        return f"{name}: DIFFERENT: " + "; ".join(
            f"only on {where}: {sorted(found)}" for where, found in rest if found
        )


@cache
def fleet() -> Served:
    """Returns three replicas at the addresses of the bundled target."""
    return Served.of(replicated(Settings(), Addresses(SITE, AUTHORIZATION)))


def compared(name: str) -> Comparison:
    """Judges the mutant of this name within an hour's budget; the unbroken mock without a bound."""
    mutant = next((it for it in MUTANTS if it.name == name), None)
    found = []
    for served in (ALONE, fleet()):
        outcome = verified(
            mutant,
            is_hour=mutant is not None,
            is_whole=mutant is None,
            is_mock=mutant is None,
            served=served,
        )
        found.append(frozenset(map(_shown, outcome.findings)))
    return Comparison(name, *found)


def _shown(finding: Finding) -> tuple[str, int, str]:
    return finding.rule.id, finding.exchange.number, finding.expected


def share(count: int, seed: int) -> list[str]:
    """Returns the names of so many mutants, drawn at random; all of them where there are no more."""
    names = [mutant.name for mutant in MUTANTS]
    return sorted(random.Random(seed).sample(names, min(count, len(names))))


def main() -> int:
    """Compares; returns 1 where a fleet is judged otherwise than one mock."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.quality.fleet.mutants", description=__doc__
    )
    parser.add_argument("--count", type=int, default=60, metavar="N", help="mutants")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="draws them")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes")
    options = parser.parse_args()
    names = ["", *share(options.count, options.seed)]
    different = 0
    for comparison in side_by_side(compared, names, options.jobs):
        print(comparison, flush=True)  # noqa: T201 - the output of a program
        different += not comparison.is_same
    print(f"\n{len(names)} deployments, judged otherwise as a fleet: {different}")  # noqa: T201 - as above
    return 1 if different else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""``python -m tests.proofs.fleet.mutants``: verify on broken deployments that are fleets.

Each mutant of a random share stands before one mock, and then before three replicas on a store behind
a proxy that sends each request to another one. Verify has to find the same with the same requests; on
the unbroken fleet it has to find nothing. ``--count 581 --log FILE`` judges all, from where FILE ends;
``--own`` by the rules alone that each breaks, within minutes.
"""

import re
from functools import cache, partial
from typing import NamedTuple

from tests.proofs.fleet.replicated import replicated
from tests.proofs.mutants.comparing import main
from tests.proofs.mutants.edge import MUTANTS
from tests.proofs.mutants.verifying import ALONE, Served, verified

from understudy.api.bundled_target import AUTHORIZATION, SITE
from understudy.mock.server.request_context import Addresses
from understudy.mock.settings import Settings
from understudy.verify.findings import Finding

_INSTANT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00")
"""What a finding says of the clock, which two runs read at different moments."""


class FleetComparison(NamedTuple):
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


def compared(name: str, *, is_own: bool = False) -> FleetComparison:
    """Judges the mutant of this name within an hour's budget; the unbroken mock without a bound.

    Args:
        name: The mutant's; empty for the unbroken mock.
        is_own: Whether to judge a mutant by the rules alone that it breaks, and without a bound.
    """
    mutant = next((it for it in MUTANTS if it.name == name), None)
    judge = partial(verified, mutant, is_whole=mutant is None, is_mock=mutant is None)
    if mutant is not None:
        judge = partial(verified, mutant, mutant.rules) if is_own else partial(judge, is_hour=True)
    alone, replicas = (
        frozenset(map(_shown, judge(served=served).findings)) for served in (ALONE, fleet())
    )
    return FleetComparison(name, alone, replicas)


def _shown(finding: Finding) -> tuple[str, int, str]:
    return finding.rule.id, finding.exchange.number, _INSTANT.sub("an instant", finding.expected)


if __name__ == "__main__":
    raise SystemExit(main(compared, "tests.proofs.fleet.mutants", seed=1))

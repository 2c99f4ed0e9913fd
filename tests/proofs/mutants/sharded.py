"""``python -m tests.proofs.mutants.sharded``: the shards of verify together find what one run finds.

Each mutant of a random share is judged by one run, and then by shards, one after another at the same
deployment, whose outcomes are merged. The rules that are broken have to be the same.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tests.proofs.mutants.comparing import main
from tests.proofs.mutants.edge import MUTANTS, Mutant
from tests.proofs.mutants.verifying import ALONE, PATIENT, deployed, failed, verified

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.api.judging import of_shard
from understudy.deployments.deployment import Deployment
from understudy.verify.merging import merged
from understudy.verify.outcome import Outcome
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.shards import LAST, Shard

COUNT = 3
"""Shards that run at the same time, beside the one that disturbs them."""


class ShardComparison(NamedTuple):
    """The rules that one run finds broken, and those that shards do.

    Attributes:
        mutant: The name of the mutant; empty for the unbroken mock.
        whole: Found by one run.
        union: Found by the shards.
        stopped: Why the shards together did not do all the work; empty if they did.
    """

    mutant: str
    whole: frozenset[str]
    union: frozenset[str]
    stopped: str

    @property
    def is_same(self) -> bool:
        """True if the shards did all the work and found the same."""
        return self.whole == self.union and not self.stopped

    def __str__(self) -> str:
        name = self.mutant or "unbroken"
        if self.is_same:
            return f"{name}: {len(self.whole)} rules by both"
        by = {"one run": self.whole - self.union, "shards": self.union - self.whole}
        parts = [f"only by {who}: {sorted(rules)}" for who, rules in by.items() if rules]
        return f"{name}: DIFFERENT: {'; '.join([*parts, self.stopped])}"


def by_shards(mutant: Mutant | None, rules: Sequence[str] = ()) -> Outcome:
    """Returns the merged outcome of shards at one deployment, the disturbing one last."""
    outcomes = []
    with deployed(mutant) as wire:
        for part in (*Shard("1", COUNT).numbered, LAST):
            shard = Shard(part, COUNT)
            whole = Deployment(TARGET, wire, in_process.time_of(ALONE.mock), PATIENT)
            outcomes.append(
                carry_out(of_shard(whole, shard), RunOptions(tuple(rules), shard=shard))
            )
    return merged(outcomes)


def compared(name: str, *, is_own: bool = False) -> ShardComparison:
    """Judges the mutant of this name by one run and by shards.

    Args:
        name: The mutant's; empty for the unbroken mock.
        is_own: Whether to judge a mutant by the rules alone that it breaks.
    """
    mutant = next((it for it in MUTANTS if it.name == name), None)
    rules = mutant.rules if mutant is not None and is_own else ()
    whole, union = verified(mutant, rules), by_shards(mutant, rules)
    return ShardComparison(name, frozenset(failed(whole)), frozenset(failed(union)), union.stopped)


if __name__ == "__main__":
    raise SystemExit(main(compared, "tests.proofs.mutants.sharded", seed=2))

"""Shards of verify find together what one run finds; ``python -m tests.proofs.mutants.sharded`` shows it of many."""

from tests.proofs.mutants.edge import MUTANTS
from tests.proofs.mutants.sharded import by_shards
from tests.proofs.mutants.verifying import failed, verified


def test_shards_find_the_rules_of_a_mutant_that_one_run_finds() -> None:
    mutant = next(it for it in MUTANTS if it.name == "strange_addresses_are_assigned")
    whole, union = verified(mutant, mutant.rules), by_shards(mutant, mutant.rules)
    assert failed(whole) == failed(union) != set()
    assert union.stopped == ""

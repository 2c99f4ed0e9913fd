"""Every check can fail: each rule is broken by a mutant, and the rule that it breaks catches it.

Here the first mutant that breaks a rule alone, and every tenth, meet the probes of their own rules;
``make mutants`` runs all of verify on every mutant.
"""

import pytest
from tests.proofs.mutants.edge import MUTANTS
from tests.proofs.mutants.reproduction import recording
from tests.proofs.mutants.runner import first_sighting
from tests.proofs.mutants.verifying import failed, first_finding, reproduced, verified

from understudy.verify.checks import CHECKS

CHECKED = {rule for registered in CHECKS for rule in registered.rules}
ALONE = {mutant.rules[0] for mutant in MUTANTS if len(mutant.rules) == 1}
"""Rules that some mutant breaks alone: that it is caught says that their checks can fail."""
FIRST = {it.rules[0]: it.name for it in reversed(MUTANTS) if len(it.rules) == 1}
EVERY_TENTH = {mutant.name for mutant in MUTANTS[::10]}
SOME = [mutant for mutant in MUTANTS if mutant.name in EVERY_TENTH | {*FIRST.values()}]
SIGHTED_EARLY = {
    "/me/associated-email is read with the manage scope",
    "links is kept from API keys",
    "payments leaks to the public",
    "the_state_is_trimmed",
}
"""Mutants of all kinds that a run sees before its last request."""


@pytest.fixture(scope="module")
def recorder():
    with recording() as running:
        yield running


@pytest.fixture(scope="module", params=SOME, ids=lambda mutant: mutant.name)
def judged(request):
    """Gives a mutant and what the probes of its own rules find: two tests need both."""
    return request.param, verified(request.param, request.param.rules)


def test_a_mutant_is_caught_by_the_rule_that_it_breaks(judged):
    mutant, outcome = judged
    assert failed(outcome) & set(mutant.rules), outcome.stopped


def test_the_printed_reproduction_of_the_first_finding_shows_the_fault_again(
    judged, recorder, tmp_path
):
    mutant, outcome = judged
    finding = first_finding(mutant, outcome)
    assert reproduced(mutant, finding, recorder, tmp_path)


@pytest.mark.parametrize("mutant", MUTANTS[::60], ids=lambda mutant: mutant.name)
def test_the_reproduction_shows_nothing_at_a_deployment_that_is_whole(mutant, recorder, tmp_path):
    finding = first_finding(mutant, verified(mutant, mutant.rules))
    assert reproduced(None, finding, recorder, tmp_path) == []


def test_every_rule_that_has_a_check_has_a_mutant_that_trips_it():
    assert CHECKED - {rule for mutant in MUTANTS for rule in mutant.rules} == set()


@pytest.mark.parametrize("rule", sorted(CHECKED - ALONE))
def test_a_rule_that_is_broken_beside_others_only_has_a_check_that_fails_too(rule):
    breaking = (mutant for mutant in MUTANTS if rule in mutant.rules)
    assert any(rule in failed(verified(mutant, (rule,))) for mutant in breaking)


def test_mutants_are_made_from_the_documents_and_by_hand():
    mechanical = [mutant for mutant in MUTANTS if mutant.is_mechanical]
    assert len(mechanical) >= 200
    assert len(MUTANTS) - len(mechanical) >= 300
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_the_unbroken_mock_breaks_no_rule():
    outcome = verified(None)
    assert [finding.summary for finding in outcome.findings] == []


@pytest.mark.parametrize("name", sorted(SIGHTED_EARLY))
def test_a_run_that_stops_at_the_first_sighting_counts_as_a_whole_one_does(name):
    mutant = next(it for it in MUTANTS if it.name == name)
    whole, short = (verified(mutant, is_hour=True, is_short=short) for short in (False, True))
    assert first_sighting(mutant, short) == first_sighting(mutant, whole)
    assert short.requests < whole.requests

"""Nothing is found at a deployment that chose otherwise; ``make controls`` runs every switch."""

import pytest
from tests.proofs.controls import (
    DEPLOYMENTS,
    OWNERS,
    RULES,
    SWITCHES,
    at_random,
    judged,
    judged_by_facts,
    lifted,
    options,
    others,
)

LIFTING = [choice for choice in others() if RULES[OWNERS[choice[0]]].status == "implied"]


@pytest.mark.parametrize(
    ("deployment", "seed"),
    [("facts", 2), ("reference", 3), ("reference in full", 5)],
)
def test_a_deployment_that_chose_otherwise_breaks_nothing(deployment, seed):
    choices = at_random(seed)
    outcome = DEPLOYMENTS[deployment](choices, lifted(choices))
    assert [finding.summary for finding in outcome.findings] == []


def test_runs_at_random_draw_every_option_of_each_switch_beside_every_other():
    drawn = [at_random(seed) for seed in range(50)]
    pairs = {
        (one, other) for choices in drawn for one in choices.items() for other in choices.items()
    }
    named = [(name, option) for name, option in options() if SWITCHES[name].range is None]
    assert {(one, other) for one in named for other in named if one[0] != other[0]} <= pairs


@pytest.mark.parametrize(("name", "option"), LIFTING)
def test_a_switch_that_lifts_an_implied_rule_breaks_that_rule_alone(name, option):
    outcome = judged({name: option})
    assert {finding.rule.id for finding in outcome.findings} == {OWNERS[name]}


@pytest.mark.parametrize("option", ["any", "auth"])
def test_what_is_read_opens_by_the_scopes_that_facts_name(option):
    choices = dict.fromkeys(
        ("own-profile-scope", "avatar-list-scope", "associated-email-scope"), option
    )
    assert [finding.summary for finding in judged_by_facts(choices).findings] == []


def test_a_missing_scope_that_looks_like_nothing_found_owes_no_count():
    outcome = judged({"missing-scope-error": "404 hidden"})
    assert "rate-limit-headers" not in {note.rule.id for note in outcome.notes}

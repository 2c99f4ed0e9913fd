"""Nothing is found at a deployment that chose otherwise; ``make controls`` runs every switch."""

import pytest
from tests.quality.controls import RULES, SWITCHES, at_random, judged, lifted, others

LIFTING = [choice for choice in others() if RULES[SWITCHES[choice[0]].rule].status == "implied"]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_deployment_that_chose_otherwise_breaks_nothing(seed):
    choices = at_random(seed)
    outcome = judged(choices, lifted(choices))
    assert [finding.summary for finding in outcome.findings] == []


@pytest.mark.parametrize(("name", "option"), LIFTING)
def test_a_switch_that_lifts_an_implied_rule_breaks_that_rule_alone(name, option):
    outcome = judged({name: option})
    assert {finding.rule.id for finding in outcome.findings} == {SWITCHES[name].rule}

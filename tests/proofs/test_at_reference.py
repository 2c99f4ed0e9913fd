"""The independent reference keeps every rule that binds it, and each of its faults breaks one.

So it is what the interface says, and no test of its own repeats that. Here every second fault meets the
probes of its own rules; ``make mutants`` runs all of verify on every fault.
"""

import pytest
from tests.proofs import at_reference
from tests.proofs.reference.faults.every import EVERY

DASHBOARD = {"application-has-id-and-secret", "dashboard-redirect-urls", "api-key-by-application"}
"""Rules of the developer dashboard, which the interface gives no address."""


def test_every_rule_that_the_interface_states_or_implies_is_seen_to_hold():
    outcome = at_reference.judged(exhausts=True)
    assert [finding.summary for finding in outcome.findings] == []
    binding = [each for each in outcome.rules if each.rule.status != "assumed"]
    unseen = {each.rule.id for each in binding if each.status != "passed"}
    assert unseen == DASHBOARD | {"generated"}  # no cases are generated here
    assert len(binding) > 100


@pytest.mark.parametrize("fault", [*EVERY.values()][::2], ids=lambda fault: fault.name)
def test_a_fault_is_caught_by_a_rule_that_it_breaks(fault):
    # a few show only after requests of other rules
    assert at_reference.caught(fault, fault.rules) or at_reference.caught(fault)

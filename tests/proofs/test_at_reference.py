"""Faults made in the independent reference are found, each by a rule that it breaks.

``make mutants`` tries them all.
"""

import pytest
from tests.proofs import at_reference
from tests.proofs.reference.faults.every import EVERY


@pytest.mark.parametrize("fault", [*EVERY.values()][::4], ids=lambda fault: fault.name)
def test_a_fault_is_caught_by_a_rule_that_it_breaks(fault):
    assert at_reference.caught(fault)

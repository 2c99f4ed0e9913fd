"""The packaged schedule is what the probes send and settle now."""

import pytest
from tests.tools import schedule

from understudy.verify.checks import CHECKS
from understudy.verify.probing import PROBES, SCHEDULE

RULES = {check.name: set(check.rules) for check in CHECKS}


@pytest.fixture(scope="module")
def measured():
    return schedule.measured()


def test_the_schedule_is_current(measured):
    assert SCHEDULE.read_bytes() == schedule.as_file(measured.together), "run make schedule"


def test_every_probe_settles_each_rule_that_it_is_for(measured):
    settled = {
        name: {rule for part in parts for check in part.checks for rule in RULES[check]}
        for name, parts in measured.alone.items()
    }
    idle = {probe.name: set(probe.rules) - settled[probe.name] for probe in PROBES}
    assert {name: rules for name, rules in idle.items() if rules} == {}

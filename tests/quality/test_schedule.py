"""The packaged schedule is what the probes send and settle now."""

import pytest
from tests.quality.schedule import as_file, schedule

from understudy.verify.probing import PROBES
from understudy.verify.schedule import SCHEDULE


@pytest.fixture(scope="module")
def measured():
    return schedule()


def test_the_schedule_is_current(measured):
    assert SCHEDULE.read_bytes() == as_file(measured), "run make schedule"


def test_every_probe_settles_each_rule_that_it_is_for(measured):
    settled = {
        name: {rule for part in parts for rule in part.rules} for name, parts in measured.items()
    }
    idle = {probe.name: set(probe.rules) - settled[probe.name] for probe in PROBES}
    assert {name: rules for name, rules in idle.items() if rules} == {}

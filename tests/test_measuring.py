"""Coverage measures the processes that it is meant to."""

import os

from tests.conftest import CONFIGURATION, paused_coverage


def test_child_processes_stay_unmeasured_after_a_pause():
    with paused_coverage():
        pass
    assert CONFIGURATION not in os.environ

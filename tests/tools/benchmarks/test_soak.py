"""The soak in its short form; ``make soak`` takes five minutes."""

import shutil

import pytest
from tests.tools.benchmarks.soak import soak


@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")
def test_nothing_is_lost_and_nothing_fails_that_was_not_asked_to() -> None:
    actual = soak(2)
    assert actual.faults == []
    assert set(actual.steps) == {"edit", "upload", "sign_in", "break"}
    assert actual.reads > 0

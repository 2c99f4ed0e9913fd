"""The soak in its short form; ``make soak`` takes five minutes."""

from tests.needs import program
from tests.tools.benchmarks.soak import soak


def test_nothing_is_lost_and_nothing_fails_that_was_not_asked_to() -> None:
    program("wrk")
    actual = soak(2)
    assert actual.faults == []
    assert set(actual.steps) == {"edit", "upload", "sign_in", "break"}
    assert actual.reads > 0

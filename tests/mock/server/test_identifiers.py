"""Identifiers are the same in every run with the same seed, and time is what it is told to be."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from understudy.mock.server.clock import Clock
from understudy.mock.server.worlds import Identifiers


@given(seed=st.integers(), digits=st.integers(1, 64))
def test_the_same_seed_gives_the_same_identifiers(seed: int, digits: int) -> None:
    one, other = Identifiers(seed), Identifiers(seed)
    found = one.hexadecimal(digits)
    assert found == other.hexadecimal(digits)
    assert len(found) == digits
    assert set(found) <= set("0123456789abcdef")
    assert one.text(9, "ab") == other.text(9, "ab")


def test_identifiers_are_unlike_one_another() -> None:
    identifiers = Identifiers()
    assert len({identifiers.hexadecimal(16) for _ in range(1_000)}) == 1_000


def test_a_clock_tells_the_machines_time_in_utc_or_what_it_is_given() -> None:
    assert Clock().now().tzinfo is UTC
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    assert Clock(lambda: moment).now() == moment

"""Idle worlds are found without a look at all, beside an oracle that looks at all of them."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from understudy.mock.server.world_selection import Lifetimes

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
NAMES = st.sampled_from("abcde")
STEPS = st.one_of(
    st.tuples(st.just("begin"), NAMES, st.integers(1, 5)),
    st.tuples(st.just("touch"), NAMES, st.just(0)),
    st.tuples(st.just("end"), NAMES, st.just(0)),
    st.tuples(st.just("wait"), st.just(""), st.integers(0, 5)),
)


@given(st.lists(STEPS, max_size=60))
def test_exactly_the_worlds_are_over_whose_last_request_was_too_long_ago(
    steps: list[tuple[str, str, int]],
) -> None:
    lifetimes, now, oracle = Lifetimes(), START, dict[str, tuple[timedelta, datetime]]()
    for step, name, number in steps:
        if step == "begin" and name not in oracle:
            oracle[name] = (timedelta(seconds=number), now)
            lifetimes.begin(name, timedelta(seconds=number), now)
        elif step == "touch" and name in oracle:
            oracle[name] = (oracle[name][0], now)
            lifetimes.touch(name, now)
        elif step == "end":
            oracle.pop(name, None)
            lifetimes.end(name)
        elif step == "wait":
            now += timedelta(seconds=number)
        over = {world for world, (idle, touched) in oracle.items() if now >= touched + idle}
        assert {world for world in oracle if lifetimes.is_over(world, now)} == over
        ended = lifetimes.over(now)
        assert set(ended) == over
        for world in ended:
            lifetimes.end(world)
            del oracle[world]


def test_thousands_that_are_over_end_in_portions() -> None:
    lifetimes, left = Lifetimes(), {f"w{number}" for number in range(1000)}
    for name in left:
        lifetimes.begin(name, timedelta(seconds=1), START)
    for _ in range(10):
        ended = lifetimes.over(START + timedelta(seconds=2))
        assert len(ended) == 100
        for name in ended:
            lifetimes.end(name)
        left.difference_update(ended)
    assert not left


def test_worlds_that_were_deleted_are_not_remembered_until_they_would_have_ended() -> None:
    lifetimes = Lifetimes()
    for number in range(10_000):
        lifetimes.begin(f"w{number}", timedelta(days=365), START)
        lifetimes.end(f"w{number}")
    assert not lifetimes._touched

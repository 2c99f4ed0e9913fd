"""The search for a number finds every one, by few trials where it is a round one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.interface.rules import NumberRange
from understudy.verify.readings import Bracket, bracket_of, most_trials, next_trial

PIXELS = NumberRange(least=512, most=2048, unit="pixels")
SECONDS = NumberRange(least=60, most=3600, step=10, unit="seconds")
LIKELY = (60, 300, 600, 1024, 1500, 2048, 3600)


def searched(
    numbers: NumberRange, actual: int, expected: int | None = None
) -> tuple[Bracket, list[int]]:
    """Returns what is left, and the numbers that were tried."""
    tried: list[int] = []
    bracket = bracket_of(numbers, ())
    while (number := next_trial(bracket, LIKELY, expected)) is not None:
        tried.append(number)
        bracket = bracket.narrowed(number, is_accepted=number <= actual)
    return bracket, tried


@given(st.integers(512, 2048))
def test_every_number_is_found_by_no_more_trials_than_planned_and_none_twice(actual: int) -> None:
    bracket, tried = searched(PIXELS, actual)
    assert (bracket.value, len(tried)) == (str(actual), len(set(tried)))
    assert len(tried) <= most_trials(PIXELS, [n for n in LIKELY if n in range(512, 2049)])


@given(st.integers(512, 2048), st.integers(512, 2048))
def test_an_expected_number_that_is_wrong_costs_two_trials_at_most(
    actual: int, expected: int
) -> None:
    bracket, tried = searched(PIXELS, actual, expected)
    assert bracket.value == str(actual)
    assert len(tried) <= most_trials(PIXELS, [n for n in LIKELY if n in range(512, 2049)]) + 2


@given(st.integers(6, 360).map(lambda count: count * 10))
def test_numbers_with_a_step_are_tried_at_its_multiples(actual: int) -> None:
    bracket, tried = searched(SECONDS, actual)
    assert bracket.value == str(actual)
    assert {number % 10 for number in tried} == {0}


@pytest.mark.parametrize("actual", [600, 1024, 1500])
def test_a_round_number_takes_four_trials_at_most(actual: int) -> None:
    assert len(searched(PIXELS, actual)[1]) <= 4


def test_a_number_that_is_as_it_was_takes_two_trials() -> None:
    assert searched(PIXELS, 777, expected=777)[1] == [777, 778]


@pytest.mark.parametrize(
    ("actual", "value"), [(0, "less than 512"), (9999, "more than 2048"), (2048, "2048")]
)
def test_a_number_beyond_the_range_is_told_by_its_side(actual: int, value: str) -> None:
    assert searched(PIXELS, actual)[0].value == value


def test_a_number_refused_below_one_that_is_accepted_ends_the_search() -> None:
    bracket = bracket_of(PIXELS, [(1000, False), (1200, True)])
    assert (bracket.is_contradictory, next_trial(bracket, LIKELY)) == (True, None)


def test_what_is_left_is_said_in_words() -> None:
    bracket = bracket_of(PIXELS, [(1000, True), (1200, False)])
    assert str(bracket) == "1000 was accepted and 1200 was refused"
    smallest = bracket_of(PIXELS, [(1000, True), (1200, False)], is_smallest=True)
    assert str(smallest) == "999 was refused and 1199 was accepted"
    assert str(bracket_of(PIXELS, ())) == "no number was tried"

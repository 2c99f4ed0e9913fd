"""The few cases that cover most, and every pair of options in few requests."""

from itertools import combinations
from random import Random  # noqa: TID251 - seeded

from understudy.cases.model import Case, CaseRequest, ExpectedResponse
from understudy.cases.mutations import Mutation
from understudy.cases.selection import choose, covering


def case(operation: str, *touched: str) -> Case:
    request, expected = CaseRequest("resource", "GET", "/"), ExpectedResponse(("2XX",), "")
    pairs = tuple((name, "type") for name in touched)
    return Case(
        f"{operation}-1", operation, "", "", "", "", "valid", request, expected, touched=pairs
    )


def option(part: str, what: str) -> Mutation:
    return Mutation(part, "option", what, "enum", "#", "valid", lambda draft: draft, is_option=True)


def test_the_case_that_adds_most_is_chosen_first():
    stream = [case("a", "x"), case("a", "x", "y", "z"), case("a", "w"), case("a", "y")]
    assert choose(stream, 1).chosen == (1,)
    assert choose(stream, 2).chosen == (1, 2)


def test_every_operation_comes_before_more_of_one():
    stream = [case("a", "x", "y"), case("a", "z", "w"), case("b")]
    assert choose(stream, 2).chosen == (0, 2)


def test_a_set_stops_where_nothing_is_left_to_cover():
    coverage = choose([case("a", "x"), case("a", "x"), case("a")], 3)
    assert coverage.chosen == (0,)
    assert coverage.summary() == (
        "1 case covers 2 of 2 combinations of operation, part and keyword or rule (100%), and"
        " 1 of 1 operation."
    )


def test_every_pair_of_options_is_in_a_row_and_no_row_has_a_slot_twice():
    options = [option(part, f"{part}{n}") for part in "abcd" for n in range(4)]
    rows = list(covering(options, Random(1)))
    pairs = {
        frozenset(p)
        for row in rows
        for p in combinations([mutation.description for mutation in row], 2)
    }
    assert len(pairs) == 6 * 16
    assert all(len({mutation.part for mutation in row}) == len(row) for row in rows)
    assert len(rows) <= 26  # of 96 pairs; 16 is the least that could do

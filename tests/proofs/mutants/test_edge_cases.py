"""Edge cases against mutants: what is caught, and when nothing may be said of it."""

import sys

import pytest
from tests.proofs.mutants import edge_cases
from tests.proofs.mutants.edge_cases import UNBROKEN, Sight, Wish, seen, sites


def test_a_mutant_of_requests_is_caught_by_a_case_and_the_unbroken_mock_by_none():
    assert "rating" in seen(("lower_case_ratings_are_taken", Wish(24))).found
    assert str(seen((UNBROKEN, Wish(24)))) == "the unbroken mock: NOT CAUGHT"


def test_the_peer_gets_as_many_requests_as_there_are_cases():
    resource, authorization = sites(3)
    assert resource > authorization > 3


def test_nothing_is_counted_where_the_unbroken_mock_fails_a_case(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["edge_cases", "3", "--schemathesis"])
    monkeypatch.setattr(edge_cases, "seen", lambda _: Sight(UNBROKEN, "a case failed"))
    assert edge_cases.main() == 2
    assert "nothing was counted" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("sight", "told"),
    [
        (Sight("a", "case", 7), "a: case; Schemathesis: request 7"),
        (Sight("a", crashed="KeyError"), "a: CRASHED: KeyError"),
    ],
)
def test_a_sight_is_one_line(sight, told):
    assert str(sight) == told

from datetime import UTC, datetime, timedelta

import pytest

from understudy.mock.server.call import Principal
from understudy.mock.server.worlds import World
from understudy.mock.store.people import PEOPLE, Email, Person
from understudy.mock.store.tokens import TOKENS, Token, authenticate, is_valid

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MIRA = Person("mira", "", (Email("mira@example.com"),))
FULL = Token("full", "mira", scopes=("auth",), expires="2026-01-01T12:00:00Z")


@pytest.fixture
def world():
    return World("test", {PEOPLE.name: {"mira": MIRA}, TOKENS.name: {"full": FULL}})


@pytest.mark.parametrize(("seconds", "counts"), [(-1, True), (0, False), (1, False)])
def test_a_token_counts_until_the_instant_it_expires(seconds, counts):
    assert is_valid(FULL, NOON + timedelta(seconds=seconds)) is counts


def test_a_token_without_an_end_always_counts():
    assert is_valid(Token("endless", "mira"), datetime.max.replace(tzinfo=UTC))


def test_a_token_speaks_for_its_person_with_its_scopes(world):
    principal = authenticate(world, "full", NOON - timedelta(seconds=1))
    assert principal == Principal("mira", "oauth", frozenset({"auth"}), "full")


@pytest.mark.parametrize(("token", "now"), [("other", NOON - timedelta(1)), ("full", NOON)])
def test_a_token_that_is_unknown_or_over_speaks_for_nobody(world, token, now):
    assert authenticate(world, token, now) is None


def test_a_token_of_somebody_who_is_gone_speaks_for_nobody(world):
    world.remove(PEOPLE, "mira")
    assert authenticate(world, "full", NOON - timedelta(1)) is None

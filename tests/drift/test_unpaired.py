"""A rule that is broken in one run alone, or where only one side got a request, is not lost."""

from dataclasses import replace

import pytest
from tests.verify.exchanges import exchange_of

from understudy.drift.causes import BROKEN_IN_ONE, BROKEN_ONCE, BROKEN_TWICE, causes, confirmed
from understudy.drift.judging import BrokenRule, Judgements, RunJudgement
from understudy.verify.catalogue import catalogue

STATED = catalogue()["avatar-patch-partial"]
LISTED = exchange_of("/me/avatars", operation="GET /me/avatars", number=1)
RENAMED = exchange_of("/me/avatars/a", operation="PATCH /me/avatars/{}", number=2)


def run(exchange, *, breaks=False, is_open=False):
    """Returns the judgement of a run of one exchange."""
    broken = {STATED.id: BrokenRule(STATED, is_open, "")} if breaks else {}
    rules = catalogue()
    return RunJudgement({exchange.number: broken}, {}, {}, {}, rules, (exchange,))


def summary(first, second, other):
    """Returns whose fault what is, and whether it is of the second run."""
    found = causes([], [], Judgements(first, second, other))
    return [(it.fault, it.rule, it.differences[0].is_of_second_run) for it in found]


SOUND = run(LISTED)
KEEPING = replace(SOUND, kept={LISTED.number: frozenset({STATED.id})})
BROKEN = run(LISTED, breaks=True)


@pytest.mark.parametrize(
    ("first", "second", "fault", "is_of_second_run"),
    [
        (BROKEN, BROKEN, "deployment", False),
        (BROKEN, SOUND, "unsteady", False),
        (SOUND, BROKEN, "unsteady", True),
    ],
)
def test_a_rule_that_no_compared_response_breaks_is_named(first, second, fault, is_of_second_run):
    assert summary(first, second, SOUND) == [(fault, STATED.id, is_of_second_run)]


@pytest.mark.parametrize(("second", "value"), [(KEEPING, BROKEN_ONCE), (SOUND, BROKEN_IN_ONE)])
def test_a_run_that_kept_a_rule_is_told_from_one_that_did_not_check_it(second, value):
    (cause,) = causes([], [], Judgements(BROKEN, second, SOUND))
    assert (cause.fault, cause.differences[0].ours) == ("unsteady", value)


def test_the_other_response_that_is_shown_is_to_the_same_request_if_there_is_one():
    url = f"{LISTED.request.url}?selected_email_hash=a"
    later = replace(LISTED, number=5, request=replace(LISTED.request, url=url))
    (cause,) = causes([], [], Judgements(BROKEN, SOUND, replace(SOUND, exchanges=(LISTED, later))))
    assert cause.differences[0].other == LISTED


def test_what_the_contract_leaves_open_or_the_other_breaks_too_is_not_named():
    assert summary(run(LISTED, breaks=True, is_open=True), SOUND, SOUND) == []
    assert summary(BROKEN, SOUND, BROKEN) == []


def test_there_is_nothing_to_show_beside_it_where_the_other_has_no_such_response():
    assert summary(BROKEN, BROKEN, run(RENAMED)) == []


@pytest.mark.parametrize(("third", "fault"), [({STATED.id}, "deployment"), (set(), "unsteady")])
def test_a_third_run_decides_on_what_one_of_two_has_shown(third, fault):
    found = causes([], [], Judgements(BROKEN, SOUND, SOUND))
    (cause,) = confirmed(found, third)
    assert cause.fault == fault
    assert (cause.differences[0].ours == BROKEN_TWICE) == (fault == "deployment")

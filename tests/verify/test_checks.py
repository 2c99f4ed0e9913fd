"""Conditions of checks: that they end a judgement, and that a report names the one that never held."""

from dataclasses import replace

import pytest
from tests.verify.exchanges import BASE_URL, exchange_of

from understudy.exchange.messages import Request, Response
from understudy.interface.operations import LOOKUP, SET_AVATAR, UPDATE_AVATAR, UPLOAD_AVATAR
from understudy.verify import checks
from understudy.verify.checks import (
    CHECKS,
    Check,
    InternalError,
    Unmet,
    check_results,
    described,
    expect,
)
from understudy.verify.history import History, made_up_hash
from understudy.verify.target import Credentials, Target

HISTORY = History(Target(BASE_URL))

SELECTED = f"?selected_email_hash={made_up_hash(1)}"


def is_first(exchange, _history):
    """Tells whether it is the first one."""
    return exchange.number == 1


def was_found(exchange, _history):
    """Tells whether the profile was found."""
    return exchange.status == 200


def never_judged(_exchange, _history):
    return expect(condition=True, expected="anything")


CHECK = Check(
    "some-check", ("some-rule",), frozenset({LOOKUP}), (is_first, was_found), never_judged
)


@pytest.fixture
def only_check(monkeypatch):
    monkeypatch.setattr(checks, "checks_for", lambda _exchange: (CHECK,))


@pytest.mark.usefixtures("only_check")
@pytest.mark.parametrize(("number", "status", "reached"), [(2, 200, 0), (1, 404, 1)])
def test_a_check_is_not_asked_where_a_condition_does_not_hold(number, status, reached):
    exchange = exchange_of("/profiles/ada", status=status, number=number, operation=LOOKUP)
    assert list(check_results(exchange, HISTORY)) == [Unmet(CHECK, reached)]


@pytest.mark.usefixtures("only_check")
def test_a_check_is_asked_where_every_condition_holds():
    exchange = exchange_of("/profiles/ada", status=200, number=1, operation=LOOKUP)
    assert [rule for rule, _ in check_results(exchange, HISTORY)] == ["some-rule"]


@pytest.mark.parametrize("status", [502, 503, 504])
def test_nothing_is_asked_of_a_response_that_the_service_did_not_make(status):
    exchange = exchange_of("/profiles/ada", status=status, number=1, operation=LOOKUP)
    assert list(check_results(exchange, HISTORY)) == []


@pytest.mark.usefixtures("only_check")
@pytest.mark.parametrize(("rule", "judged"), [("some-rule", ["some-rule"]), ("another-rule", [])])
def test_only_the_checks_of_the_rules_to_judge_are_asked(rule, judged):
    exchange = exchange_of("/profiles/ada", status=200, number=1, operation=LOOKUP)
    results = check_results(exchange, HISTORY, {rule: None}.keys())
    assert [rule for rule, _ in results] == judged


def test_a_rule_that_was_not_checked_names_the_condition_that_never_held():
    assert CHECK.occasion(1) == (
        "no GET /profiles/{} was seen where it is the first one and the profile was found"
    )


def test_of_many_conditions_only_the_one_that_never_held_is_named():
    first, second = CHECK.when
    assert replace(CHECK, when=(first, first, second)).occasion(2) == (
        "no GET /profiles/{} met every condition of the rule; the one missing: the profile was found"
    )


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_every_check_says_what_it_judges_and_every_condition_what_must_hold(check):
    is_demand = check.name.startswith("checks.")  # which its rule and its outcome describe
    assert is_demand or check.judge.__doc__.rstrip().endswith((".", ")"))
    for condition in check.when:
        assert (condition.__doc__ or "").startswith("Tells whether "), condition
        assert described(condition)


class OthersAvatars(History):
    """A history in which each avatar is of another account."""

    def owner_of(self, _image_id):
        return "other"


@pytest.mark.parametrize(
    ("rule", "method", "path", "operation"),
    [
        ("unknown-selected-email-hash", "POST", f"/me/avatars{SELECTED}", UPLOAD_AVATAR),
        ("foreign-avatars-invisible", "PATCH", "/me/avatars/a", UPDATE_AVATAR),
        ("foreign-avatars-invisible", "POST", "/me/avatars/a/email", SET_AVATAR),
    ],
)
def test_a_write_without_a_sound_body_may_be_refused_for_its_body(rule, method, path, operation):
    target = Target(BASE_URL, credentials=Credentials(access_token="known"))
    write = exchange_of(
        path.partition("?")[0],
        status=400,
        method=method,
        request=Request(method, BASE_URL + path, body=b"none"),
        response=Response(400),
        identity=target.identify("known"),
        operation=operation,
    )
    results = list(check_results(write, OthersAvatars(target), {rule: None}.keys()))
    judged = [result[1] for result in results if not isinstance(result, Unmet | InternalError)]
    assert len(judged) < len(results)
    assert all(result.holds for result in judged)

"""A part of verify that fails is an internal error: the run goes on, undoes and reports."""

from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from understudy.cli.exit_codes import ExitCode
from understudy.cli.reporting import ending
from understudy.verify.evaluator import Evaluator
from understudy.verify.findings import Outcome
from understudy.verify.run import Run

Verify = Callable[..., Outcome]


class Failure(Exception):
    """An error that no part of verify expects."""


def failing(*_arguments: Any) -> NoReturn:
    msg = "out of order"
    raise Failure(msg)


def test_a_judge_that_fails_ends_no_run(verify: Verify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Evaluator, "evaluate", failing)
    outcome = verify(rules=("profile-patch-partial",))
    assert "judging PATCH /me/profile 200: Failure: out of order" in outcome.internal_errors
    assert outcome.not_restored == ()
    assert ending(outcome, frozenset({"findings"}), 0).code == ExitCode.INTERNAL


def test_a_generator_that_fails_ends_no_run(verify: Verify) -> None:
    def phase(run: Run) -> None:
        failing(run)

    outcome = verify(rules=("qr-default-size",), phases=[("generated cases", phase)])
    assert outcome.internal_errors == ("the phase generated cases: Failure: out of order",)
    assert [rule.status for rule in outcome.rules] == ["passed"]


def test_findings_come_before_internal_errors_in_the_exit_code(verify: Verify) -> None:
    outcome = verify(rules=("qr-default-size",))
    assert ending(outcome, frozenset({"findings"}), 1).code == 1

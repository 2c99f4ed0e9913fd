"""Scenarios find what only shows after other calls, and shrink it to the fewest."""

from datetime import timedelta

import pytest
from tests.conftest import paused_coverage
from tests.proofs.mutants.edge import OWN, Edge, asking, at, json_of
from tests.verify.conftest import PATIENT

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.verify.deployment import Allowance, Deployment
from understudy.verify.run import RunOptions, start
from understudy.verify.runner import carry_out
from understudy.verify.scenarios import SCENARIOS, play, scenarios


@pytest.fixture
def playing(mock, wire):
    def playing(change=None):
        outer = Edge(wire, change) if change else wire
        time = in_process.time_of(mock)
        return start(Deployment(TARGET, outer, time, PATIENT), RunOptions())

    return playing


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_mock_plays_every_scenario(playing, name):
    run = playing()
    assert play(run, name, examples=5) == ""
    assert len(run.exchanges) > 10
    assert run.undo.restore() == []


def test_what_breaks_after_another_call_is_shrunk_to_the_fewest(playing):
    """A deployment that drops the description when it is updated together with the company."""

    def change(request, send):
        asked = json_of(request) if at(request, "PATCH", OWN) else None
        if isinstance(asked, dict) and "company" in asked and len(asked) > 1:
            send(asking(request, body=b'{"description": ""}'))
        return send(request)

    run = playing(change)
    with paused_coverage():  # shrinking repeats at length what the tests beside it run once
        broken = play(run, "profile-edits", examples=60)
    assert broken.startswith("profile-patch")
    finding = next(found for found in run.evaluator.findings if found.rule.id == broken)
    assert len(finding.steps) <= 4


def test_time_passes_in_the_life_of_a_token(playing, mock):
    before = mock.world.clock.now()
    play(playing(), "token-life", examples=8)
    assert mock.world.clock.now() - before > timedelta(hours=1)


@pytest.mark.parametrize("most", range(12, 60, 6))
def test_a_broken_rule_and_a_spent_budget_end_with_a_report(mock, wire, most):
    """A deployment that forgets the description, judged with few requests."""

    def change(request, send):
        asked = json_of(request) if at(request, "PATCH", OWN) else None
        if isinstance(asked, dict) and len(asked) > 1:
            send(asking(request, body=b'{"description": ""}'))
        return send(request)

    allowance = Allowance(requests=most, pause=timedelta(hours=2))
    deployment = Deployment(TARGET, Edge(wire, change), in_process.time_of(mock), allowance)
    options = RunOptions(rules=("profile-patch-partial",), phases=[("scenarios", scenarios(20))])
    outcome = carry_out(deployment, options)
    assert outcome.internal_errors == ()
    assert outcome.requests <= most

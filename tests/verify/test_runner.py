"""A whole run against the mock: every rule ends, and everything is as it was before."""

from contextlib import closing, contextmanager
from datetime import timedelta
from typing import NamedTuple

import httpx
import pytest
from msgspec import UNSET
from msgspec.structs import replace
from tests.conftest import paused_coverage
from tests.mock.renewal import renew
from tests.verify.conftest import PATIENT, Wire

from understudy.api.bundled_target import TARGET
from understudy.api.in_process import InProcess, time_of
from understudy.mock.server.clock import machine_time
from understudy.mock.store.people import PEOPLE
from understudy.verify.deployment import Allowance, Deployment
from understudy.verify.evaluator import UNJUDGED
from understudy.verify.findings import Outcome
from understudy.verify.gateway import UNDO
from understudy.verify.generated_cases import generated
from understudy.verify.reports import report_of
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.target import Credentials, Known, Permit


def edited(mock):
    ada = mock.world.get(PEOPLE, "ada")
    avatars = [(a.image_id, a.rating, a.alt_text) for a in ada.avatars]
    return replace(ada.profile, last_profile_edit=UNSET), avatars, ada.emails


class WholeRun(NamedTuple):
    """A run of probes and generated cases, the requests that it sent, and the account around it."""

    outcome: Outcome
    seen: list[httpx.Request]
    before: object
    after: object


@pytest.fixture(scope="module")
def whole(built):
    mock = renew(built)
    before = edited(mock)
    with closing(InProcess(mock)) as inner:
        wire = Wire(inner)
        options = RunOptions(phases=[("generated cases", generated(3))])
        outcome = carry_out(Deployment(TARGET, wire, time_of(mock), PATIENT), options)
    return WholeRun(outcome, wire.seen, before, edited(mock))


def test_the_mock_holds_every_rule_that_can_be_judged(whole):
    assert [finding.summary for finding in whole.outcome.findings] == []
    unchecked = {found.rule.id for found in whole.outcome.rules if found.status == "not_checked"}
    assert unchecked == {*UNJUDGED}
    assert whole.outcome.internal_errors == ()


def test_everything_is_put_back(whole):
    assert whole.outcome.not_restored == ()
    assert whole.after == whole.before


def test_the_journal_holds_every_request_that_the_server_saw(whole):
    assert len(whole.outcome.exchanges) == len(whole.seen) == whole.outcome.requests
    sent = [(exchange.request.method, exchange.request.url) for exchange in whole.outcome.exchanges]
    assert sent == [(request.method, str(request.url)) for request in whole.seen]


def test_nothing_is_put_back_where_it_could_be_interrupted(verify, wire):
    sent = []

    @contextmanager
    def undisturbed():
        sent.append(len(wire.seen))
        yield
        sent.append(len(wire.seen))

    outcome = verify(rules=("profile-patch-partial",), undisturbed=undisturbed)
    begun, ended = sent
    assert begun < ended == len(wire.seen)
    undone = [e.number for e in outcome.exchanges if e.source == UNDO and e.request.method != "GET"]
    assert undone
    assert min(undone) > begun


def test_observing_writes_nothing(verify, wire):
    target = replace(TARGET, mode="observe", permit=Permit())
    with paused_coverage():  # the whole run shows what is run
        verify(target, phases=[("generated cases", generated(3))])
    assert {request.method for request in wire.seen} <= {"GET", "HEAD"}


def test_a_run_keeps_to_an_hours_budget(verify):
    target = replace(TARGET, permit=Permit(uploads=True, tokens=True))
    outcome = verify(target, allowance=Allowance())
    assert [finding.summary for finding in outcome.findings] == []
    assert outcome.counted["anonymous"] <= 100
    assert outcome.not_run == ()


def test_what_the_target_does_not_give_is_the_reason(verify):
    target = replace(
        TARGET, credentials=Credentials(), known=Known(), auth_url=None, mode="observe"
    )
    outcome = verify(target)
    reasons = {found.rule.id: found.reason for found in outcome.rules}
    assert reasons["own-profile-is-full"] == "[credentials] access_token is not given"
    assert reasons["code-single-use"] == "auth_url is not given"
    assert not any(found.could_be for found in outcome.rules if found.reason.startswith("["))


def test_a_run_that_is_out_of_time_says_what_is_left(verify):
    ends = machine_time() + timedelta(seconds=0.3)
    allowance = Allowance(is_over=lambda: machine_time() >= ends)
    outcome = verify(allowance=allowance, phases=[("generated cases", generated(2))])
    assert outcome.stopped == ""
    assert "the rest of the generated cases" in outcome.not_run
    reasons = {found.reason for found in outcome.rules if found.status == "not_checked"}
    assert "the time of the run is used up (--max-time)" in reasons
    assert outcome.spent == ("the time of the run is used up (--max-time)",)
    not_run = f"not run, as {outcome.spent[0]}: "
    assert any(remark.startswith(not_run) for remark in report_of(outcome, {}).remarks)


def test_the_requests_of_a_run_are_never_overshot(verify, wire):
    outcome = verify(replace(TARGET, mode="observe"), allowance=Allowance(requests=17))
    assert len(wire.seen) == 17
    assert "code_of_unknown_identifier" in outcome.not_run
    assert any(name.startswith("the rest of ") for name in outcome.not_run)
    begun = {exchange.source.removeprefix("probe ") for exchange in outcome.exchanges}
    assert begun & set(outcome.not_run) == set()

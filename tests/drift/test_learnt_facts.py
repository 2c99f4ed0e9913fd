"""Facts that a deployment no longer bears out are named, and the others explain differences."""

import pytest
from tests.proofs.drifting import deployment

from understudy.drift.comparing import Drift
from understudy.drift.mock_beside import drift, mock_beside
from understudy.interface.facts import AS_ASSUMED, OTHERWISE, Fact, Facts
from understudy.verify.run import RunOptions


def facts(*entries: tuple[str, str, str]) -> Facts:
    """Returns facts: the rule, its reading, and the behaviour where that is not an option."""
    learnt = (Fact(rule, reading, (), 2, "2026-10-01", actual) for rule, reading, actual in entries)
    return Facts("https://staging.example/v3", "2026-10-01", 2, tuple(learnt), ())


def compared(known: Facts, choices: dict[str, str]) -> Drift:
    """Returns the differences by the rules of some facts, between such a deployment and the mock."""
    ours = deployment(choices=choices)
    options = RunOptions(rules=tuple(known.by_rule()))
    mock = mock_beside(ours, [known])
    return drift(ours, mock, options, facts=[known], is_minimised=False)


@pytest.mark.parametrize(
    ("fact", "choice", "now", "request_line"),
    [
        (
            ("profile-private", "403", ""),
            ("private-profile-lookup", "404"),
            "404",
            "GET /profiles/{}",
        ),
        (("qr-size-bounds", "2048", ""), ("qr-largest-size", "1024"), "1024", "GET /qr-code/{}"),
        (
            ("profile-lookup-other-refusals", OTHERWISE, "status 410"),
            ("private-profile-lookup", "403"),
            AS_ASSUMED,
            "GET /profiles/{}",
        ),
    ],
    ids=["option", "number", "without a switch"],
)
def test_a_fact_that_has_changed_names_both_readings_and_the_request(
    fact, choice, now, request_line
):
    result = compared(facts(fact), dict([choice]))
    (changed,) = result.changed_facts
    assert (changed.rule.id, changed.before, changed.now) == (fact[0], fact[2] or fact[1], now)
    assert changed.fact.learnt == "2026-10-01"
    assert result.steps_of_fact(changed)[-1].operation == request_line
    assert [cause.rule for cause in result.causes] == []


def test_facts_that_hold_leave_nothing_to_report():
    known = facts(("profile-private", "404", ""), ("qr-size-bounds", "1024", ""))
    result = compared(known, {"private-profile-lookup": "404", "qr-largest-size": "1024"})
    assert (result.changed_facts, result.causes) == ((), ())


def test_what_a_fact_tells_and_the_mock_cannot_do_is_as_learnt():
    def refusing(request, send):
        response = send(request)
        response.status_code = 410 if response.status_code == 404 else response.status_code
        return response

    rule = "avatar-unknown-404"
    ours = deployment(refusing)
    known = facts((rule, OTHERWISE, "status 410"))
    options = RunOptions(rules=(rule,))
    result = drift(ours, mock_beside(ours), options, facts=[known], is_minimised=False)
    assert result.changed_facts == ()
    assert ("learnt", rule) in {(cause.fault, cause.rule) for cause in result.causes}

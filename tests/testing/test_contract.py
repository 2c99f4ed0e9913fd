"""The contract suite fails without what people of a deployment have on their profiles."""

from contextlib import closing
from typing import Any

import pytest
from tests.drift.test_personal_data import Canaries
from tests.proofs.drifting import ELSEWHERE, deployment
from tests.record.canaries import CANARY

from understudy.record.recorder import people_of_reports
from understudy.reports.formats import FORMATS
from understudy.testing.contract.test_contract import test_rule as judged_by_rule
from understudy.verify.findings import Outcome
from understudy.verify.reports import report_of
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out

RULES = ("profile-patch-seven-fields", "optional-fields-omitted", "avatar-list-of-caller")


@pytest.fixture(scope="module")
def outcomes() -> tuple[Outcome, Outcome]:
    """A run as it was, and as the suite's tests get it."""
    ours = deployment(Canaries())
    people = people_of_reports(ours, None)
    assert people is not None
    with closing(ours):
        seen = carry_out(ours, RunOptions(rules=RULES, listen=people.listen))
    return seen, people.hidden_outcome(seen)


def message(rule: str, outcome: Outcome) -> str:
    with pytest.raises(pytest.fail.Exception) as failure:
        judged_by_rule(rule, outcome, ELSEWHERE.secrets())
    return str(failure.value)


def test_a_failed_rule_of_the_suite_shows_no_value_of_a_person(outcomes: Any) -> None:
    seen, hidden = outcomes
    broken = {finding.rule.id for finding in seen.findings} & set(RULES)
    assert broken
    assert any(CANARY in message(rule, seen) for rule in broken)
    assert not any(CANARY in message(rule, hidden) for rule in broken)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_no_format_of_a_report_shows_a_value_of_a_person(outcomes: Any, name: str) -> None:
    seen, hidden = (report_of(each, ELSEWHERE.secrets()) for each in outcomes)
    assert CANARY in FORMATS["json"](seen)
    assert CANARY not in FORMATS[name](hidden)


def test_each_exchange_is_hidden_once_for_all_findings(outcomes: Any) -> None:
    _, hidden = outcomes
    known = set(map(id, hidden.exchanges))
    steps = [step for finding in hidden.findings for step in finding.steps]
    assert steps
    assert all(id(step) in known for step in steps)

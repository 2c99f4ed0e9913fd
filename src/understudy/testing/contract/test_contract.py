"""Tests each rule and each scenario under its id; the plugin provides the deployment.

All of them share one run: the same gateway, mode and budget as ``understudy verify``.
"""

from typing import Any

import pytest

from understudy.verify.catalogue import catalogue
from understudy.verify.findings import Outcome
from understudy.verify.permits import Refusal
from understudy.verify.reproducing import commands
from understudy.verify.run import Run
from understudy.verify.scenarios import SCENARIOS, play

pytestmark = pytest.mark.xdist_group("understudy-contract")  # one run, one budget


@pytest.mark.parametrize("rule", catalogue())
def test_rule(rule: str, understudy_outcome: Outcome, understudy_secrets: dict[str, str]) -> None:
    """Fails with the findings of a rule; skips a rule that was not checked, with the reason."""
    result = next((it for it in understudy_outcome.rules if it.rule.id == rule), None)
    if result is None:
        pytest.skip("the rule is of another kind of service")
    if result.status == "not_checked":
        pytest.skip(result.reason)
    if result.status == "failed":
        lines = [result.rule.statement]
        for finding in understudy_outcome.findings:
            if finding.rule.id == rule:
                lines += [finding.summary, *commands(finding, understudy_secrets)]
        pytest.fail("\n".join(lines), pytrace=False)


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(
    name: str, understudy_run: Run, understudy_outcome: Outcome, understudy_people: Any
) -> None:
    """Expects that calls in any order violate no rule."""
    shown = str if understudy_people is None else understudy_people.hidden
    if not understudy_run.has_interface:
        pytest.skip("the scenario is of another kind of service")
    if understudy_outcome.stopped:
        pytest.skip(understudy_outcome.stopped)
    try:
        broken = play(understudy_run, name, examples=5)
    except Refusal as refusal:  # such as a spent budget: no fault of the deployment
        pytest.skip(shown(str(refusal)))
    steps = [
        f"{step.request.method} {step.path} {step.status}"
        for finding in understudy_run.evaluator.findings
        if finding.rule.id == broken
        for step in finding.steps
    ]
    assert not broken, shown("\n".join([broken, *steps]))

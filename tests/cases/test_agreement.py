"""The mock and the cases agree: what is valid is accepted, what is invalid refused as announced.

``UNDERSTUDY_CASES`` says how many an operation; ``make cases`` asks for 2,000.
"""

import asyncio
import os
from collections import Counter
from itertools import islice

import pytest
from tests.cases.conftest import Deployment, plans

from understudy.cases.model import Case
from understudy.cases.plans import OperationPlan
from understudy.cases.selection import KINDS, cases

COUNT = int(os.environ.get("UNDERSTUDY_CASES", "150"))
PLANS = {plan.name: plan for plan in plans()}


def some(plan: OperationPlan, count: int = COUNT) -> list[Case]:
    return list(islice(cases(plan, seed=7, kinds=KINDS), count))


@pytest.mark.parametrize("name", PLANS)
def test_the_mock_answers_every_case_as_announced(deployment: Deployment, name: str):
    async def faults() -> list[str]:
        found = [await deployment.fault(case) for case in some(PLANS[name])]
        return [fault for fault in found if fault]

    assert asyncio.run(faults()) == []


@pytest.mark.parametrize("name", PLANS)
def test_every_operation_has_as_many_cases_as_are_asked_for(name: str):
    found = some(PLANS[name])
    assert len(found) == COUNT
    assert len({case.id for case in found}) == COUNT


@pytest.mark.parametrize("name", PLANS)
def test_every_operation_has_cases_of_every_kind(name: str):
    kinds = Counter(case.kind for case in some(PLANS[name], 600))
    assert kinds["valid"] >= 30
    assert kinds["invalid"] >= 4


def test_a_mock_that_takes_everything_is_found_out():
    async def faults() -> int:
        lax = Deployment({"unknown-profile-members": "ignore", "scopes": "ignored"})
        found = [await lax.fault(case) for case in some(PLANS["updateOwnProfile"], 900)]
        return len([fault for fault in found if fault])

    assert asyncio.run(faults()) > 5

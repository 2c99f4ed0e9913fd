"""The six services of the field in this process: verify finds their bugs, and nothing where they are sound."""

from datetime import timedelta

import httpx
import pytest
from tests.proofs.field.judges import line_of
from tests.proofs.field.services import SERVICES, Orders
from tests.proofs.field.targets import PLANTED

from understudy.api.judging import phases_of
from understudy.openapi.loader import load
from understudy.verify.clock import machine_clock
from understudy.verify.deployment import Allowance, Deployment
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.target import Credentials, Target

REQUESTS = 225
"""Half of what a plain run may send, so that the test is quick; the bugs are found by fewer."""


def findings_of(kind, *, has_bugs: bool) -> list[str]:
    service, document = kind(has_bugs=has_bugs), load(kind.document())
    own, other = kind.accounts or (None, None)
    target = Target(
        base_url="http://127.0.0.1:9000",
        mode="full",
        credentials=Credentials(access_token=own, other_access_token=other),
    )
    deployment = Deployment(
        target=target,
        transport=httpx.MockTransport(service.respond),
        time=machine_clock(),
        allowance=Allowance(requests=REQUESTS, pause=timedelta(0)),
        document=document,
    )
    options = RunOptions(phases=phases_of(10, document, is_mock=False)[:1])
    outcome = carry_out(deployment, options)
    assert outcome.internal_errors == ()
    return [
        line_of(
            it.exchange.request.method,
            it.exchange.request.url,
            (it.rule.id, it.expected, it.actual, it.exchange.status, it.exchange.response.body),
        )
        for it in outcome.findings
    ]


@pytest.mark.parametrize("kind", SERVICES, ids=lambda kind: kind.name)
def test_verify_finds_every_bug_of_a_service(kind):
    findings = findings_of(kind, has_bugs=True)
    missed = [bug.name for bug in PLANTED[kind.name] if not any(map(bug.is_in, findings))]
    assert missed == []


@pytest.mark.parametrize("kind", SERVICES, ids=lambda kind: kind.name)
def test_verify_finds_nothing_where_a_service_is_sound(kind):
    assert findings_of(kind, has_bugs=False) == []


def test_a_stack_in_a_refusal_breaks_the_rule_on_plain_errors():
    shown = [it for it in findings_of(Orders, has_bugs=True) if "\nplain-errors\n" in it]
    assert shown
    assert all("Traceback" in it for it in shown)

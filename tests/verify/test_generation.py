"""Generated cases: what Schemathesis finds is taken over, and its known false alarms are not."""

import httpx
import pytest
from schemathesis.config import HealthCheck
from tests.quality.mutants.edge import LIST, Edge, at

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.deployments.allowance import Allowance
from understudy.deployments.deployment import Deployment
from understudy.verify.generated_cases import _Generation, generated, is_false_alarm
from understudy.verify.run import RunOptions, start
from understudy.verify.runner import run_phases


@pytest.mark.parametrize(
    ("actual", "is_alarm"),
    [
        ("negative_data_rejection: … parameter `sha256_hash` in path - violates `anyOf`", True),
        ("negative_data_rejection: … parameter `size` in query - violates `type`", False),
        ("negative_data_rejection: … `email_hash` … parameter `size` in query", False),
        ("negative_data_rejection: the body is no object", False),
        ("positive_data_acceptance: … parameter `sha256_hash` in path", False),
    ],
)
def test_a_text_taken_for_a_text_is_no_finding(actual, is_alarm):
    assert is_false_alarm(actual) is is_alarm


def test_what_the_document_allows_and_a_deployment_refuses_is_found(mock, wire):
    def change(request, send):
        is_list = at(request, "GET", LIST) and "selected_email_hash" not in str(request.url)
        return httpx.Response(422, json={"error": "no"}) if is_list else send(request)

    time = in_process.time_of(mock)
    allowance = Allowance(requests=900)
    deployment = Deployment(TARGET, Edge(wire, change), time, allowance)
    phases = [("generated cases", generated(5))]
    outcome = run_phases(start(deployment, RunOptions(("generated",), phases=phases)))
    (found,) = outcome.rules
    assert found.status == "failed"
    assert outcome.findings[0].exchange.operation == "GET /me/avatars"


def test_no_operation_is_left_out_on_a_slow_machine(mock, wire):
    run = start(Deployment(TARGET, wire, in_process.time_of(mock)), RunOptions(()))
    configuration = _Generation(run, None, 1)._configuration()
    # Hypothesis would give the operation up after some seconds of drawing
    assert HealthCheck.too_slow in configuration.suppress_health_check

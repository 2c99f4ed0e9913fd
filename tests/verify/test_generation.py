"""Generated cases: what Schemathesis finds is taken over, and its known false alarms are not."""

import threading
from dataclasses import replace
from types import SimpleNamespace

import httpx
import pytest
from schemathesis.config import HealthCheck
from schemathesis.engine import events
from schemathesis.engine.core import EventStream
from tests.mock.renewal import renew
from tests.proofs.mutants.edge import LIST, Edge, at

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.api.judging import judge
from understudy.api.opening import open_deployment
from understudy.api.options import DeploymentOptions
from understudy.exchange.messages import Request
from understudy.verify import generated_cases
from understudy.verify.clock import machine_clock
from understudy.verify.deployment import Allowance, Deployment
from understudy.verify.generated_cases import (
    AS_ANONYMOUS,
    AS_OWNER,
    _Generation,
    generated,
    is_false_alarm,
    is_undecided,
)
from understudy.verify.permits import OutOfTime
from understudy.verify.run import RunOptions, start
from understudy.verify.runner import run_phases

OWNERS_TOKEN = TARGET.credentials.access_token


SEVERAL = "negative_data_rejection: … Invalid component: - query: "
IDENTIFIER = " at /properties/sha256_hash"


@pytest.mark.parametrize(
    ("actual", "is_alarm"),
    [
        ("negative_data_rejection: … parameter `sha256_hash` in path - violates `anyOf`", True),
        ("negative_data_rejection: … parameter `size` in query - violates `type`", False),
        ("negative_data_rejection: … `email_hash` … parameter `size` in query", False),
        (f"{SEVERAL}violates `additionalProperties` - path: violates `anyOf`{IDENTIFIER}", True),
        (
            f"{SEVERAL}violates `minimum` at /properties/size - path: violates `anyOf`{IDENTIFIER}",
            False,
        ),
        (f"{SEVERAL}violates `required` - path: violates `anyOf`{IDENTIFIER}", False),
        ("negative_data_rejection: the body is not an object", False),
        ("positive_data_acceptance: … parameter `sha256_hash` in path", False),
    ],
)
def test_a_text_taken_for_a_text_is_no_finding(actual, is_alarm):
    assert is_false_alarm(actual) is is_alarm


@pytest.mark.parametrize(
    ("breach", "is_left_open"),
    [
        ("parameter `type` in query - violates `enum`", True),
        ("parameter `size` in query - violates `type`", True),
        ("parameter `version` in query - violates `enum`", False),
        ("in body - object with unexpected properties", True),
        ("in body - violates `type` at /properties/location", False),
    ],
)
def test_what_assumptions_judge_is_no_finding_of_generated_cases(breach, is_left_open):
    request = Request("GET", "http://site.test/v3/qr-code/ada?type=&size=1&size=2&version=4", ())
    actual = f"negative_data_rejection: …\nInvalid component: {breach}"
    assert is_undecided(actual, request) is is_left_open


@pytest.fixture(scope="module")
def outcome(built):
    """The outcome of generated cases, where a list of avatars is refused that the document allows."""

    def change(request, send):
        is_list = at(request, "GET", LIST) and "selected_email_hash" not in str(request.url)
        return httpx.Response(422, json={"error": "no"}) if is_list else send(request)

    mock = renew(built)
    with in_process.InProcess(mock) as wire:
        time = in_process.time_of(mock)
        deployment = Deployment(TARGET, Edge(wire, change), time, Allowance(requests=900))
        phases = [("generated cases", generated(5))]
        yield run_phases(start(deployment, RunOptions(("generated",), phases=phases)))


def test_what_the_document_allows_and_a_deployment_refuses_is_found(outcome):
    (found,) = outcome.rules
    assert found.status == "failed"
    assert outcome.findings[0].exchange.operation == "GET /me/avatars"


@pytest.fixture
def configuration(mock, wire):
    run = start(Deployment(TARGET, wire, in_process.time_of(mock)), RunOptions(()))
    return _Generation(run, None, 1)._configuration()


def test_no_operation_is_left_out_on_a_slow_machine(configuration):
    # Hypothesis would give the operation up after some seconds of drawing
    assert HealthCheck.too_slow in configuration.suppress_health_check


def test_the_first_request_that_shows_a_fault_is_not_made_smaller_by_further_ones(configuration):
    assert configuration.projects.default.generation.no_shrink


def test_the_cases_of_the_owner_are_sent_as_anonymous_too_until_the_budget_is_spent(outcome):
    owners, anonymous = (
        [exchange.request for exchange in outcome.exchanges if exchange.source == source]
        for source in (AS_OWNER, AS_ANONYMOUS)
    )
    with_token = [each for each in owners if each.token == OWNERS_TOKEN]
    assert anonymous
    assert anonymous == [without_token(each) for each in with_token[: len(anonymous)]]


def without_token(request):
    headers = tuple(each for each in request.headers if each[0] != "authorization")
    return replace(request, headers=headers)


TWO_WAYS = """
openapi: 3.0.3
info: {title: Versions, version: '1'}
security: [{key: []}, {token: []}]
paths:
  /version:
    get: {responses: {'200': {description: ok}, '401': {description: no}}}
components:
  securitySchemes:
    key: {type: apiKey, in: query, name: apiKey}
    token: {type: http, scheme: bearer}
"""


def test_a_wrong_credential_beside_a_right_one_is_no_finding(tmp_path):
    path = tmp_path / "versions.yaml"
    path.write_text(TWO_WAYS)
    deployment = open_deployment(DeploymentOptions(document=path), {})
    assert (
        judge(deployment, RunOptions(("generated",), phases=[("cases", generated(2))])).findings
        == ()
    )


ADDRESSES = """
openapi: 3.0.3
info: {title: Streams, version: '1'}
paths:
  /streams:
    get: {operationId: list, responses: {'200': {description: ok, content: {application/json: {schema: {type: array}}}}}}
  /streams/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {'200': {description: ok}}
"""


def test_an_address_in_a_response_that_is_no_url_ends_nothing(tmp_path):
    path = tmp_path / "streams.yaml"
    path.write_text(ADDRESSES)
    deployment = open_deployment(DeploymentOptions(document=path), {})
    wire = httpx.MockTransport(lambda _: httpx.Response(200, json=["http://[/streams/1"]))
    options = RunOptions(("generated",), phases=[("cases", generated(2))])
    run = start(replace(deployment, transport=wire), options)
    run_phases(run)
    assert len(run.exchanges) > 4
    assert run.evaluator.internal_errors == []


REASON = "no such schema"


def generate_by(stream, monkeypatch, wire, **allowed):
    """Generates cases, with this stream in the place of Schemathesis's."""
    monkeypatch.setattr(
        generated_cases, "from_schema", lambda _: SimpleNamespace(execute=lambda: stream)
    )
    deployment = Deployment(TARGET, wire, machine_clock(), Allowance(**allowed))
    generated(1)(start(deployment, RunOptions()))


def test_a_run_whose_time_is_over_does_not_wait_for_a_case_that_is_being_made(monkeypatch, wire):
    stopped = threading.Event()

    def making_one():
        yield events.EngineStarted()
        stopped.wait()

    stream = EventStream(making_one(), stopped)
    with pytest.raises(OutOfTime, match="--max-time"):
        generate_by(stream, monkeypatch, wire, is_over=lambda: True)
    assert stopped.is_set()


def test_an_error_of_the_generator_ends_the_phase(monkeypatch, wire):
    def broken():
        yield events.EngineStarted()
        raise LookupError(REASON)

    with pytest.raises(LookupError, match=REASON):
        generate_by(EventStream(broken(), threading.Event()), monkeypatch, wire)

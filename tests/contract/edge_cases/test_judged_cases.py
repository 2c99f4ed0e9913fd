"""How fired cases are judged: by their own answers, as the error rules and the pages want them."""

import re

import httpx

from understudy.app import Mock
from understudy.cli import in_process
from understudy.contract.edge_cases.case import Case
from understudy.contract.edge_cases.firing import Firing, subjects_of
from understudy.contract.edge_cases.library import edge_cases
from understudy.contract.runs import Plan
from understudy.contract.runs import start as start_run
from understudy.engine.clock import machine_time


class Forgetful(httpx.BaseTransport):
    """Answers as the mock does, but leaves the hash out of every profile."""

    def __init__(self, inner: httpx.BaseTransport) -> None:
        self._inner = inner

    def close(self) -> None:
        self._inner.close()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._inner.handle_request(request)
        if b'"hash":' not in answer.content:
            return answer
        body = {name: value for name, value in answer.json().items() if name != "hash"}
        return httpx.Response(answer.status_code, json=body)


def fired_at(wire: httpx.BaseTransport, mock: Mock, made: list[Case]) -> list[str]:
    plan = Plan(in_process.TARGET, wire, in_process.time_of(mock), machine_time)
    firing = Firing(start_run(plan), subjects_of(in_process.TARGET))
    firing.prepare()
    outcomes = [case.outcome for case in firing.fire(made)]
    wire.close()
    return outcomes


def test_a_fault_of_every_answer_fails_every_case_and_not_the_first_alone():
    mock = in_process.mock()
    wire = Forgetful(in_process.InProcess(mock))
    outcomes = fired_at(wire, mock, list(edge_cases("getOwnProfile", kind="valid", count=12)))
    assert len(outcomes) == 12
    assert all(said.startswith("failed: ") for said in outcomes), outcomes
    assert all('"hash" is a required property' in said for said in outcomes), outcomes


def test_what_came_for_another_host_is_no_evidence_against_the_next_answer():
    mock = in_process.mock()
    plain, *others = edge_cases("getOwnProfile", count=200)
    elsewhere = next(
        case for case in others if "as if a proxy had another name" in case.description
    )
    unknown = next(
        case for case in others if "an unknown parameter that is empty" in case.description
    )
    outcomes = fired_at(in_process.InProcess(mock), mock, [elsewhere, unknown, plain])
    assert outcomes == ["passed: 200"] * 3


class Wordless(httpx.BaseTransport):
    """Redirects as the mock does, but never says why."""

    def __init__(self, inner: httpx.BaseTransport) -> None:
        self._inner = inner

    def close(self) -> None:
        self._inner.close()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._inner.handle_request(request)
        if "location" in answer.headers:
            told = re.sub("error_description=[^&]*&?", "", answer.headers["location"])
            answer.headers["location"] = told
        return answer


def test_what_a_refusal_must_say_is_judged_too():
    mock = in_process.mock()
    made = edge_cases("authorize", kind="invalid", count=60)
    refused = [case for case in made if case.expected.location == "with error"]
    outcomes = fired_at(Wordless(in_process.InProcess(mock)), mock, refused)
    failed = [outcome for outcome in outcomes if "rule authorize-error-redirect" in outcome]
    assert len(failed) > len(outcomes) / 2, outcomes


def test_a_person_denies_access_in_some_cases():
    mock = in_process.mock()
    made = [case for case in edge_cases("authorize", count=150) if case.category == "consent"]
    assert len(made) == 4
    assert fired_at(in_process.InProcess(mock), mock, made) == ["passed: 302"] * 4


def test_each_member_of_an_update_is_sent_alone():
    told = {case.description: case for case in edge_cases("updateAvatar", count=200)}
    assert told["body: alt_text alone, empty"].request.body == b'{"alt_text": ""}'
    assert told["body: rating alone"].kind == "valid"

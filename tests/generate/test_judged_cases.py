"""How fired cases are judged: by their own answers, as the error rules and the pages want them."""

import re
from collections.abc import Callable

import httpx

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.cases.model import Case
from understudy.cases.selection import edge_cases
from understudy.verify.case_sender import CaseSender
from understudy.verify.deployment import Deployment
from understudy.verify.run import RunOptions
from understudy.verify.run import start as start_run
from understudy.verify.target import data_for_target

Change = Callable[[httpx.Response], httpx.Response]


class Changed(httpx.BaseTransport):
    """Answers as a deployment does, but for one thing."""

    def __init__(self, inner: httpx.BaseTransport, change: Change) -> None:
        self._inner = inner
        self._change = change

    def close(self) -> None:
        self._inner.close()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._change(self._inner.handle_request(request))


def forgetful(answer: httpx.Response) -> httpx.Response:
    """Leaves the hash out of every profile."""
    if b'"hash":' not in answer.content:
        return answer
    body = {name: value for name, value in answer.json().items() if name != "hash"}
    return httpx.Response(answer.status_code, json=body)


def wordless(answer: httpx.Response) -> httpx.Response:
    """Redirects, and never says why."""
    if "location" in answer.headers:
        told = re.sub("error_description=[^&]*&?", "", answer.headers["location"])
        answer.headers["location"] = told
    return answer


def fired(made: list[Case], change: Change = lambda answer: answer) -> list[str]:
    """Returns what becomes of cases at the mock, or at one that answers otherwise."""
    mock = in_process.mock()
    wire = Changed(in_process.InProcess(mock), change)
    deployment = Deployment(TARGET, wire, in_process.time_of(mock))
    sender = CaseSender(start_run(deployment, RunOptions()), data_for_target(TARGET))
    sender.prepare()
    outcomes = [case.outcome for case in sender.send(made)]
    wire.close()
    return outcomes


def test_a_fault_of_every_answer_fails_every_case_and_not_the_first_alone():
    outcomes = fired(list(edge_cases("getOwnProfile", kind="valid", count=12)), forgetful)
    assert len(outcomes) == 12
    assert all(said.startswith("failed: ") for said in outcomes), outcomes
    assert all('"hash" is a required property' in said for said in outcomes), outcomes


def test_what_came_for_another_host_is_no_evidence_against_the_next_answer():
    plain, *others = edge_cases("getOwnProfile", count=200)
    elsewhere = next(
        case for case in others if "as if a proxy had another name" in case.description
    )
    unknown = next(
        case for case in others if "an unknown parameter that is empty" in case.description
    )
    assert fired([elsewhere, unknown, plain]) == ["passed: 200"] * 3


def test_what_a_refusal_must_say_is_judged_too():
    made = edge_cases("authorize", kind="invalid", count=60)
    refused = [case for case in made if case.expected.location == "with error"]
    outcomes = fired(refused, wordless)
    failed = [outcome for outcome in outcomes if "rule authorize-error-redirect" in outcome]
    assert len(failed) > len(outcomes) / 2, outcomes


def test_a_person_denies_access_in_some_cases():
    made = [case for case in edge_cases("authorize", count=150) if case.category == "consent"]
    assert len(made) == 4
    assert fired(made) == ["passed: 302"] * 4


def test_each_member_of_an_update_is_sent_alone():
    told = {case.description: case for case in edge_cases("updateAvatar", count=200)}
    assert told["body: alt_text alone, empty"].request.body == b'{"alt_text": ""}'
    assert told["body: rating alone"].kind == "valid"

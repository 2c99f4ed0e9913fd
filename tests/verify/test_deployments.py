"""Deployments that are down, slow, or answer nonsense: a clear report, and never a traceback."""

import httpx
import pytest
from msgspec.structs import replace

from understudy.api.bundled_target import TARGET
from understudy.api.in_process import InProcess, mock
from understudy.errors import StartupError
from understudy.verify.clock import Time, machine_time
from understudy.verify.deployment import Deployment
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.target import Permit

HERE = replace(TARGET, is_mock=False, permit=Permit(uploads=True, tokens=True))


class Answering(httpx.BaseTransport):
    """A deployment that answers everything alike."""

    def __init__(self, answer):
        self._answer = answer

    def handle_request(self, request):
        return self._answer(request)


def judged(answer):
    time = Time(machine_time, lambda _span: None)
    return carry_out(Deployment(HERE, Answering(answer), time), RunOptions())


def refusing(request):
    msg = "nobody listens"
    raise httpx.ConnectError(msg, request=request)


def waiting(request):
    msg = "it took too long"
    raise httpx.ReadTimeout(msg, request=request)


@pytest.mark.parametrize("answer", [refusing, waiting])
def test_where_nobody_answers_the_run_does_not_begin(answer):
    with pytest.raises(StartupError, match=r"cannot be reached|gave no response"):
        judged(answer)


NONSENSE = {
    "a page": lambda _: httpx.Response(200, html="<h1>Welcome</h1>"),
    "a list": lambda _: httpx.Response(200, json=[]),
    "other types": lambda _: httpx.Response(
        200, json={"paths": 7, "access_token": 7, "image_id": {}, "verified_accounts": [7]}
    ),
    "a text": lambda _: httpx.Response(200, json="profile"),
    "failures": lambda _: httpx.Response(500, text="oops"),
    "nothing": lambda _: httpx.Response(204),
    "redirects in a circle": lambda r: httpx.Response(302, headers={"location": str(r.url)}),
    "redirects to nowhere": lambda _: httpx.Response(302, headers={"location": "http://[broken"}),
    "bytes": lambda _: httpx.Response(200, content=b"\xff\xfe", headers={"content-type": "json"}),
    "JSON that is not UTF-8": lambda _: httpx.Response(
        200, content=b'{"hash": "\xff\xfe"}', headers={"content-type": "application/json"}
    ),
    "refusals": lambda _: httpx.Response(429, headers={"x-ratelimit-reset": "soon"}),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_found_out(name):
    outcome = judged(NONSENSE[name])
    assert outcome.findings
    assert outcome.internal_errors == ()


def test_a_deployment_that_drops_connections_is_given_up():
    inner = InProcess(mock())
    count = iter(range(1000))

    def answer(request):
        return inner.handle_request(request) if next(count) < 20 else refusing(request)

    outcome = judged(answer)
    inner.close()
    assert "ConnectError" in outcome.stopped
    assert [f.rule.id for f in outcome.findings if f.rule.id == "answers"]
    assert outcome.requests < 60


def test_ctrl_c_ends_with_what_was_done():
    inner = InProcess(mock())
    count = iter(range(1000))

    def answer(request):
        if next(count) == 50:
            raise KeyboardInterrupt
        return inner.handle_request(request)

    outcome = judged(answer)
    inner.close()
    assert outcome.stopped == "stopped by Ctrl-C or SIGTERM"
    assert outcome.not_restored == ()
    assert outcome.count("passed") > 20


def test_anothers_assumptions_are_notes_and_no_findings():
    inner = InProcess(mock())

    def answer(request):
        response = inner.handle_request(request)
        if request.method == "DELETE" and response.status_code == 204:
            return httpx.Response(200)
        return response

    outcome = judged(answer)
    inner.close()
    assert [finding.summary for finding in outcome.findings] == []
    assert {note.rule.id for note in outcome.notes} == {"avatar-delete-status"}

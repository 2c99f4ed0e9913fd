"""The printed lines of a finding show it again, at a service that gives other identifiers."""

import re

import httpx
import orjson
import pytest
from tests.collections.judging.mutants import IgnoresPatch, KeepsNothingOfAPut
from tests.collections.judging.service import HARBOURS, NOTES, OWNER, Service
from tests.collections.judging.verifying import target, verified
from tests.proofs.mutants.reproduction import recording, run

from understudy.verify.case_sender import catalogue_cases
from understudy.verify.gateway import Gateway
from understudy.verify.history import AGAIN
from understudy.verify.permits import Unreachable
from understudy.verify.reproducing import commands, snippet

SECRETS = target().secrets()


@pytest.fixture(scope="module")
def recorder():
    with recording() as running:
        yield running


def finding_of(kind, document, rule):
    (finding,) = verified(kind(), document, rules=(rule,)).findings
    return finding


def shown_by(exchanges):
    """Returns what exchanges show, but for identifiers."""
    return [
        (it.request.method, it.response.status, orjson.loads(without_identifiers(it)))
        for it in exchanges
    ]


def without_identifiers(exchange):
    return re.sub(rb'"id":"?b?[0-9]+"?', b'"id":0', exchange.response.body)


def fresh(kind, recorder):
    """Puts a service behind the recorder that has given other identifiers before."""
    service = kind()
    service.last = 70
    recorder.wire = httpx.MockTransport(service.respond)
    recorder.recorded.clear()
    return service


@pytest.mark.parametrize(
    ("kind", "document", "rule"),
    [
        (IgnoresPatch, NOTES, "inferred-update-merged"),
        (KeepsNothingOfAPut, HARBOURS, "inferred-replace-kept"),
    ],
)
def test_the_shell_script_of_a_finding_shows_it_again(kind, document, rule, recorder, tmp_path):
    finding = finding_of(kind, document, rule)
    fresh(kind, recorder)
    run(commands(finding, SECRETS), SECRETS, recorder.address, tmp_path)
    assert shown_by(recorder.recorded) == shown_by(finding.steps)


def test_so_does_the_python_program(recorder, monkeypatch):
    finding = finding_of(KeepsNothingOfAPut, HARBOURS, "inferred-replace-kept")
    fresh(KeepsNothingOfAPut, recorder)
    for name, text in (*((it, secret) for secret, it in SECRETS.items()), ("no_proxy", "")):
        monkeypatch.setenv(name, text)
    monkeypatch.setenv("http_proxy", recorder.address)
    exec(snippet(finding, SECRETS), {})
    assert shown_by(recorder.recorded) == shown_by(finding.steps)


class FailsAtChanges(Service):
    """Fails at each PATCH, and whenever a text is longer than a hundred characters."""

    def respond(self, request: httpx.Request) -> httpx.Response:
        is_long = len(request.content) + len(request.url.query) > 300
        is_failing = request.method == "PATCH" or is_long
        return httpx.Response(500) if is_failing else super().respond(request)


def cases_judged(service, requests=None):
    phases = (("cases", catalogue_cases(12)),)
    return verified(service, rules=("answers",), phases=phases, requests=requests).findings


def test_a_failure_at_an_item_of_the_run_begins_with_its_creation():
    (finding,) = [it for it in cases_judged(FailsAtChanges()) if "PATCH" in it.exchange.operation]
    assert [it.request.method for it in finding.steps] == ["POST", "PATCH"]
    assert finding.again == "failed again"


def test_the_requests_of_a_run_are_not_used_up_before_its_findings_are_shown_again():
    findings = cases_judged(FailsAtChanges(), requests=60)
    assert [it.again for it in findings] == ["failed again"] * len(findings) != []


def test_a_creation_whose_response_is_lost_is_not_sent_a_second_time(monkeypatch):
    send, lost = Gateway.send, []

    def losing(gateway, request, source, **more):
        exchange = send(gateway, request, source, **more)
        if source == AGAIN and request.method == "POST" and exchange.response.is_success:
            lost.append(request)
            msg = "the connection was closed"
            raise Unreachable(msg, exchange)
        return exchange

    monkeypatch.setattr(Gateway, "send", losing)
    service = FailsAtChanges()
    assert [it.again for it in cases_judged(service) if "PATCH" in it.exchange.operation] == [""]
    assert len(lost) == 1
    assert all(not items for items in service.collections.values())


class SpoilsWhatIsChanged(Service):
    """Reads a number as the title of each item that was changed before."""

    def respond(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if request.content and not isinstance(orjson.loads(request.content), dict):
            return httpx.Response(400)
        if request.method == "PATCH":
            self.singles[OWNER, path] = {}
        is_spoiled = request.method == "GET" and (OWNER, path) in self.singles
        return httpx.Response(200, json={"title": 7}) if is_spoiled else super().respond(request)


def test_a_response_that_rests_on_a_write_of_the_same_item_is_shown_again_with_it():
    phases = (("cases", catalogue_cases(20)),)
    findings = verified(SpoilsWhatIsChanged(), rules=("document",), phases=phases).findings
    (finding,) = [it for it in findings if it.exchange.operation == "GET /me/notes/{}"]
    first, *_, change, last = [it.request.method for it in finding.steps]
    assert (first, change, last) == ("POST", "PATCH", "GET")
    assert finding.again == "failed again with the requests before it"

"""The printed lines of a finding show it again, at a service that gives other identifiers."""

import re

import httpx
import orjson
import pytest
from tests.collections.judging.mutants import IgnoresPatch, KeepsNothingOfAPut
from tests.collections.judging.service import HARBOURS, NOTES
from tests.collections.judging.verifying import target, verified
from tests.proofs.mutants.reproduction import recording, run

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

"""The catalogue's cases at another service: what they send, in which order, and what is shown of them."""

from dataclasses import replace

import httpx
from tests.collections.judging.service import NOTES, Service
from tests.collections.judging.verifying import read, target, verified
from tests.verify.exchanges import exchange_of

from understudy.collections.known_items import shown
from understudy.verify.case_sender import SOURCE, catalogue_cases
from understudy.verify.checks import expect
from understudy.verify.run import evaluator_of


class Recorder(Service):
    """Keeps the headers of each request, and forbids to change a note."""

    def __init__(self) -> None:
        super().__init__()
        self.headers: list[httpx.Headers] = []

    def respond(self, request: httpx.Request) -> httpx.Response:
        self.headers.append(request.headers)
        return httpx.Response(403) if request.method == "PATCH" else super().respond(request)


def cases_sent(service):
    phases = (("cases", catalogue_cases(8)),)
    outcome = verified(service, rules=("answers",), phases=phases)
    return [it for it in outcome.exchanges if it.source == SOURCE]


def test_every_case_has_the_headers_of_the_command_that_repeats_it():
    cases_sent(service := Recorder())
    assert {it.get("accept") for it in service.headers} == {"*/*"}
    assert all(it.get("user-agent") for it in service.headers)


def test_the_cases_of_an_operation_that_refuses_the_credential_come_last():
    methods = [it.request.method for it in cases_sent(Recorder())]
    first, *others = [place for place, method in enumerate(methods) if method == "PATCH"]
    assert methods[others[0] : others[-1] + 1] == ["PATCH"] * len(others)
    assert first < others[0] - 1


def test_a_finding_shows_a_short_request_where_a_long_one_came_first():
    evaluator = evaluator_of(target(), read(NOTES), ())
    result = expect(condition=False, expected="no failure", actual="status 500")
    long = exchange_of(f"/me/notes?q={'a' * 400}", number=1, operation="GET /me/notes")
    short = replace(
        exchange_of("/me/notes?q=a", number=2, operation="GET /me/notes"), identity=long.identity
    )
    for exchange in (long, short, long):
        evaluator.judge("answers", result, exchange)
    (finding,) = evaluator.findings
    assert (finding.exchange, finding.count) == (short, 3)


def test_a_long_text_is_shown_with_its_end_where_it_was_cut():
    whole, cut = "a" * 300, "a" * 255
    assert shown({"title": whole}, ["title"]).endswith('aaaa" (302 characters)')
    assert shown({"title": cut}, ["title"]).endswith('aaaa" (257 characters)')
    assert shown({"title": "Milk"}, ["title", "text"]) == 'title "Milk", no text'

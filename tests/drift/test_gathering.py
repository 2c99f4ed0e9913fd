"""Of two responses a report shows what differs, so that nobody compares whole profiles by eye."""

from dataclasses import replace

import httpx
import orjson
from tests.drift.compared import personal_values
from tests.proofs.drifting import deployment, drift
from tests.verify.exchanges import exchange_of

from understudy.drift.documents.sources import DocumentsOfRun
from understudy.drift.gathering import report_of_run, shown_response
from understudy.exchange.messages import Response
from understudy.verify.catalogue import catalogue
from understudy.verify.reports import BEARER, BEARER_REFUSED, severity_of


def responding(body):
    """Returns an exchange whose response has a JSON body."""
    headers = (("content-type", "application/json"), ("date", "today"))
    return exchange_of("/me/profile", response=Response(200, headers, orjson.dumps(body)))


def shown(body, other):
    """Returns the lines of a body that are shown beside another one."""
    lines = shown_response(responding(body), {}, responding(other)).splitlines()
    assert lines[:3] == ["HTTP 200", "content-type: application/json", ""]
    return lines[3:]


def test_of_two_objects_the_members_that_differ_are_shown():
    ours = {"hash": "a", "location": "Port", "company": ""}
    theirs = {"hash": "a", "location": "Port Lindry", "company": "", "pronouns": "she"}
    assert shown(ours, theirs) == [
        '{"location":"Port"}',
        "(2 more members are the same at both)",
    ]
    assert shown(theirs, ours) == [
        '{"location":"Port Lindry","pronouns":"she"}',
        "(2 more members are the same at both)",
    ]


def test_a_member_that_only_the_other_has_leaves_nothing_to_show_here():
    assert shown({"hash": "a"}, {"hash": "a", "pronouns": "she"}) == [
        "{}",
        "(1 more member is the same at both)",
    ]


def test_bodies_that_are_alike_or_no_objects_are_shown_whole():
    assert shown({"hash": "a"}, {"hash": "a"}) == ['{"hash":"a"}']
    assert shown([{"hash": "a"}], [{"hash": "b"}]) == ['[{"hash":"a"}]']


def test_headers_that_both_have_alike_are_left_out():
    ours, theirs = responding([]), responding([])
    headers = (*ours.response.headers, ("vary", "Origin"))
    pair = [(("x-a", "1"), ("x-b", "2")), (("x-a", "1"), ("x-b", "3"))]
    ours, theirs = (
        replace(it, response=Response(200, (*headers, *own), b"[]"))
        for it, own in zip((ours, theirs), pair, strict=True)
    )
    text = shown_response(ours, {}, theirs)
    assert text.splitlines()[:3] == ["HTTP 200", "content-type: application/json", "x-b: 2"]


def test_secrets_are_masked_in_what_differs():
    text = shown_response(responding({"token": "s3cret"}), {"s3cret": "TOKEN"}, responding({}))
    assert "s3cret" not in text
    assert "TOKEN" in text


def without_lower_case(request, send):
    """Refuses the scheme in lower case."""
    is_lower = request.headers.get("authorization", "").startswith("bearer ")
    return httpx.Response(401, request=request) if is_lower else send(request)


def test_a_refused_scheme_has_the_words_and_the_severity_that_verify_gives_it():
    result = drift(deployment(without_lower_case), BEARER)
    documents = DocumentsOfRun((), ())
    names = ("https://staging.example/v3", "the mock")
    report = report_of_run(result, documents, names, {}, personal_values())
    found = [(it.words, it.severity) for it in report.causes if it.rule == BEARER]
    assert found == [(BEARER_REFUSED, severity_of(catalogue()[BEARER]))]

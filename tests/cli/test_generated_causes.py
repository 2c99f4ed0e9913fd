"""Failures of ``generate --send`` are told by their causes, with the smallest request of each."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from xml.etree import ElementTree

from understudy.cases.selection import edge_cases
from understudy.cli.generate import Tally, report_of
from understudy.reports.html import html
from understudy.reports.junit import junit

URLS = {"resource": "http://staging.example/v3", "authorization": "http://staging.example"}
STARTED = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_failures_of_one_cause_are_one_line_and_a_crash_has_one_cause_whatever_the_place():
    cases = list(islice(edge_cases("getQrCode", kind="valid"), 6))
    crashes = [replace(it, outcome="failed: answered 500, expected 2XX") for it in cases[:4]]
    refused = [replace(it, outcome="failed: answered 400, expected 2XX") for it in cases[4:]]
    tally = Tally()
    assert len(list(tally.through([*crashes, *refused], only_failing=False))) == 6
    assert tally.causes["getQrCode answered 500"][0] == 4
    assert sum(number for number, _ in tally.causes.values()) == 6
    smallest = tally.causes["getQrCode answered 500"][1]
    assert len(smallest.request.target) == min(len(it.request.target) for it in crashes)


def test_a_broken_rule_heads_its_failures_in_a_sentence():
    (case,) = islice(edge_cases("getQrCode", kind="valid"), 1)
    why = "failed: rule qr-default-size: expected [80, 80], actual [120, 120]"
    tally = Tally()
    other = why.replace("120", "121")
    list(tally.through([replace(case, outcome=it) for it in (why, other)], only_failing=False))
    (cause,) = report_of(tally, URLS, STARTED).sections[0].causes
    assert cause.heading.startswith("A QR code is 80 pixels wide and high")
    assert cause.name == "qr-default-size (getQrCode)"


def test_the_report_shows_the_smallest_request_of_each_cause_and_no_secret():
    cases = list(islice(edge_cases("getOwnProfile", kind="valid"), 4))
    failed = [replace(it, outcome="failed: answered 500, expected 2XX") for it in cases]
    tally = Tally()
    list(tally.through(failed, only_failing=False))
    report = report_of(tally, URLS, STARTED)
    assert report.verdict == "4 cases failed, for 1 cause. 0 passed, 0 not sent or judged."
    assert dict(report.sections[0].causes[0].entries[0].facts)["actual"] == "answered 500"
    page = html(report)
    assert "http://staging.example/v3/me/profile" in page
    assert "Authorization: Bearer $TOKEN" in page.replace("authorization", "Authorization")
    assert "2026-03-01 12:00:00 UTC" in page
    assert "~~" not in page


def test_junit_has_each_case_under_its_title_and_a_failed_one_with_its_request():
    cases = list(islice(edge_cases("getQrCode", kind="invalid"), 3))
    outcomes = ("passed: 400", "failed: answered 500, expected 4XX", "not sent: no credential")
    tally = Tally()
    ended = [replace(it, outcome=text) for it, text in zip(cases, outcomes, strict=True)]
    list(tally.through(ended, only_failing=False))
    suite = ElementTree.fromstring(junit(report_of(tally, URLS, STARTED)))[0]
    assert [case.get("name") for case in suite.findall("testcase")] == [it.title for it in cases]
    assert [suite.get(name) for name in ("tests", "failures", "skipped")] == ["3", "1", "1"]
    failure = suite.findtext("testcase/failure") or ""
    assert "curl -i" in failure
    assert cases[1].request.target in failure


def test_reasons_beyond_the_most_frequent_are_counted_too():
    cases = list(islice(edge_cases("getOwnProfile", kind="valid"), 7))
    skipped = [replace(it, outcome=f"not sent: reason {n}") for n, it in enumerate(cases)]
    tally = Tally()
    list(tally.through(skipped, only_failing=False))
    last = report_of(tally, URLS, STARTED).remarks[-1]
    assert last.startswith("2 not sent or judged: other reasons")

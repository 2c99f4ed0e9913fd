"""Reports: each format says the same, none shows a secret, and what they offer reproduces."""

import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema_rs
import orjson
import pytest
import xmlschema
from rich.console import Console
from tests.needs import package
from tests.proofs.mutants import generous, own_profile
from tests.proofs.mutants.edge import MUTANTS, Edge
from tests.test_terminal import HOSTILE, steers
from tests.verify.conftest import PATIENT, Wire
from tests.verify.packages import har_faults

import understudy
from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.exchange.masking import shown
from understudy.exchange.messages import Response
from understudy.reports.console import Terminal
from understudy.reports.formats import FORMATS
from understudy.reports.terminal import print_report
from understudy.verify.checks import expect
from understudy.verify.deployment import Deployment
from understudy.verify.findings import DOCUMENT, Outcome
from understudy.verify.recorded_traffic import read_recording
from understudy.verify.reports import by_cause, report_of, severity_of
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.shapes import bundled

REGISTERED = (generous, own_profile)
SECRETS = TARGET.secrets()
RULES = ("qr-default-size", "code-single-use", "avatar-delete-status", "profile-patch-partial")
SCHEMAS = Path(__file__).with_name("schemas")
SCHEMA = files("understudy.verify").joinpath("report.schema.json").read_bytes()


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    """A run on a deployment that is broken in two ways."""
    mock = in_process.mock()
    inner = in_process.InProcess(mock)
    wire: Any = inner
    broken = {"a_code_works_twice", "an_update_clears_what_it_was_not_given"}
    for mutant in MUTANTS:
        if mutant.name in broken:
            wire = Edge(wire, mutant.make())
    time = in_process.time_of(mock)
    deployment = Deployment(TARGET, Wire(wire), time, PATIENT)
    try:
        return carry_out(deployment, RunOptions(RULES))
    finally:
        inner.close()


@pytest.fixture(scope="module", params=FORMATS)
def report(request, outcome) -> tuple[str, str]:
    return request.param, FORMATS[request.param](report_of(outcome, SECRETS))


def test_no_report_shows_a_secret(report):
    _, text = report
    assert [
        secret for secret in SECRETS if secret in text and not secret.startswith("underst")
    ] == []


def test_every_report_names_what_is_broken(report):
    name, text = report
    assert name == "har" or ("code-single-use" in text and "profile-patch-partial" in text)


def test_the_json_report_keeps_to_its_schema(outcome):
    said = orjson.loads(FORMATS["json"](report_of(outcome, SECRETS)))
    jsonschema_rs.validate(orjson.loads(SCHEMA), said)
    ended = {rule["id"]: rule["status"] for rule in said["rules"]}
    assert ended == {
        "qr-default-size": "passed",
        "code-single-use": "failed",
        "avatar-delete-status": "passed",
        "profile-patch-partial": "failed",
    }


def test_the_junit_report_keeps_to_what_its_readers_take(outcome):
    xmlschema.XMLSchema(SCHEMAS / "junit.xsd").validate(
        FORMATS["junit"](report_of(outcome, SECRETS))
    )


def test_sarif_keeps_to_its_schema(outcome):
    path = package("@microsoft/jest-sarif") / "lib" / "schemas" / "sarif-2.1.0-rtm.5.json"
    schema = orjson.loads(path.read_bytes())
    for name in ("run", "toolComponent"):
        del schema["definitions"][name]["properties"]["language"]["pattern"]  # it is not a regex
    log = orjson.loads(FORMATS["sarif"](report_of(outcome, SECRETS)))
    jsonschema_rs.validator_for(schema, validate_formats=True).validate(log)


def test_the_code_quality_report_has_gitlab_s_shape_and_shows_every_finding(outcome):
    twice = replace(outcome, findings=outcome.findings * 2)
    said = orjson.loads(FORMATS["gitlab"](report_of(twice, SECRETS)))
    schema = SCHEMAS / "gitlab-code-quality.schema.json"
    jsonschema_rs.validate(orjson.loads(schema.read_bytes()), said)
    assert len({entry["fingerprint"] for entry in said}) == len(said) == 2 * len(outcome.findings)


def test_all_traffic_is_har(outcome):
    assert har_faults(FORMATS["har"](report_of(outcome, SECRETS))) == ""


def test_junit_has_a_test_case_a_rule(outcome):
    suite = ET.fromstring(FORMATS["junit"](report_of(outcome, SECRETS)))[0]
    cases = suite.findall("testcase")
    failed = {case.get("name") for case in cases if case.find("failure") is not None}
    assert {case.get("name") for case in cases} == set(RULES)
    assert failed == {"code-single-use", "profile-patch-partial"}


def test_the_page_needs_nothing_else(outcome):
    class Page(HTMLParser):
        """Collects what a page loads."""

        loads: list[str] = []  # noqa: RUF012 - of one test

        def handle_starttag(self, tag, attrs):
            loading = {"src", "href", "action"}
            self.loads += [f"{tag} {n}" for n, v in attrs if n in loading and v[:1] != "#"]

    page = Page()
    page.feed(FORMATS["html"](report_of(outcome, SECRETS)))
    assert page.loads == []
    assert "<th scope=row>" in FORMATS["html"](report_of(outcome, SECRETS))


def on_terminal(outcome: Outcome) -> str:
    console = Console(file=StringIO(), width=60, record=True)
    print_report(console, report_of(outcome, SECRETS))
    return console.export_text()


def test_a_rule_is_shown_once_however_often_it_is_broken(outcome):
    twice = replace(outcome, findings=outcome.findings * 2, notes=outcome.findings * 2)
    page = FORMATS["html"](report_of(twice, SECRETS))
    assert page.count("<p class=id>code-single-use") == 2  # as a finding, and as a note
    assert (
        len(re.findall(r"^  moderate; rule code-single-use: A code ", on_terminal(twice), re.M))
        == 1
    )
    assert on_terminal(twice).count("note: code-single-use") == 1
    assert "(and 1 more)" in on_terminal(twice)


def test_the_terminal_says_what_was_expected_what_came_and_how_to_see_it(outcome):
    said = on_terminal(outcome)
    assert "    expected  invalid_grant the second time\n    actual    status 200" in said
    (line,) = [
        line for line in said.splitlines() if "grant_type=" in line and "CODE_" not in line[:9]
    ][-1:]
    assert line.startswith("    curl -i -X POST")  # in one line, so that it can be copied
    assert "export APP_CLIENT_SECRET=… OWNER_TOKEN=…" in said
    assert "2 rules passed, 2 failed" in said.splitlines()[-1]


def test_what_a_deployment_answers_is_no_markup(outcome):
    finding = replace(outcome.findings[0], actual="[bold]<script>alert(1)</script>")
    odd = replace(outcome, findings=(finding,))
    assert "actual    [bold]<script>" in on_terminal(odd)
    assert "<script>" not in FORMATS["html"](report_of(odd, SECRETS))


def test_sarif_has_a_result_for_each_finding(outcome):
    log = orjson.loads(FORMATS["sarif"](report_of(outcome, SECRETS)))
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert run["tool"]["driver"]["version"] == understudy.__version__
    assert {result["ruleId"] for result in run["results"]} <= set(rules)
    assert len(run["results"]) == len(outcome.findings)


def test_an_archive_is_read_back_as_it_was(outcome, tmp_path):
    path = tmp_path / "run.har"
    path.write_text(FORMATS["har"](report_of(outcome, SECRETS)))
    found = read_recording(path, TARGET, bundled("service.yaml"))
    seen = [(e.request.method, e.operation, e.status) for e in found]
    assert seen == [(e.request.method, e.operation, e.status) for e in outcome.exchanges]
    known = [
        (e.identity.name, n.identity.name) for e, n in zip(found, outcome.exchanges, strict=True)
    ]
    assert [pair for pair in known if pair[0] != pair[1] and pair[1] != "issued"] == []


def test_the_python_snippet_is_a_program(outcome):
    said = orjson.loads(FORMATS["json"](report_of(outcome, SECRETS)))
    program = said["findings"][0]["reproduce"]["python"]
    run = [sys.executable, "-c", "import ast, sys; ast.parse(sys.stdin.read())"]
    subprocess.run(run, input=program, text=True, check=True)


def test_a_terminal_of_80_columns_breaks_no_words_and_no_commands(outcome):
    rules = tuple(
        replace(rule, status="not_checked", reason="[credentials] other_access_token is not given")
        for rule in outcome.rules[:2]
    )
    file = StringIO()
    console = Console(file=file, width=80, force_terminal=True, color_system=None)
    print_report(console, report_of(replace(outcome, rules=rules), SECRETS))
    lines = file.getvalue().splitlines()
    long = [line for line in lines if len(line) > 80]
    assert [line for line in long if "curl" not in line and "_1=$(" not in line] == []
    assert "    2  [credentials] other_access_token is not given" in lines


def test_what_a_deployment_says_does_not_steer_the_terminal(outcome):
    finding, *_ = outcome.findings
    hostile = replace(finding, actual=HOSTILE, expected=HOSTILE)
    file = StringIO()
    console = Terminal(file=file, width=80, force_terminal=True, color_system=None)
    said = replace(outcome, findings=(hostile,), notes=(hostile,), not_restored=(HOSTILE,))
    print_report(console, report_of(said, SECRETS), is_verbose=True)
    assert "\\u001b[2J" in file.getvalue()
    assert not steers(file.getvalue())


def test_rules_that_the_same_response_breaks_are_consequences_of_the_first(outcome):
    general = replace(outcome.findings[0], rule=DOCUMENT)
    causes = by_cause((general, *outcome.findings))
    assert {cause.findings[0].rule.id for cause in causes} == {
        finding.rule.id for finding in outcome.findings
    }
    (behind,) = (cause.consequences for cause in causes if cause.consequences)
    assert [finding.rule.id for finding in behind] == ["document"]
    said = on_terminal(replace(outcome, findings=(general, *outcome.findings)))
    assert "1 rule follows: document" in said


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "null"), (["a"], '["a"]'), ({"b"}, '["b"]'), (True, "true"), ("as it is", "as it is")],
)
def test_values_are_shown_as_json_and_texts_as_they_are(value, text):
    assert expect(condition=False, expected="", actual=value).actual == text


def test_a_large_body_is_cut_and_its_whole_is_named(outcome):
    exchange = outcome.exchanges[0]
    large = replace(exchange, response=Response(200, (), b"x" * 5000))
    text = shown(large, SECRETS)
    assert "5000 bytes in all; --report har=FILE keeps exchange 1 whole" in text
    assert len(text) < 4000


def test_the_gravest_cause_comes_first(outcome):
    severities = [severity_of(it.findings[0].rule) for it in by_cause(outcome.findings)]
    assert severities == sorted(severities, key=["critical", "major", "moderate", "minor"].index)
    assert len(set(severities)) > 1
    assert [it.severity for it in report_of(outcome, {}).sections[0].causes] == severities

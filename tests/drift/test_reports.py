"""Every report says what differs, on both sides, and keeps to the schema of its format."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from io import StringIO
from pathlib import Path

import jsonschema_rs
import orjson
import pytest
from msgspec import structs
from rich.console import Console
from tests.drift.compared import CHANGED, RULES, compared_report
from tests.needs import package
from tests.proofs.drifting import ELSEWHERE
from tests.test_terminal import HOSTILE, steers

from understudy.cli.schema import output_schemas
from understudy.drift.drift_report import DriftReport, report_of
from understudy.drift.sightings import (
    Sightings,
    keep_sightings,
    read_sightings,
    with_accepted,
    with_sightings,
    write_baseline,
)
from understudy.errors import StartupError
from understudy.reports.code_hosts import annotations
from understudy.reports.console import Terminal
from understudy.reports.formats import FORMATS
from understudy.reports.html import ENTRIES_LISTED, html
from understudy.reports.terminal import print_report
from understudy.verify.findings import load_baseline

TODAY = date(2026, 11, 22)


@pytest.fixture(scope="module")
def report() -> DriftReport:
    return compared_report()


def printed(report: DriftReport, width: int) -> str:
    console = Console(file=StringIO(), width=width, force_terminal=True, color_system=None)
    print_report(console, report_of(report), is_verbose=False)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_what_deployments_say_does_not_steer_the_terminal(report):
    cause, *_ = report.causes
    said = dict.fromkeys(("deployment", "other", "response", "commands"), HOSTILE)
    cause = structs.replace(cause, differences=[structs.replace(cause.differences[0], **said)])
    for width in (60, 160):
        file = StringIO()
        console = Terminal(file=file, width=width, force_terminal=True, color_system=None)
        print_report(console, report_of(structs.replace(report, causes=[cause])), is_verbose=True)
        assert "\\u001b[2J" in file.getvalue()
        assert not steers(file.getvalue())


def test_of_a_cause_with_many_findings_the_terminal_shows_some_and_counts_the_rest(report):
    cause = report.causes[0]
    many = structs.replace(cause, differences=[cause.differences[0]] * 40)
    text = printed(structs.replace(report, causes=[many]), 100)
    assert "and 34 more of this cause; --verbose lists them" in text
    assert len(text.splitlines()) < 60


@pytest.mark.parametrize(
    ("faults", "notes"),
    [
        (("deployment", "silent"), "1 note among the causes"),
        (("deployment", "deployment"), ""),
        (("silent", "silent"), ""),
    ],
)
def test_the_verdict_counts_the_causes_that_the_table_of_causes_does_not_list(
    report, faults, notes
):
    causes = [structs.replace(report.causes[0], fault=fault) for fault in faults]
    content = report_of(structs.replace(report, causes=causes))
    assert content.verdict.startswith("2 causes of difference")
    assert ("note among" in content.verdict) == bool(notes)
    assert notes in content.verdict
    rows = html(content).partition("<table id=causes>")[2].partition("</table>")[0]
    assert rows.count("<tr><td>") == faults.count("deployment") + len(report.changed_facts)


def test_headings_name_the_parameters_of_a_path(report):
    requests = {each.request for cause in report.causes for each in cause.differences}
    assert "GET /profiles/{profileIdentifier} as anonymous" in requests
    assert [request for request in requests if "{}" in request] == []


def test_json_keeps_to_the_published_schema(report):
    content = orjson.loads(FORMATS["json"](report_of(report)))
    jsonschema_rs.validate(output_schemas()["drift"](), content)
    assert [cause["rule"] for cause in content["causes"]] == list(RULES)
    assert content["documents"][0]["changes"][0]["breaks"] == ["readers"]


def test_sarif_keeps_to_its_schema_and_suppresses_what_is_accepted(report, tmp_path):
    path = package("@microsoft/jest-sarif") / "lib" / "schemas" / "sarif-2.1.0-rtm.5.json"
    schema = orjson.loads(path.read_bytes())
    for name in ("run", "toolComponent"):
        del schema["definitions"][name]["properties"]["language"]["pattern"]  # it is not a regex
    write_baseline(report, tmp_path / "baseline.toml", TODAY)
    accepted = with_accepted(report, load_baseline(tmp_path / "baseline.toml"), TODAY)
    log = orjson.loads(FORMATS["sarif"](report_of(accepted)))
    jsonschema_rs.validator_for(schema, validate_formats=True).validate(log)
    results = log["runs"][0]["results"]
    assert {result["level"] for result in results if "suppressions" in result} == {"error"}
    rules = {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in results} == rules


def test_every_report_for_people_has_both_sides(report):
    pages = [
        FORMATS["html"](report_of(report)),
        FORMATS["markdown"](report_of(report)),
        printed(report, 80),
    ]
    for page in pages:
        assert "/profiles/hush" in page
        assert page.count("curl -i") >= 4
        assert "breaks clients that read" in page
    dated = report_of(report, datetime(2026, 3, 1, 12, tzinfo=UTC))
    assert "Judged by understudy drift, 2026-03-01 12:00:00 UTC" in FORMATS["html"](dated)


def test_every_report_names_a_changed_fact_with_both_readings_and_its_day(report):
    (fact,) = report.changed_facts
    assert (fact.rule, fact.before, fact.now) == (CHANGED, "404", "picture")
    pages = [
        write(report_of(report)) for write in (FORMATS[name] for name in FORMATS if name != "har")
    ]
    for page in (*pages, printed(report, 80), "\n".join(annotations(report_of(report)))):
        text = page.replace("\\", "")
        assert [
            part for part in (CHANGED, "404", "picture", "2026-10-01") if part not in text
        ] == []
    assert report.findings[0] == fact


def test_a_wide_terminal_has_both_sides_in_one_line_and_a_narrow_one_has_not(report):
    wide, narrow = printed(report, 160), printed(report, 100)
    assert "HTTP 404" in next(line for line in wide.splitlines() if "HTTP 403" in line)
    assert "HTTP 404" not in next(line for line in narrow.splitlines() if "HTTP 403" in line)


def test_no_report_has_a_secret(report):
    for write in (FORMATS[name] for name in FORMATS if name != "har"):
        text = write(report_of(report))
        assert [secret for secret in ELSEWHERE.secrets() if secret in text] == []


def test_an_annotation_is_an_error_only_where_a_client_breaks(report):
    levels = [line.split(" ")[0] for line in annotations(report_of(report))]
    assert levels.count("::error") == len(report.findings)
    assert levels.count("::notice") == len(report.notes)


def test_a_change_of_one_schema_is_told_once_with_all_its_places(report):
    assert (
        sum(
            "in 3 more places" in line
            for line in FORMATS["markdown"](report_of(report)).splitlines()
        )
        == 1
    )


def seen_twice(report: DriftReport, path: Path, *moments: datetime) -> Iterator[DriftReport]:
    for moment in moments:
        earlier = read_sightings(path)
        dated = with_sightings(report, earlier, moment)
        keep_sightings(dated, earlier, path, moment)
        yield dated


def test_the_history_tells_when_a_difference_was_first_and_last_seen(report, tmp_path):
    days = [datetime(2026, 11, day, tzinfo=UTC) for day in (20, 21, 22)]
    first, _, third = seen_twice(report, tmp_path / "history.json", *days)
    assert {(it.first_seen[:10], it.last_seen) for it in first.entries} == {("2026-11-20", "")}
    assert {(it.first_seen[:10], it.last_seen[:10]) for it in third.entries} == {
        ("2026-11-20", "2026-11-21")
    }
    assert "[since 2026-11-20]" in FORMATS["markdown"](report_of(third)).replace("\\", "")


def test_a_baseline_accepts_findings_for_thirty_days(report, tmp_path):
    path = tmp_path / "baseline.toml"
    number = write_baseline(report, path, TODAY)
    accepted = load_baseline(path)
    assert number == len(accepted) == len({it.fingerprint for it in report.findings}) > 0
    assert all(TODAY.isoformat() in it.why for it in accepted)
    assert with_accepted(report, accepted, TODAY.replace(month=12)).findings == []
    assert with_accepted(report, accepted, date(2026, 12, 23)).findings == report.findings


@pytest.mark.parametrize("content", [b"[]", b'{"seen": 1}', b"\xff"])
def test_a_file_that_is_no_history_is_refused(tmp_path, content):
    path = tmp_path / "history.json"
    path.write_bytes(content)
    with pytest.raises(StartupError, match=r"is not a history of understudy drift.*--history"):
        read_sightings(path)


def test_an_empty_history_is_one_that_is_not_there(tmp_path):
    assert read_sightings(tmp_path / "none.json") == Sightings()


def test_a_page_lists_some_of_many_differences_and_says_how_many_more(report):
    first = report.causes[0].differences[0]
    many = [structs.replace(first, fingerprint=f"{place:016}") for place in range(100)]
    cause = structs.replace(report.causes[0], differences=many)
    page = html(report_of(structs.replace(report, causes=[cause], changed_facts=[])))
    assert page.count("class=seen") == ENTRIES_LISTED
    assert f"and {100 - ENTRIES_LISTED} more, which the JSON report lists" in page

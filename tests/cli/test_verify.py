"""``understudy verify`` as a command: exit codes, refusals in one line, what it writes."""

import json
import os
import re
from datetime import date, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.cli.conftest import Running

from understudy.cli import main
from understudy.cli.commands import TABLES
from understudy.openapi.bundled import openapi_directory

QUICK = ("verify", "--cases", "0", "--rules", "qr-default-size,profile-unknown-404")


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Calls the command, away from CI's environment."""
    monkeypatch.chdir(tmp_path)
    for name in ("CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str, **options):
        return CliRunner().invoke(main, list(arguments), **options)

    return call


@pytest.mark.parametrize(
    ("own", "used"), [("", "cache/understudy/hypothesis"), ("elsewhere", "elsewhere")]
)
def test_tables_of_characters_are_kept_in_the_cache_unless_the_environment_says_where(
    call, monkeypatch, own, used
):
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv(TABLES, own)
    if not own:
        monkeypatch.delenv(TABLES)
    assert call("verify", "--template").exit_code == 0
    assert os.environ[TABLES] == used


def test_the_mock_is_judged_where_no_target_is_given(call):
    done = call(*QUICK)
    assert done.exit_code == 0, done.output
    assert "2 rules passed, 0 failed, 0 not checked" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rules", "qr-defalt-size"), "did you mean 'qr-default-size'"),
        (("--target", "none.toml"), "none.toml cannot be read"),
        (("--report", "jsn=a"), "did you mean 'json'"),
        (("--auth-url", "http://a"), "--auth-url needs --target or --base-url"),
        (("--base-url", "http://127.0.0.1:9/v3"), "Nothing listens at"),
        (("--har", "none.har"), "none.har cannot be read"),
        (("--baseline", "none.toml"), "none.toml cannot be read"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_2(call, arguments, message):
    done = call("verify", *arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output


def test_a_report_that_cannot_be_written_is_noticed_before_the_first_request(call, tmp_path):
    (tmp_path / "file").write_text("")
    done = call("verify", "--base-url", "http://127.0.0.1:9/v3", "--report", "json=file/r.json")
    assert done.exit_code == 2
    assert "--report json=file/r.json: file/r.json cannot be written" in done.output
    assert "name a file that can be" in done.output
    assert "Nothing listens at" not in done.output
    there = call("verify", "--base-url", "http://127.0.0.1:9/v3", "--report", "json=new.json")
    assert "Nothing listens at" in there.output
    assert not (tmp_path / "new.json").exists()


def test_a_deployment_is_judged_by_its_own_document(call, mock, tmp_path):
    path = target(tmp_path, mock, 'document = "published"')
    done = call("verify", "--target", path, "--rules", "document,qr-default-size")
    assert done.exit_code == 0, done.output
    assert "2 rules passed, 0 failed" in done.output
    refused = call("verify", "--target", path, "--har", "run.har")
    assert "--har sends nothing, and so cannot ask for the published document" in refused.output


def test_a_plan_is_printed_and_nothing_is_sent(call):
    done = call("verify", "--base-url", "http://127.0.0.1:9/v3", "--plan")
    assert done.exit_code == 0
    (missing,) = re.findall(r"not sent  \[known\] slug is not given: (.*)", done.output)
    assert missing.endswith("more")  # each missing key once
    assert "one_profile_seen_by_everyone" not in done.output  # an inner name
    assert "about " in done.output


def test_the_plan_for_a_target_that_knows_all_has_every_probe(call):
    done = call("verify", "--plan")
    assert (done.exit_code, done.output.count("not sent")) == (0, 0), done.output
    assert "requests to http://127.0.0.1:8080/v3" in done.output


def test_a_plan_says_what_observing_means_and_that_tokens_are_a_permission_of_their_own(
    call, tmp_path
):
    path = tmp_path / "t.toml"
    text = 'base_url = "http://127.0.0.1:9/v3"\nmode = "observe"\n[permit]\ntokens = {tokens}\n'
    path.write_text(text.format(tokens="true"))
    issuing = call("verify", "--target", str(path), "--plan").output
    assert "mode observe: nothing is written to the resource API" in issuing
    assert "[permit] tokens = true: codes and tokens are issued, which remain" in issuing
    path.write_text(text.format(tokens="true\nmax_tokens = 5"))
    assert "at most 5 tokens (max_tokens)" in call("verify", "--target", str(path), "--plan").output
    path.write_text(text.format(tokens="false"))
    assert (
        "tokens = false: no token is issued"
        in call("verify", "--target", str(path), "--plan").output
    )


def test_a_plan_counts_the_tokens_and_says_how_many_are_allowed(call, tmp_path):
    path = tmp_path / "t.toml"
    path.write_text(
        'base_url = "http://127.0.0.1:9/v3"\nauth_url = "http://127.0.0.1:9"\n[application]\n'
        'client_id = "a"\nclient_secret = "b"\nredirect_uri = "http://127.0.0.1:5000/"\n'
        'username = "c"\npassword = "d"\n[permit]\ntokens = true\nmax_tokens = 3\n'
    )
    plan = call("verify", "--target", str(path), "--plan").output
    assert re.search(
        r"to have about \d\d tokens issued, or to use them; \[permit\] max_tokens", plan
    )


def test_github_gets_annotations_and_a_job_summary(call, tmp_path):
    summary = tmp_path / "summary.md"
    environment = {"GITHUB_STEP_SUMMARY": str(summary)}
    done = call(*QUICK, "--report", "github", env=environment)
    assert done.exit_code == 0, done.output
    assert "## understudy verify:" in summary.read_text()
    assert "2 rules passed, 0 failed" in summary.read_text()


def test_rules_that_could_have_been_checked_and_were_not_are_3_where_that_is_asked_for(call):
    few = (*QUICK, "--max-requests", "1")
    assert call(*few, env={"CI": "true"}).exit_code == 0
    done = call(*few, "--fail-on", "not-checked", env={"CI": "true"})
    assert done.exit_code == 3, done.output
    assert "Exit code 3: 1 rule that could have been checked and was not." in done.output


def test_a_rule_that_an_earlier_run_checked_must_be_checked_again(call, tmp_path):
    assert call(*QUICK, "--report", "json=last.json").exit_code == 0
    same = call(*QUICK, "--baseline", "last.json")
    assert (same.exit_code, "0 new findings, 0 gone." in same.output) == (0, True), same.output
    path = tmp_path / "last.json"
    report = json.loads(path.read_text())
    found = [{"fingerprint": it["id"], "rule": it["id"], "summary": "-"} for it in report["rules"]]
    path.write_text(json.dumps({**report, "findings": found}))
    less = call(*QUICK, "--baseline", "last.json", "--max-requests", "1")
    assert less.exit_code == 3, less.output
    assert "0 new findings, 1 gone, 1 not checked again; " in less.output
    assert "1 rule that was checked then was not.\n" in less.output
    assert re.search("\nnot checked: qr-[a-z-]+: .*--max-requests", less.output), less.output
    assert "Exit code 3: 1 rule that the baseline checked and this run did not." in less.output


def test_a_run_ends_with_the_next_command(call):
    assert "Next: understudy verify --init" in call(*QUICK).output


@pytest.mark.usefixtures("unmeasured")
def test_the_mock_keeps_its_own_contract_by_generated_cases_too(call):
    done = call("verify", "--quiet")
    assert (done.exit_code, "No findings." in done.output) == (0, True), done.output


def test_the_next_command_judges_what_this_one_judged(call, mock):
    document = ("--document", str(openapi_directory() / "service.yaml"))
    where = ("--base-url", mock.base_url, "--mode", "observe", *document)
    done = call("verify", *where, "--max-requests", "1", "--max-time", "9", "--seed", "3")
    again = " ".join((*where, "--seed", "3", "--plan"))
    assert f"Next: understudy verify {again} (says what" in done.output, done.output


def test_a_run_that_checked_nothing_is_not_green(call, tmp_path):
    path = tmp_path / "bare.toml"
    path.write_text('base_url = "http://127.0.0.1:9/v3"\n')
    archive = {"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": []}}
    (tmp_path / "empty.har").write_text(json.dumps(archive))
    done = call("verify", "--target", str(path), "--har", "empty.har")
    assert done.exit_code == 2, done.output
    assert "empty.har holds no exchange. Save one in" in done.output


@pytest.fixture(scope="module")
def mock(tmp_path_factory):
    running = Running(tmp_path_factory.mktemp("verified"), "--choose", "avatar-delete-status=200")
    yield running
    running.stop()


def target(tmp_path: Path, mock: Running, more: str = "") -> str:
    path = tmp_path / "target.toml"
    path.write_text(
        f'base_url = "{mock.base_url}"\nauth_url = "{mock.auth_url}"\n{more}\n'
        '[credentials]\naccess_token = "ada-full"\n[known]\nslug = "ada"\n'
        'emails = ["ada@example.com"]\n[permit]\nuploads = true\n'
    )
    return str(path)


def test_another_deployment_is_judged_over_sockets(call, mock, tmp_path):
    done = call("verify", "--target", target(tmp_path, mock), "--report", "json=out/r.json")
    report = json.loads((tmp_path / "out" / "r.json").read_text())
    assert done.exit_code == 0, done.output
    assert [note["rule"] for note in report["notes"]] == ["avatar-delete-status"]
    assert sum(rule["status"] == "passed" for rule in report["rules"]) > 90
    covered = [operation["operation"] for operation in report["coverage"]]
    assert "GET /profiles/{profileIdentifier}" in covered
    assert not (tmp_path / "target.journal").exists()
    listed = call("rules", "--coverage", "out/r.json")
    assert "qr-default-size                            passed" in listed.output


def test_a_run_that_spends_the_hour_says_from_when_on_it_can_run_again(call, mock, tmp_path):
    path = target(tmp_path, mock, "[budget]\nanonymous = 1")
    rules = ("--rules", "qr-default-size,profile-unknown-404", "--fail-on", "not-checked")
    call("verify", "--target", path, *rules)
    done = call("verify", "--target", path, *rules)
    assert "checked and were not (the hour's budget for requests without a token" in done.output
    assert " UTC)." in done.output


def test_a_path_that_a_definition_lacks_is_named_as_the_document_has_it(call, mock, tmp_path):
    path = tmp_path / "elsewhere.toml"
    path.write_text(f'base_url = "{mock.auth_url}"\n')
    done = call("verify", "--target", str(path), "--rules", "published-document")
    assert "lacking GET /profiles/{profileIdentifier}\n" in done.output


def test_a_baseline_accepts_a_finding_until_a_day(call, mock, tmp_path):
    path = target(tmp_path, mock, "is_mock = true")
    rules = ("--rules", "avatar-delete-status", "--report", "json=r.json")
    found = call("verify", "--target", path, *rules)
    assert (found.exit_code, "Exit code 1: 1 finding." in found.output) == (1, True), found.output
    command = f"Next: understudy verify --target {path} --rules avatar-delete-status --verbose"
    assert command in found.output
    (finding,) = json.loads((tmp_path / "r.json").read_text())["findings"]
    for days, code in ((1, 0), (-1, 1)):
        until = date.today() + timedelta(days=days)  # noqa: DTZ011 - as the command reads it
        baseline = f'[[accept]]\nfingerprint = "{finding["fingerprint"]}"\nuntil = {until}\n'
        (tmp_path / "known.toml").write_text(baseline)
        done = call("verify", "--target", path, *rules, "--baseline", "known.toml")
        assert done.exit_code == code, done.output


def test_recorded_traffic_is_judged_and_nothing_is_sent(call, mock, tmp_path):
    path = target(tmp_path, mock)
    call("verify", "--target", path, "--report", "har=run.har", "--rules", "qr-default-size")
    done = call("verify", "--target", path, "--har", "run.har", "--rules", "qr-default-size")
    assert done.exit_code == 0, done.output
    assert "1 rule passed, 0 failed, 0 not checked; 0 requests" in done.output


def test_a_journal_of_a_killed_run_is_cleaned_up(call, mock, tmp_path):
    path = target(tmp_path, mock)
    state = {"profile": {"location": "Port Lindry"}}
    journal = {"base_url": mock.base_url, "accounts": {"own": state}, "uploads": {}}
    (tmp_path / "target.journal").write_text(json.dumps(journal))
    done = call("cleanup", str(tmp_path / "target.journal"), "--target", path)
    assert done.exit_code == 0, done.output
    assert "All changes of the run were undone." in done.output


def test_every_rule_is_listed_with_what_it_says(call):
    done = call("rules")
    assert len(done.output.splitlines()) > 150

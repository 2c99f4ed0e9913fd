"""``understudy drift``: documents and deployments are compared, and files beside the target keep it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from tests.drift.documents.edits import EDITS, Edit

from understudy.cli import main
from understudy.cli.drift import ending
from understudy.cli.exit_codes import ExitCode
from understudy.drift.drift_report import DriftReport
from understudy.interface.facts import Fact, Facts, facts_text
from understudy.mock.settings import Settings
from understudy.testing.background import Background

RULES = "qr-size-bounds"


def edited(title: str) -> Edit:
    return next(edit for edit in EDITS if edit.title == title)


def write(directory: Path, edit: Edit) -> tuple[str, str]:
    """Writes a document before and after a change, and returns both names."""
    old, new = directory / "old.yaml", directory / "new.yaml"
    old.write_text(yaml.safe_dump(edit.before()))
    new.write_text(yaml.safe_dump(edit.after()))
    return str(old), str(new)


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a deployment whose document allows smaller pictures only."""
    directory = tmp_path_factory.mktemp("document")
    _, new = write(directory, edited("a parameter has a lower maximum"))
    background = Background(Settings(log="off", document=Path(new)))
    yield f"{background.url}/v3"
    background.stop()


@pytest.fixture
def target(deployment: str, tmp_path: Path) -> Path:
    path = tmp_path / "staging.toml"
    path.write_text(f'base_url = "{deployment}"\n[known]\nslug = "ada"\n')
    return path


def drift(*options: object) -> Result:
    return CliRunner().invoke(main, ["drift", *map(str, options)])


def test_a_mock_and_its_own_profile_do_not_differ(tmp_path: Path):
    profile = tmp_path / "deployment.yaml"
    words = {"scopes": {"read": "gallery:read"}, "rate_limit_headers": "X-Gallery-RateLimit"}
    profile.write_text(yaml.safe_dump({"vocabulary": words, "choose": {"rate-limits": "off"}}))
    settings = Settings(log="off", vocabulary=profile, choices={"rate-limits": "off"})
    background = Background(settings)
    result = drift("--like", profile, "--base-url", f"{background.url}/v3")
    background.stop()
    assert result.exit_code == 0, result.output
    assert "0 causes of difference" in result.output


@pytest.mark.parametrize(
    ("title", "expected"), [("a status is gone", 1), ("an optional parameter is new", 0)]
)
def test_documents_end_the_command_with_1_where_a_client_breaks(tmp_path, title, expected):
    result = drift("--documents", *write(tmp_path, edited(title)))
    assert result.exit_code == expected, result.output
    assert f"1 change of documents, {expected} of them breaking" in result.output
    assert "Next: understudy drift --documents " in result.output


def test_a_harmless_change_is_a_note(tmp_path):
    names = write(tmp_path, edited("an optional parameter is new"))
    assert drift("--documents", *names, "--fail-on", "notes").exit_code == 1


def test_a_baseline_that_is_written_accepts_what_was_found(tmp_path):
    names, baseline = write(tmp_path, edited("a status is gone")), tmp_path / "known.toml"
    assert drift("--documents", *names, "--write-baseline", baseline).exit_code == 1
    accepted = drift("--documents", *names, "--baseline", baseline)
    assert accepted.exit_code == 0
    assert "1 accepted by the baseline" in accepted.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Name a deployment with --target FILE or --base-url URL, or two"),
        (["--target", "a.toml", "--documents", "a", "b"], "Name a deployment with --target"),
        (["--documents", "a", "b", "--rules", "qr-png"], "--documents sends nothing"),
        (["--documents", "a.yaml", "b.yaml"], "a.yaml cannot be read"),
        (["--documents", "a", "b", "--report", "har=a.har"], "no report format 'har'"),
    ],
)
def test_options_that_contradict_one_another_are_refused(options, message):
    result = drift(*options)
    assert result.exit_code == 2
    assert message in result.output


def test_a_difference_that_the_documents_explain_names_their_change(target):
    result = drift("--target", target, "--rules", RULES, "--json")
    report = json.loads(result.stdout)
    assert result.exit_code == 1
    (cause,) = [it for it in report["causes"] if it["fault"] == "documents"]
    assert cause["rule"] == "document-bound"
    assert "maximum 1024, was maximum 2048" in cause["statement"]
    assert report["documents"][0]["changes"][0]["breaks"] == ["senders"]


def test_a_run_keeps_the_document_and_the_history_beside_the_target(target):
    first = drift("--target", target, "--rules", RULES)
    assert "since" not in first.output
    kept = json.loads(target.with_suffix(".openapi.json").read_text())
    kept["paths"]["/openapi"]["get"]["deprecated"] = False
    del kept["paths"]["/me/associated-email"]
    target.with_suffix(".openapi.json").write_text(json.dumps(kept))
    second = drift("--target", target, "--rules", RULES)
    assert "[since 20" in second.output
    assert f"From {target.with_suffix('.openapi.json')} to the document of" in second.output
    assert "GET /me/associated-email: an operation is new" in second.output
    assert "associated-email" in target.with_suffix(".openapi.json").read_text()


def test_every_report_of_a_run_is_written(target, tmp_path):
    files = {kind: tmp_path / f"drift.{kind}" for kind in ("json", "html", "sarif", "markdown")}
    reports = [part for kind, path in files.items() for part in ("--report", f"{kind}={path}")]
    result = drift("--target", target, "--rules", RULES, "--report", "github", *reports)
    assert "::error title=document-bound::" in result.output
    assert all("document-bound" in path.read_text() for path in files.values())


def test_what_the_budget_does_not_allow_is_told_and_can_end_the_command_with_3(target):
    options = ["--target", target, "--rules", "qr-default-size,profile-unknown-404"]
    target.write_text(f"{target.read_text()}[budget]\nanonymous = 0\n")
    result = drift(*options, "--fail-on", "not-checked")
    assert result.exit_code == 3, result.output
    assert "rules not checked: the hour's budget for requests without a token" in result.output


@pytest.mark.parametrize(
    ("deployment", "requests", "code"),
    [
        ("http://a.example", 0, ExitCode.UNUSABLE),
        ("http://a.example", 1, ExitCode.DONE),
        ("", 0, 0),
    ],
)
def test_a_run_that_compared_nothing_ends_with_2(deployment, requests, code):
    report = DriftReport(deployment, "the mock", requests, [], [], [], [], [], [])
    assert ending(report, frozenset({"findings"})).code == code


def test_facts_of_several_files_are_followed_and_their_contradictions_named(target, tmp_path):
    files = [tmp_path / name for name in ("first.yaml", "second.yaml")]
    for path, reading in zip(files, ("2048", "1024"), strict=True):
        fact = Fact(RULES, reading, (), 2, "2026-11-22")
        facts = Facts(f"https://{path.stem}.example", "2026-11-22", 2, (fact,), ())
        path.write_text(facts_text(facts), encoding="utf-8")
    options = [part for path in files for part in ("--facts", path)]
    result = drift("--target", target, "--rules", RULES, *options, "--json", "--quiet")
    line = f"{RULES}: 2048 at https://first.example, 1024 at https://second.example"
    assert f"The facts differ, and the last file counts: {line}\n" in result.stderr
    assert json.loads(result.stdout)["causes"] == []


def test_a_fact_that_has_changed_ends_the_command_with_1(target, tmp_path):
    fact = Fact("qr-unknown-hash", "404", (), 1, "2026-10-01")
    path = tmp_path / "staging.facts.yaml"
    path.write_text(facts_text(Facts("https://a.example", "2026-10-01", 1, (fact,), ())))
    result = drift("--target", target, "--rules", "qr-unknown-hash", "--facts", path, "--quiet")
    assert result.exit_code == 1
    assert "now: picture; when learnt on 2026-10-01: 404" in result.output
    assert "/v3/qr-code/understudy-made-up-slug" in result.output


def test_a_last_document_that_is_none_is_refused(target):
    target.with_suffix(".openapi.json").write_text("[]")
    result = drift("--target", target, "--rules", RULES)
    assert result.exit_code == 2
    assert "is not an OpenAPI document" in result.output


def test_a_deployment_can_be_named_by_its_url_and_leaves_no_file(deployment, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = drift("--base-url", deployment, "--rules", RULES, "--max-requests", "9")
    assert result.exit_code in {0, 1}, result.output
    assert f"between {deployment} and the mock" in result.output
    assert f"Next: understudy drift --base-url {deployment} --rules {RULES}" in result.output
    assert not list(tmp_path.iterdir())


def test_a_login_of_the_target_is_made_before_anything_is_compared(tmp_path):
    target = tmp_path / "staging.toml"
    target.write_text('base_url = "http://127.0.0.1:1"\n[login]\npath = "/session"\n')
    done = CliRunner().invoke(main, ["drift", "--target", str(target)])
    assert (done.exit_code, "[login] http://127.0.0.1:1/session" in done.output) == (2, True)


def test_another_service_is_compared_by_the_document_that_the_command_names(tmp_path):
    document = tmp_path / "berths.yaml"
    paths = "{/berths: {get: {responses: {'200': {description: All.}}}}}"
    document.write_text(f"{{openapi: 3.0.3, info: {{title: A, version: '1'}}, paths: {paths}}}")
    background = Background(Settings(log="off", document=document))
    try:
        where = ["drift", "--quiet", "--base-url", background.url]
        unnamed = CliRunner().invoke(main, where)
        done = CliRunner().invoke(main, [*where, "--document", str(document)])
        walked = CliRunner().invoke(main, [*where, "--document", str(document), "--walks", "2"])
    finally:
        background.stop()
    assert (unnamed.exit_code, "add --document openapi.json" in unnamed.output) == (2, True)
    assert "changes of documents" not in done.output
    more = f"understudy generate --document {document} --format har --out cases.har"
    assert more in done.output
    assert (walked.exit_code, more in walked.output) == (2, True)

"""``understudy merge``: the union of the shards is the whole run, in every format."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner
from tests.proofs.mutants import generous, own_profile
from tests.proofs.mutants.edge import MUTANTS, Edge
from tests.verify.conftest import PATIENT

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.cli import main
from understudy.deployments.deployment import Deployment
from understudy.verify.merging import merged, read_reports
from understudy.verify.outcome import Outcome
from understudy.verify.reports import FORMATS
from understudy.verify.run import RunOptions
from understudy.verify.runner import carry_out
from understudy.verify.shards import Shard

REGISTERED = (generous, own_profile)
SECRETS = TARGET.secrets()
BROKEN = {"a_code_works_twice", "an_update_clears_what_it_was_not_given"}
RULES = (
    *("qr-unknown-hash", "code-single-use", "avatar-delete-status", "profile-patch-partial"),
    *("own-profile-disabled-404", "scope-at-least-one", "document"),
)


def run(shard: Shard | None) -> Outcome:
    """Judges a deployment that is broken in two ways, as a mock of its own."""
    mock = in_process.mock()
    inner = in_process.InProcess(mock)
    wire: Any = inner
    for mutant in MUTANTS:
        if mutant.name in BROKEN:
            wire = Edge(wire, mutant.make())
    deployment = Deployment(TARGET, wire, in_process.time_of(mock), PATIENT)
    try:
        return carry_out(deployment, RunOptions(RULES, shard=shard))
    finally:
        inner.close()


@pytest.fixture(scope="module")
def whole() -> Outcome:
    return run(None)


@pytest.fixture(scope="module")
def shards() -> Sequence[Outcome]:
    return [run(Shard(str(number), 3, is_shared=False)) for number in (1, 2, 3)]


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., list[Path]]:
    """Writes reports, with changed members if any are named."""

    def write(outcomes: Sequence[Outcome], **changes: Any) -> list[Path]:
        paths = []
        for number, outcome in enumerate(outcomes):
            path = tmp_path / f"{number}.json"
            content = orjson.loads(FORMATS["json"](outcome, SECRETS))
            last = changes if number == len(outcomes) - 1 else {}
            path.write_bytes(orjson.dumps({**content, **last}))
            paths.append(path)
        return paths

    return write


def joined(paths: Sequence[Path]) -> Outcome:
    return merged([report.outcome for report in read_reports(paths)])


def test_the_union_of_the_shards_is_the_whole_run(whole, shards, written):
    union = joined(written(shards))
    assert whole.findings
    assert {it.rule.id: it.status for it in union.rules} == {
        it.rule.id: it.status for it in whole.rules
    }
    assert {it.fingerprint for it in union.findings} == {it.fingerprint for it in whole.findings}
    assert (union.stopped, union.shard, union.shards) == ("", "", ())
    assert union.requests == sum(it.requests for it in shards)
    assert union.contract == whole.contract


def test_each_shard_says_what_it_left_to_which(shards):
    reasons = {it.rule.id: it.reason for it in shards[0].rules if it.status == "not_checked"}
    assert [it.shard for it in shards] == ["1/3", "2/3", "3/3"]
    assert {it.partition("/")[0] for it in reasons.values()} <= {
        "left to shard 2",
        "left to shard 3",
    }
    assert not any(it.could_be for it in shards[0].rules if it.status == "not_checked")


@pytest.mark.parametrize("name", ["html", "junit", "markdown"])
def test_a_report_that_was_read_back_says_the_same_duration(name, whole, written):
    outcome = replace(whole, took=timedelta(seconds=0.34996))  # 0.3 or, from 0.350, 0.4
    (report,) = read_reports(written([outcome]))
    assert FORMATS[name](report.outcome, report.secrets) == FORMATS[name](outcome, SECRETS)


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"har"}))
def test_a_report_that_was_read_back_makes_every_format_as_the_run_does(name, whole, written):
    (report,) = read_reports(written([whole]))
    assert FORMATS[name](report.outcome, report.secrets) == FORMATS[name](whole, SECRETS)


def test_the_archive_holds_the_exchanges_that_show_findings(whole, written):
    (report,) = read_reports(written([whole]))
    entries = orjson.loads(FORMATS["har"](report.outcome, report.secrets))["log"]["entries"]
    steps = {step.number for it in (*whole.findings, *whole.notes) for step in it.steps}
    assert len(entries) == len(steps)
    assert not [secret for secret in SECRETS if secret in str(entries)]


def test_a_finding_that_two_runs_saw_is_one(whole, written):
    union = joined(written([whole, whole]))
    assert [it.fingerprint for it in union.findings] == [it.fingerprint for it in whole.findings]
    assert [it.count for it in union.findings] == [2 * it.count for it in whole.findings]


def test_exchanges_of_several_runs_keep_numbers_of_their_own(shards, written):
    first, _, third = [
        {step.number for it in report.outcome.findings for step in it.steps}
        for report in read_reports(written(shards))
    ]
    assert first
    assert third
    assert not first & third


def test_the_command_ends_as_the_whole_run_would_and_writes_every_report(shards, written, tmp_path):
    out = tmp_path / "junit.xml"
    paths = [str(path) for path in written(shards)]
    result = CliRunner().invoke(main, ["merge", *paths, "--report", f"junit={out}"])
    assert result.exit_code == 1, result.output
    assert "code-single-use" in result.output
    assert out.read_text().count("<testcase ") == len(RULES)


def test_a_missing_shard_leaves_the_run_stopped(shards, written):
    paths = [str(path) for path in written(shards[1:2])]
    result = CliRunner().invoke(main, ["merge", *paths])
    assert result.exit_code == 3, result.output
    assert "the report of shard 1/3 is missing" in result.output
    assert "the report of shard 3/3 is missing" in result.output


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"target": "http://127.0.0.1:1/v3"}, "merge reports of one deployment"),
        ({"contract": "0" * 16}, "were judged by different documents or rules"),
        ({"understudy": "0.0.1"}, "was written by understudy 0.0.1"),
        ({"version": 2}, "use one version for all"),
        ({"shard": "1/3"}, "are both of shard 1/3"),
        ({"shards": ["1", "2"], "shard": "2/2"}, "do not belong together"),
        ({"rules": 7}, "is not a report of verify"),
    ],
)
def test_a_report_that_does_not_belong_to_the_others_is_refused(changes, reason, shards, written):
    paths = [str(path) for path in written(shards, **changes)]
    result = CliRunner().invoke(main, ["merge", *paths])
    assert result.exit_code == 2
    assert reason in " ".join(result.output.split())


def test_shards_may_each_have_a_world_of_their_own(shards, written):
    target = TARGET.base_url.replace("/v3", "/__world/three/v3")
    assert joined(written(shards, target=target)).target == TARGET.base_url


@pytest.mark.parametrize("text", ["", "[]", "{}", "\xff"])
def test_what_is_no_report_is_refused(text, tmp_path):
    path = tmp_path / "report.json"
    path.write_bytes(text.encode("latin-1"))
    result = CliRunner().invoke(main, ["merge", str(path)])
    assert result.exit_code == 2
    assert str(path) in result.output.replace("\n", "")

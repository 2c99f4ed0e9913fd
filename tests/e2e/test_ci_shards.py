"""The example workflow that judges by shards: its last job makes one report of theirs."""

import os
import subprocess

import yaml
from click.testing import CliRunner
from tests.cli.conftest import PATIENCE, UNDERSTUDY
from tests.e2e.test_ci import EXAMPLES

from understudy.cli import main


def test_the_reports_of_the_shards_are_merged_into_one(tmp_path):
    jobs = yaml.safe_load((EXAMPLES / "github-shards.yml").read_text())["jobs"]
    count = len(jobs["shards"]["strategy"]["matrix"]["shard"])
    (options,) = (it["with"]["options"] for it in jobs["shards"]["steps"] if it.get("id"))
    for shard in range(1, count + 1):
        words = options.replace("${{ matrix.shard }}", str(shard)).split()
        report = tmp_path / "shards" / f"shard-{shard}" / "verify.json"
        report.parent.mkdir(parents=True)
        words += ["--rules", "semantic-version", "--cases", "0", "--report", f"json={report}"]
        assert CliRunner().invoke(main, ["verify", *words]).exit_code == 0
    (step,) = (it for it in jobs["report"]["steps"] if it.get("name") == "Merge the reports")
    summary = tmp_path / "summary"
    path = f"{UNDERSTUDY.parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(summary)}
    command = ["bash", "-e", "-c", step["run"]]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=PATIENCE)
    assert "semantic-version" in (tmp_path / "verify.xml").read_text()
    assert "1 rules passed" in summary.read_text()

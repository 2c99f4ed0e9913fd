"""Each example workflow writes one comment on a pull request, and replaces its own."""

import os
import subprocess

import pytest
import yaml
from tests.cli.conftest import PATIENCE
from tests.e2e.test_ci import WORKFLOWS

GH = """#!/bin/sh
echo "$@" >> gh.log
case "$*" in *--paginate*) cat comments ;; esac
"""


@pytest.mark.parametrize(
    "path", [it for it in WORKFLOWS if "Comment" in it.read_text()], ids=lambda path: path.stem
)
@pytest.mark.parametrize(
    ("comments", "call"), [("", "pr comment 7 --body-file"), ("23\n", "--method PATCH")]
)
def test_a_workflow_replaces_its_own_comment(path, comments, call, tmp_path):
    (job,) = yaml.safe_load(path.read_text())["jobs"].values()
    step = next(it for it in job["steps"] if it.get("name") == "Comment on the pull request")
    for name, content in (("gh", GH), ("comments", comments), ("report.md", "Nothing differs.")):
        (tmp_path / name).write_text(content)
    (tmp_path / "gh").chmod(0o755)
    variables = {
        "MARK": step["env"]["MARK"],
        "REPORT": "report.md",
        "NUMBER": "7",
        "GH_REPO": "a/b",
    }
    environment = {**os.environ, **variables, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = ["bash", "-e", "-c", step["run"]]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=PATIENCE)
    last = (tmp_path / "gh.log").read_text().splitlines()[-1]
    assert call in last
    assert ("comments/23" in last) == bool(comments)
    assert (tmp_path / "comment.md").read_text() == f"{variables['MARK']}\nNothing differs."

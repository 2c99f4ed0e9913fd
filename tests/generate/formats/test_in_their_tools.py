"""Each format is opened by its own tool, which sends the cases to a mock and finds nothing wrong."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from tests.generate.formats.conftest import REPEATABLE, Deployment, generate

from understudy.generate.test_data import SECRETS

HERE = Path(__file__).parent


def made(deployment: Deployment, form: str, out: Path, count: int) -> int:
    """Writes cases of the operations that use nothing up; returns how many."""
    written = generate(
        *REPEATABLE, *deployment.addresses, "--format", form, "--count", count, "--out", out
    )
    assert written.exit_code == 0, written.output
    return int(re.findall(r"([\d,]+) cases of 11 operations", written.stderr)[0].replace(",", ""))


def ran(deployment: Deployment, cwd: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*map(str, words)],
        cwd=cwd,
        env={**deployment.environment, "UNDERSTUDY_STUBS": str(HERE / "k6_stubs")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_shell_script_runs(deployment, tool, tmp_path):
    count = made(deployment, "curl", tmp_path / "cases.sh", 40)
    done = ran(deployment, tmp_path, tool("sh"), "cases.sh")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == f"{count} ran, 0 failed, 0 skipped for want of a secret"


def test_the_shell_script_finds_out_a_deployment_that_is_too_lax(lax, tool, tmp_path):
    words = ("updateOwnProfile", *lax.addresses, "--kind", "invalid", "--count", 300)
    generate(*words, "--out", tmp_path / "cases.sh")
    done = ran(lax, tmp_path, tool("sh"), "cases.sh")
    assert done.returncode == 1
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED 200")]
    assert any("a token that may only read" in line for line in failed)
    assert any("a member that is not declared" in line for line in failed)


def test_the_shell_script_skips_what_it_has_no_secret_for(deployment, tool, tmp_path):
    generate("getOwnProfile", *deployment.addresses, "--count", 20, "--out", tmp_path / "cases.sh")
    done = subprocess.run(
        [tool("sh"), "cases.sh"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    ran_, failed, skipped = map(int, re.findall(r"\d+", done.stdout.splitlines()[-1]))
    assert (ran_ + skipped, failed) == (20, 0)
    assert ran_ > 0
    assert skipped > 0


def test_the_pytest_module_runs(deployment, tool, tmp_path):
    count = made(deployment, "pytest", tmp_path / "test_cases.py", 40)
    done = ran(
        deployment, tmp_path, tool("pytest"), "-q", "-p", "no:cacheprovider", "test_cases.py"
    )
    assert f"{count} passed" in done.stdout, done.stdout[-3000:]


def test_newman_runs_the_postman_collection(deployment, tool, tmp_path):
    newman = tool("newman")
    count = made(deployment, "postman", tmp_path / "cases.json", 15)
    given = {name: deployment.environment.get(name.upper(), "") for name in SECRETS}
    secrets = [word for pair in given.items() for word in ("--env-var", "=".join(pair))]
    report = ("--reporters", "json", "--reporter-json-export", "report.json")
    done = ran(
        deployment, tmp_path, newman, "run", "cases.json", "--working-dir", ".", *secrets, *report
    )
    assert done.returncode == 0, done.stdout[-3000:]
    stats = json.loads((tmp_path / "report.json").read_text())["run"]["stats"]
    assert stats["requests"] == {"total": count, "pending": 0, "failed": 0}
    assert stats["assertions"] == {"total": count, "pending": 0, "failed": 0}


def test_bruno_runs_its_collection(deployment, tool, tmp_path):
    bruno = tool("bru")
    count = made(deployment, "bruno", tmp_path / "cases", 8)
    words = ("run", "--env", "deployment", "-r", "--reporter-json", "report.json")
    done = ran(deployment, tmp_path / "cases", bruno, *words)
    assert done.returncode == 0, done.stdout[-3000:]
    (report,) = json.loads((tmp_path / "cases" / "report.json").read_text())
    assert report["summary"]["totalRequests"] == report["summary"]["passedTests"] == count


def test_httpyac_sends_the_http_file(deployment, tool, tmp_path):
    httpyac = tool("httpyac")
    count = made(deployment, "http", tmp_path / "cases.http", 25)
    done = ran(deployment, tmp_path, httpyac, "send", "cases.http", "--all", "--output", "short")
    assert f"{count} requests processed ({count} succeeded)" in done.stdout, done.stdout[-3000:]


def test_k6_s_script_sends_what_the_cases_say(deployment, tool, tmp_path):
    """k6 itself is one binary that few machines have, so node executes the script with stubs."""
    node = tool("node")
    count = made(deployment, "k6", tmp_path / "cases.js", 40)
    done = ran(
        deployment,
        tmp_path,
        node,
        "--import",
        HERE / "k6_stubs" / "register.mjs",
        HERE / "k6_stubs" / "run.mjs",
        tmp_path / "cases.js",
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout)
    assert said["failed"] == []
    assert said["checks"] == count


@pytest.mark.parametrize(
    "form", ["curl", "http", "har", "postman", "bruno", "k6", "pytest", "jsonl", "csv"]
)
def test_no_secret_lands_in_a_file_unless_it_was_asked_for(form: str, tmp_path: Path):
    for name, more in {"without": [], "with": ["--include-secrets"]}.items():
        out = tmp_path / name / "cases" if form == "bruno" else tmp_path / name / "cases.x"
        out.parent.mkdir()
        assert generate("--format", form, "--count", 60, "--out", out, *more).exit_code == 0
    text = {
        name: b"".join(p.read_bytes() for p in (tmp_path / name).rglob("*") if p.is_file())
        for name in ("without", "with")
    }
    for secret in (b"ada-full", b"ada-read-only", b"server-app-secret", b"ada-password"):
        assert secret not in text["without"]
        assert secret in text["with"]

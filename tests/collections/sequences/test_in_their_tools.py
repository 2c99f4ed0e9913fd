"""Each tool runs sequences against a mock of which one collection stores nothing, and fails that one."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Running
from tests.collections.sequences.test_sequences import STORE
from tests.generate.formats.conftest import generate, without_secrets

K6 = Path(__file__).parents[2] / "generate" / "formats" / "k6_stubs"


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a mock that stores orders, and makes up every user."""
    directory = tmp_path_factory.mktemp("forgetful")
    model = directory / "model.yaml"
    model.write_text("collections: {/user: {stateless: true}}")
    options = ("--document", str(STORE), "--state-model", str(model), "--log", "off")
    running = Running(directory, *options)
    yield running.base_url
    running.stop()


def failed(text: str) -> set[str]:
    """Returns the collections whose sequences a text names."""
    return set(re.findall(r"(\w+)-sequence-", text))


def written(form: str, base_url: str, out: Path) -> None:
    words = (
        "POST /store/order",
        "POST /user",
        "--document",
        STORE,
        "--sequences",
        "--count",
        1,
        "--base-url",
        base_url,
    )
    done = generate(*words, "--format", form, "--out", out)
    assert done.exit_code == 0, done.stderr
    assert "2 sequences, with" in done.stderr


def ran(cwd: Path, *words: object) -> str:
    """Runs a tool, which has to end as tools do that found failures, and returns what it prints."""
    done = subprocess.run(
        [*map(str, words)],
        cwd=cwd,
        env={**without_secrets(), "CREDENTIAL": "any", "TOKEN": "any"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0, done.stdout
    return done.stdout


def test_the_shell_script_fails_what_is_not_stored(forgetful: str, tool, tmp_path: Path):
    written("curl", forgetful, tmp_path / "cases.sh")
    output = ran(tmp_path, tool("sh"), "cases.sh")
    assert failed("\n".join(re.findall("^FAILED.*", output, re.M))) == {"user"}
    assert len(re.findall("^ok .*order-sequence", output, re.M)) == 4


def test_the_pytest_module_fails_what_is_not_stored(forgetful: str, tool, tmp_path: Path):
    written("pytest", forgetful, tmp_path / "test_cases.py")
    output = ran(tmp_path, tool("pytest"), "-q", "-p", "no:cacheprovider", "test_cases.py")
    assert failed("\n".join(re.findall("^FAILED.*", output, re.M))) == {"user"}
    assert "1 failed, 1 passed" in output


def test_newman_fails_what_is_not_stored(forgetful: str, tool, tmp_path: Path):
    written("postman", forgetful, tmp_path / "cases.json")
    secrets = ("--env-var", "CREDENTIAL=any", "--env-var", "TOKEN=any")
    report = ("--reporters", "json", "--reporter-json-export", "report.json")
    environment = ("-e", "cases.postman_environment.json")
    ran(tmp_path, tool("newman"), "run", "cases.json", *environment, *secrets, *report)
    run = json.loads((tmp_path / "report.json").read_text())["run"]
    assert failed("\n".join(failure["error"]["test"] for failure in run["failures"])) == {"user"}
    assert run["stats"]["requests"]["total"] == 10


def test_bruno_fails_what_is_not_stored(forgetful: str, tool, tmp_path: Path):
    written("bruno", forgetful, tmp_path / "cases")
    ran(
        tmp_path / "cases",
        tool("bru"),
        "run",
        "-r",
        "--sandbox",
        "developer",
        "--reporter-json",
        "report.json",
    )
    (report,) = json.loads((tmp_path / "cases" / "report.json").read_text())
    results = [one for result in report["results"] for one in result["testResults"]]
    broken = [one["description"] for one in results if one["status"] == "fail"]
    assert failed("\n".join(broken)) == {"user"}
    assert len(results) == 20


def test_httpyac_fails_what_is_not_stored(forgetful: str, tool, tmp_path: Path):
    written("http", forgetful, tmp_path / "cases.http")
    # It ends before a pipe has taken all that it prints, so it prints into a file.
    words = f"{tool('httpyac')} send cases.http --all --json > report.json"
    ran(tmp_path, "sh", "-c", words)
    requests = json.loads((tmp_path / "report.json").read_text())["requests"]
    broken = [request["title"] for request in requests if request["summary"]["failedTests"]]
    assert failed("\n".join(broken)) == {"user"}
    assert len(requests) == 10


def test_k6_s_script_fails_what_is_not_stored(forgetful: str, tool, tmp_path: Path):
    written("k6", forgetful, tmp_path / "cases.js")
    words = ("--import", K6 / "register.mjs", K6 / "run.mjs", tmp_path / "cases.js")
    done = subprocess.run(
        [tool("node"), *map(str, words)],
        env={**without_secrets(), "CREDENTIAL": "any", "TOKEN": "any"},
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(done.stdout.splitlines()[-1])
    assert failed("\n".join(report["failed"])) == {"user"}
    assert report["checks"] == 10

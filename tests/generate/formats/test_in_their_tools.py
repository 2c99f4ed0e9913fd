"""Each format is run by its own tool against a fresh world, which passes every case of it.

The cases are those of every operation, in their order: one that deletes an avatar creates it first,
and wrong guesses come after the right ones.
"""

import json
import re
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest
from tests.generate.formats.conftest import PYTEST, Deployment, generate, without_secrets
from tests.generate.formats.replaying import Replay, har_requests, json_requests

from understudy.cases.selection import planners, plans
from understudy.cases.test_data import TestData

HERE = Path(__file__).parent
OPERATIONS = {plan.name for plan in plans(planners(None, TestData()))}


def written(deployment: Deployment, form: str, out: Path, count: int) -> int:
    """Writes cases of every operation, and returns how many there are."""
    words = (*deployment.addresses, "--format", form, "--count", count, "--out", out)
    done = generate(*words)
    assert done.exit_code == 0, done.output
    return int(re.findall(r"([\d,]+) cases of 14 operations", done.stderr)[0].replace(",", ""))


def ran(
    deployment: Deployment | None, cwd: Path, *words: object
) -> subprocess.CompletedProcess[str]:
    environment = without_secrets() if deployment is None else deployment.environment
    return subprocess.run(
        [*map(str, words)], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def test_the_shell_script_passes(deployment, tool, tmp_path):
    count = written(deployment, "curl", tmp_path / "cases.sh", 20)
    done = ran(deployment, tmp_path, tool("sh"), "cases.sh")
    last = [int(number) for number in re.findall(r"\d+", done.stdout.splitlines()[-1])]
    sent, failed, limited, skipped = last
    assert (failed, limited) == (0, 0), done.stdout + done.stderr
    assert sent + skipped == count
    assert skipped == 0


def test_the_shell_script_finds_a_deployment_that_is_too_lax(lax, tool, tmp_path):
    words = ("updateOwnProfile", *lax.addresses, "--kind", "invalid", "--count", 150)
    generate(*words, "--out", tmp_path / "cases.sh")
    done = ran(lax, tmp_path, tool("sh"), "cases.sh")
    assert done.returncode == 1
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED 200")]
    assert any("a token that may only read" in line for line in failed)
    assert any("a member that is not declared" in line for line in failed)


def test_the_pytest_module_passes(deployment, tool, tmp_path):
    count = written(deployment, "pytest", tmp_path / "test_cases.py", 50)
    words = (*PYTEST, "-rs", "test_cases.py")
    done = ran(deployment, tmp_path, tool("pytest"), *words)
    assert done.returncode == 0, done.stdout[-3000:]
    assert f"{count} passed in" in done.stdout
    assert "rate limit" not in done.stdout


def test_newman_passes_the_postman_collection_with_its_environment(deployment, tool, tmp_path):
    newman = tool("newman")
    count = written(deployment, "postman", tmp_path / "cases.json", 12)
    secrets = [
        word for pair in deployment.secrets.items() for word in ("--env-var", "=".join(pair))
    ]
    report = ("--reporters", "json", "--reporter-json-export", "report.json")
    words = ("run", "cases.json", "-e", "cases.postman_environment.json", "--working-dir", ".")
    done = ran(deployment, tmp_path, newman, *words, *secrets, *report)
    run = json.loads((tmp_path / "report.json").read_text())["run"]
    failures = [failure["error"]["message"] for failure in run["failures"]]
    assert (done.returncode, failures) == (0, [])
    assert count - 10 < run["stats"]["assertions"]["total"] <= count
    assert run["stats"]["assertions"]["pending"] == 0  # none was left out by the rate limit


@pytest.mark.parametrize(
    ("sandbox", "count"),
    [("safe", 1), ("developer", 6)],  # the default takes ten times as long for each script
)
def test_bruno_passes_its_collection_without_an_environment(
    deployment, tool, tmp_path, sandbox, count
):
    bruno = tool("bru")
    count = written(deployment, "bruno", tmp_path / "cases", count)
    words = ("run", "-r", "--sandbox", sandbox, "--reporter-json", "report.json")
    done = ran(deployment, tmp_path / "cases", bruno, *words)
    (report,) = json.loads((tmp_path / "cases" / "report.json").read_text())
    assert done.returncode == 0, done.stdout[-3000:]
    assert count - 5 < report["summary"]["totalTests"] <= count
    assert report["summary"]["failedTests"] == 0
    assert "not judged" not in done.stdout


def test_httpyac_gets_the_expected_responses(deployment, tool, tmp_path):
    httpyac = tool("httpyac")
    count = written(deployment, "http", tmp_path / "cases.http", 12)
    # It ends before a pipe has taken all that it prints, so it prints into a file.
    words = f"{httpyac} send cases.http --all --json > report.json"
    ran(deployment, tmp_path, "sh", "-c", words)
    expected = dict(
        re.findall(r"^### (.+ \(\S+\))\n# \w+: .* -> ([^(]+) \(", cases_of(tmp_path), re.M)
    )
    assert len(expected) == count
    requests = json.loads((tmp_path / "report.json").read_text())["requests"]
    unexpected = [
        f"{request['title']}: {request['response']['statusCode']}, expected {statuses}"
        for request in requests
        if (statuses := expected.get(request.get("title", "")))
        and "response" in request
        and not fits(request["response"]["statusCode"], statuses)
    ]
    assert unexpected == []
    assert len([r for r in requests if r.get("title") in expected and "response" in r]) > count - 10


def cases_of(directory: Path) -> str:
    return (directory / "cases.http").read_text()


def fits(status: int, expected: str) -> bool:
    return bool({str(status), f"{status // 100}XX"} & set(expected.split(" or ")))


def k6_run(
    deployment: Deployment, k6: str, cwd: Path, *options: object
) -> tuple[subprocess.CompletedProcess[str], int, int]:
    """Lets k6 run a script; returns what came of it, and how many checks passed and failed."""
    words = ("run", "--quiet", "--no-usage-report", "--summary-export", "sums", *options)
    done = ran(deployment, cwd, k6, *words, "cases.js")
    checks = json.loads((cwd / "sums").read_text())["metrics"]["checks"]
    return done, checks["passes"], checks["fails"]


def test_k6_passes_the_script(deployment, tool, tmp_path):
    count = written(deployment, "k6", tmp_path / "cases.js", 20)
    done, passed, failed = k6_run(deployment, tool("k6"), tmp_path)
    assert (done.returncode, failed) == (0, 0), done.stdout[-3000:]
    assert count - 5 < passed <= count
    assert "not judged" not in done.stderr


def test_k6_finds_a_deployment_that_is_too_lax(lax, tool, tmp_path):
    words = ("updateOwnProfile", *lax.addresses, "--kind", "invalid", "--count", 60)
    generate(*words, "--format", "k6", "--out", tmp_path / "cases.js")
    done, _, failed = k6_run(lax, tool("k6"), tmp_path)
    assert done.returncode == 99  # a threshold was crossed
    assert failed > 0
    assert re.search(r"✗ .*a member that is not declared", done.stdout)


def worlds(deployment: Deployment) -> list[str]:
    mock = deployment.urls["BASE_URL"].rpartition("/")[0]
    with urlopen(f"{mock}/__admin/worlds", timeout=60) as response:
        return [world["name"] for world in json.load(response)]


def hour_left(deployment: Deployment) -> str:
    """Returns what a request to the default world is told that is left."""
    with urlopen(f"{deployment.urls['BASE_URL']}/profiles/ada", timeout=60) as response:
        return str(response.headers["X-RateLimit-Remaining"])


def test_each_user_of_k6_has_a_world_that_ends_with_the_run(fresh_mock, tool, tmp_path):
    words = ("getProfile", *fresh_mock.addresses, "--count", 5, "--format", "k6", "--worlds")
    generate(*words, "--out", tmp_path / "cases.js")
    done, *checks = k6_run(fresh_mock, tool("k6"), tmp_path, "--vus", 3, "--iterations", 6)
    assert (done.returncode, checks) == (0, [30, 0]), done.stdout[-3000:]
    assert "level=error" not in done.stderr
    assert (worlds(fresh_mock), hour_left(fresh_mock)) == (["default"], "99")


def test_worlds_are_for_formats_with_virtual_users():
    done = generate("getProfile", "--format", "curl", "--worlds")
    assert done.exit_code == 2
    assert "choose --format k6" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("form", "requests"),
    [("har", har_requests), ("jsonl", json_requests)],
)
def test_what_no_tool_judges_passes_when_it_is_read_and_sent(deployment, form, requests, tmp_path):
    count = written(deployment, form, tmp_path / f"cases.{form}", 20)
    replay = Replay(deployment)
    failed = [
        text for each in requests(tmp_path / f"cases.{form}") if (text := replay.mismatch(each))
    ]
    assert failed == []
    assert count - 5 < replay.sent <= count


@pytest.mark.parametrize("form", ["curl", "pytest", "postman", "bruno", "k6", "http"])
def test_cases_whose_secrets_are_not_set_are_skipped(deployment, tool, tmp_path, form):
    tools = {"curl": "sh", "postman": "newman", "bruno": "bru", "k6": "node", "http": "httpyac"}
    program = tool(tools.get(form, form))
    out = tmp_path / {"bruno": "cases", "pytest": "test_cases.py"}.get(form, "cases.js")
    generate("getOwnProfile", *deployment.addresses, "--count", 12, "--format", form, "--out", out)
    stubs = HERE / "k6_stubs"
    words: dict[str, tuple[object, ...]] = {
        "curl": (out,),
        "pytest": (*PYTEST, out),
        "postman": ("run", out),
        "bruno": ("run", "-r"),
        "k6": ("--import", stubs / "register.mjs", stubs / "run.mjs", out),
        "http": ("send", out, "--all", "--output", "short"),
    }
    done = ran(None, out if form == "bruno" else tmp_path, program, *words[form])
    expected = 2 if form == "curl" else 0  # a script says so, as it cannot mark a case as skipped
    assert done.returncode == expected, done.stdout[-3000:] + done.stderr[-2000:]
    assert "ada-full" not in done.stdout


@pytest.mark.parametrize(
    "form", ["curl", "http", "har", "postman", "bruno", "k6", "pytest", "jsonl"]
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

"""The package in the test runners of JavaScript: a world for each test, and a journal for a failure."""

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import patient
from tests.cli.conftest import Running
from tests.house.documentation import blocks
from tests.needs import js_package
from tests.npm.packing import PROJECTS, environment, installed, project, run

MANY = os.environ.get("UNDERSTUDY_NPM_TESTS", "12")
"""Tests in parallel workers of Playwright; ``make npm-worlds`` has 300."""

RUN = """\
import setUp, { tearDown } from "understudy-js/global-setup";
import { startMock } from "understudy-js/node";
import { Mock } from "understudy-js";

await setUp();
const worker = await startMock({ shared: true });
const choices = await new Mock(worker.url).admin.request("get", "/choices");
console.log(choices.find(({ name }) => name === "rate-limits").option);
await tearDown();
"""
"""What Playwright does in a run: its set-up starts a mock, and each worker finds it."""

REASON = "There is no profile for 'nobody-at-all'"


def with_runners(place: Path, source: Path) -> Path:
    for name in ("@playwright/test", "vitest", "jest", "msw"):
        js_package(name)
    return project(place, source)


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("mock"), "--log", "off")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def vitest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report of Vitest, whose global set-up starts a mock, and what it printed."""
    place = with_runners(tmp_path_factory.mktemp("v") / "p", PROJECTS / "vitest")
    options = ("--reporter=json", "--outputFile=report.json", "--reporter=default")
    done = run(place, "vitest", "run", *options)
    report: dict[str, Any] = json.loads((place / "report.json").read_text())
    return {**report, "printed": done.stdout + done.stderr}


def test_the_client_and_msw_work_in_vitest(vitest: dict[str, Any]):
    failed = [
        test["failureMessages"]
        for file in vitest["testResults"]
        for test in file["assertionResults"]
        if test["status"] != "passed" and "on purpose" not in test["title"]
    ]
    assert (failed, vitest["numPassedTests"], vitest["numFailedTests"]) == ([], 25, 1)


def test_vitest_prints_the_journal_of_the_test_that_failed(vitest: dict[str, Any]):
    assert vitest["printed"].count("Requests of") == 1
    assert REASON in vitest["printed"]


def test_jest_has_a_world_for_each_test_and_no_mock_is_left(tmp_path: Path):
    place = with_runners(tmp_path / "project", PROJECTS / "jest")
    done = run(place, "jest", "--ci")
    assert done.returncode == 0, done.stderr
    assert "Tests:       3 passed, 3 total" in done.stderr
    assert "did not exit" not in done.stderr


@pytest.fixture(scope="module")
def played(mock: Running, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The results of Playwright's tests, with the titles of their tests."""
    place = with_runners(tmp_path_factory.mktemp("p") / "p", PROJECTS / "playwright")
    url = mock.base_url.removesuffix("/v3")
    done = run(place, "playwright", "test", UNDERSTUDY_URL=url, MANY=MANY)
    assert (place / "report.json").exists(), done.stdout + done.stderr
    suites = json.loads((place / "report.json").read_text())["suites"]
    return [
        {"title": spec["title"], **test["results"][0]}
        for suite in suites
        for spec in suite["specs"]
        for test in spec["tests"]
    ]


def test_worlds_of_parallel_workers_keep_apart(played: list[dict[str, Any]]):
    failed = [it["title"] for it in played if it["status"] != "passed"]
    assert (failed, len(played)) == (
        ["fails on purpose, and its journal is attached"],
        int(MANY) + 2,
    )


def test_no_world_is_left_by_them(played: list[dict[str, Any]], mock: Running):
    assert played
    worlds = patient.get(f"{mock.base_url.removesuffix('/v3')}/__admin/worlds").json()
    assert [world["name"] for world in worlds] == ["default"]


def test_a_failing_test_of_playwright_has_the_journal_in_its_report(played: list[dict[str, Any]]):
    attached = {it["title"]: it["attachments"] for it in played if it["attachments"]}
    ((_, (text, har)),) = attached.items()
    assert REASON in base64.b64decode(text["body"]).decode()
    (entry,) = json.loads(base64.b64decode(har["body"]))["log"]["entries"]
    assert entry["request"]["url"].endswith("/profiles/nobody-at-all")


def test_a_failing_test_of_playwright_says_below_its_error_what_the_mock_refused(
    played: list[dict[str, Any]],
):
    ((_, told),) = [it["errors"] for it in played if it["status"] != "passed"]
    assert told["message"].startswith("Requests of this test:\n")
    assert REASON in told["message"]


def test_the_client_of_the_manual_does_what_it_says(mock: Running, tmp_path: Path):
    installed(tmp_path)
    (script,) = (it for it in blocks("docs/how-to/npm.md") if it.file_name == "steer.mjs")
    (tmp_path / "steer.mjs").write_text(script.text)
    variables = environment(UNDERSTUDY_URL=mock.base_url.removesuffix("/v3"))
    command = ["node", "steer.mjs"]
    printed = subprocess.check_output(command, cwd=tmp_path, env=variables, text=True)
    assert printed.startswith("200\n401\n503\n   1  200  GET    /v3/me/profile  ada\n")


def test_workers_do_not_call_options_without_effect_that_the_mock_of_the_run_has(tmp_path: Path):
    installed(tmp_path)
    (tmp_path / "run.mjs").write_text(RUN)
    variables = environment(UNDERSTUDY_CHOOSE="rate-limits=off")
    done = subprocess.run(
        ["node", "run.mjs"], cwd=tmp_path, env=variables, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("off\n", "")


def test_types_are_what_the_documents_say(tmp_path: Path):
    place = with_runners(tmp_path / "project", PROJECTS / "types")
    for name in ("vitest", "playwright"):
        for source in (PROJECTS / name).glob("*.ts"):
            (place / f"{name}.{source.name}").write_bytes(source.read_bytes())
    done = run(place, "tsc", "--project", ".")
    assert done.stdout == ""

"""The worked examples run as their readers would run them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.cli.conftest import UNDERSTUDY
from tests.e2e.conftest import browser_program

EXAMPLES = Path(__file__).parents[2] / "examples"
CACHE = Path.home() / ".cache" / "understudy-examples"

SHELL_SAYS = """\
the first look-up fails, and the second one finds somebody:
503
200
a token counts for an hour of the world's clock:
200
401
and that is what was asked:
{"count":2}
"""


def executed(*command: str, **options: object) -> "subprocess.CompletedProcess[str]":
    run = [str(UNDERSTUDY), "exec", "--", *command]
    return subprocess.run(run, capture_output=True, text=True, check=False, timeout=180, **options)  # type: ignore[call-overload, no-any-return]  # passed on as they are


def test_a_shell_steers_a_world() -> None:
    assert executed(str(EXAMPLES / "steer.sh")).stdout == SHELL_SAYS


def missing(what: str) -> None:
    if os.environ.get("UNDERSTUDY_REQUIRE_BROWSER"):
        pytest.fail(what)
    pytest.skip(what)


def test_playwright_tests_in_javascript_have_a_world_each() -> None:
    browser = browser_program()
    npm = shutil.which("npm")
    if browser is None or npm is None:
        missing("Chromium and npm are wanted: apt-get install chromium npm")
    place = CACHE / "playwright"
    shutil.copytree(EXAMPLES / "playwright", place, dirs_exist_ok=True)
    surroundings = {**os.environ, "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1", "CHROMIUM": str(browser)}
    if not (place / "node_modules" / "@playwright").exists():
        install = [str(npm), "install", "--no-audit", "--no-fund", "--no-package-lock"]
        done = subprocess.run(install, cwd=place, env=surroundings, check=False, timeout=300)
        if done.returncode:
            missing("npm could not install @playwright/test")
    played = executed("npx", "playwright", "test", cwd=place, env=surroundings)
    assert "7 passed" in played.stdout, played.stdout + played.stderr

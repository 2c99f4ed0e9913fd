"""The worked examples run as their readers would run them."""

import os
import shutil
import subprocess
from pathlib import Path

from tests.cli.conftest import UNDERSTUDY
from tests.e2e.conftest import browser_program
from tests.needs import JS_MODULES, js_package

EXAMPLES = Path(__file__).parents[2] / "examples"

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


def test_playwright_tests_in_javascript_have_a_world_each(tmp_path: Path) -> None:
    js_package("@playwright/test")
    place = shutil.copytree(EXAMPLES / "playwright", tmp_path / "playwright")
    (place / "node_modules").symlink_to(JS_MODULES)
    surroundings = {**os.environ, "CHROMIUM": browser_program()}
    played = executed("npx", "playwright", "test", cwd=place, env=surroundings)
    assert "7 passed" in played.stdout, played.stdout + played.stderr

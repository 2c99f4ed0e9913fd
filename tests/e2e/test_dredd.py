"""Dredd holds the mock to ``openapi/service.yaml``, with the hooks of ``examples/dredd``."""

import re
import subprocess
from pathlib import Path

from tests.cli.conftest import Running
from tests.needs import program

from understudy.openapi.loader import load
from understudy.openapi.operations import operations

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "openapi" / "service.yaml"
HOOKS = ROOT / "examples" / "dredd" / "hooks.js"


def test_dredd_gets_every_declared_status_from_the_mock(tmp_path: Path):
    dredd = program("dredd")
    mock = Running(tmp_path)
    try:
        command = [dredd, str(DOCUMENT), mock.base_url, f"--hookfiles={HOOKS}"]
        result = subprocess.run(
            [*command, "--loglevel=error"],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
    finally:
        mock.stop()
    declared = [status for it in operations(load(DOCUMENT)) for status in it.responses]
    counts = re.search(r"(\d+) passing, (\d+) failing, \d+ errors, (\d+) skipped", result.stdout)
    assert counts, result.stdout + result.stderr
    assert counts.groups() == (str(len(declared) - 3), "0", "3"), result.stdout

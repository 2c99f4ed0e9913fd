"""Schemathesis against the running mock: every operation, every check, all phases.

``UNDERSTUDY_SCHEMATHESIS`` says how many examples an operation; ``make cases`` asks for 200.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXAMPLES = os.environ.get("UNDERSTUDY_SCHEMATHESIS", "15")
HOOKS = Path(__file__).with_name("schemathesis_hooks.py")
SCRIPTS = Path(sys.executable).parent


@pytest.fixture
def base_url(tmp_path):
    """Serves the mock as its users do, without limits, so that none hides an answer."""
    ready = tmp_path / "ready.json"
    command = [str(SCRIPTS / "understudy"), "serve", "--port", "0", "--auth-port", "0"]
    options = ["--log", "off", "--choose", "rate-limits=off", "--ready-file", str(ready)]
    with subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL) as mock:
        while not ready.exists():
            assert mock.poll() is None
            time.sleep(0.02)  # noqa: TID251 - waits for another process, not for a world's clock
        yield json.loads(ready.read_text())["base_url"]
        mock.terminate()


@pytest.mark.parametrize("token", ["ada-full", None])
def test_schemathesis_finds_no_failure(base_url, tmp_path, token):
    command = [
        *(SCRIPTS / "schemathesis", "run", f"{base_url}/openapi", "--url", base_url),
        *("--checks", "all", "--phases", "examples,coverage,fuzzing,stateful"),
        *("-n", EXAMPLES if token else "10", "--seed", "7", "--no-color"),
        *("--request-timeout", "120", "--suppress-health-check", "too_slow"),  # a busy machine is
        *(["-H", f"Authorization: Bearer {token}"] if token else []),
    ]
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": str(HOOKS)}
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
    assert "Operations:       10 selected / 10 total" in ran.stdout

"""``python -m tests.proofs.reference``: a process that says where it is, as target.toml has it."""

import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from tests import patient
from tests.proofs.reference.__main__ import told
from tests.proofs.reference.service import Addresses

pytestmark = pytest.mark.usefixtures("measured_children")

ROOT = Path(__file__).parents[3]
TARGET = Path(__file__).with_name("target.toml")
COMMAND = [sys.executable, "-m", "tests.proofs.reference", "--port", "0", "--auth-port", "0"]
PATIENCE = 120
"""Seconds that a busy machine may take."""


def test_the_process_tells_where_it_is_and_stops_when_told(tmp_path):
    ready = tmp_path / "ready.json"
    command = [*COMMAND, "--ready-file", str(ready), "--approve", "isolde"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = json.loads(process.stdout.readline())
        end = time.monotonic() + PATIENCE
        while not ready.exists() and time.monotonic() < end:
            os.sched_yield()
        assert json.loads(ready.read_text()) == line
        assert (
            patient.get(f"{line['base_url']}/profiles/{line['known']['slug']}").status_code == 200
        )
        assert patient.get(f"{line['auth_url']}/oauth2/token").status_code == 405
        process.terminate()
        assert process.wait(PATIENCE) == 0


def test_an_unknown_approver_is_refused_with_a_line():
    found = subprocess.run(
        [*COMMAND, "--approve", "nobody"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert (found.returncode, found.stderr) == (1, "--approve nobody: there is no such username\n")


def test_the_target_file_names_what_the_process_tells():
    target = tomllib.loads(TARGET.read_text())
    expected = json.loads(json.dumps(told(Addresses("http://127.0.0.1:9080", target["auth_url"]))))
    assert {name: target[name] for name in expected} == expected

"""The contract as a pytest suite, run as a customer's CI runs it."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Running

COMMAND = [
    *(sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider"),
    *("-p", "no:faker", "-p", "no:schemathesis", "--pyargs", "understudy.testing.contract"),
]


def ran(tmp_path: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *more], cwd=tmp_path, capture_output=True, text=True, check=False
    )


def test_every_rule_and_scenario_is_a_test_of_its_own(tmp_path):
    done = ran(tmp_path, "-k", "qr-default-size or code-single-use or profile-edits", "-v")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "test_rule[qr-default-size] PASSED" in done.stdout
    assert "test_rule[code-single-use] PASSED" in done.stdout
    assert "test_scenario[profile-edits] PASSED" in done.stdout


@pytest.mark.usefixtures("measured_children")
def test_a_target_that_nobody_serves_is_said_in_one_line(tmp_path):
    target = tmp_path / "target.toml"
    target.write_text('base_url = "http://127.0.0.1:9/v3"\n')
    done = ran(tmp_path, "-k", "qr-default-size", "--understudy-target", str(target))
    assert done.returncode == 1
    assert "Nothing listens at 127.0.0.1:9. Is the deployment up?" in done.stdout


def test_a_target_file_that_cannot_be_used_is_one_usage_error(tmp_path):
    done = ran(tmp_path, "--understudy-target", "none.toml")
    assert done.returncode == 4
    assert done.stderr.count("none.toml cannot be read") == 1
    assert "Traceback" not in done.stderr + done.stdout


def test_a_scenario_whose_budget_is_spent_is_skipped_with_the_reason(tmp_path):
    mock = Running(tmp_path, "--log", "off")
    target = tmp_path / "target.toml"
    target.write_text(
        f'base_url = "{mock.base_url}"\n[credentials]\naccess_token = "ada-full"\n'
        '[known]\nslug = "ada"\n[budget]\nanonymous = 2\ntoken = 12\n'
    )
    try:
        done = ran(tmp_path, "-k", "profile-edits", "-rs", "--understudy-target", str(target))
    finally:
        mock.stop()
    assert done.returncode == 0, done.stdout[-3000:]
    assert "the hour's budget for this token is used up" in done.stdout

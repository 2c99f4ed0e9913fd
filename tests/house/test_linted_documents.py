"""Spectral and Redocly, the linters that most teams run, find no error in the documents.

import subprocess
from pathlib import Path

import pytest
from tests.verify.packages import MODULES, missing

OPENAPI = Path(__file__).parents[2] / "openapi"
DOCUMENTS = ("service", "authorization", "web", "admin", "user-info")


def linted(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = MODULES / ".bin" / program
    if not path.exists():
        missing(program)
    command = [str(path), "lint", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_spectral_finds_no_error(name, tmp_path):
    rules = tmp_path / "rules.yaml"
    rules.write_text("extends: [spectral:oas]\n")
    document = str(OPENAPI / f"{name}.yaml")
    result = linted("spectral", "--fail-severity", "error", "--ruleset", str(rules), document)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("name", DOCUMENTS)
def test_redocly_finds_no_error(name):
    result = linted("redocly", "--format=stylish", str(OPENAPI / f"{name}.yaml"))
    assert result.returncode == 0, result.stdout + result.stderr

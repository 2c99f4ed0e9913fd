"""Spectral and Redocly, the linters that most teams run, find no error in the documents.

Each linter starts once and reads all documents, as starting takes longer than reading.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.needs import program

OPENAPI = Path(__file__).parents[2] / "openapi"
DOCUMENTS = ("service", "authorization", "web", "admin", "user-info")
PATHS = [str(OPENAPI / f"{name}.yaml") for name in DOCUMENTS]
ERROR = 0
"""How Spectral writes the severity of an error."""


def linted(linter: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [program(linter), "lint", "--format=json", *arguments, *PATHS]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def spectral(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What Spectral says of all documents: of each at least that it names no contact."""
    rules = tmp_path_factory.mktemp("spectral") / "rules.yaml"
    rules.write_text("extends: [spectral:oas]\n")
    result = linted("spectral", "--fail-severity", "error", "--ruleset", str(rules))
    remarks: list[dict[str, Any]] = json.loads(result.stdout)
    assert (result.returncode == 0) == all(it["severity"] != ERROR for it in remarks), result
    return remarks


@pytest.fixture(scope="module")
def redocly() -> dict[str, int]:
    """How many errors Redocly counts in each document."""
    result = linted("redocly")
    counts = map(int, re.findall(r'"totals": {\s*"errors": (\d+)', result.stdout))
    errors = dict(zip(DOCUMENTS, counts, strict=True))
    assert (result.returncode == 0) == (not any(errors.values())), result
    return errors


@pytest.mark.parametrize("name", DOCUMENTS)
def test_spectral_finds_no_error(name: str, spectral: list[dict[str, Any]]):
    remarks = [remark for remark in spectral if Path(remark["source"]).stem == name]
    assert "info-contact" in {remark["code"] for remark in remarks}  # the document was read
    assert [remark for remark in remarks if remark["severity"] == ERROR] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_redocly_finds_no_error(name: str, redocly: dict[str, int]):
    assert redocly[name] == 0

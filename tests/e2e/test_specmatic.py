"""Specmatic runs ``openapi/service.yaml`` against the mock, with the requests of ``examples/specmatic``.

It needs a Java machine; that its requests name every operation is tested without one.
"""

import os
import re
import subprocess
from pathlib import Path

import orjson
from tests.cli.conftest import Running
from tests.needs import package, program

from understudy.openapi.loader import load
from understudy.openapi.operations import operations

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "openapi" / "service.yaml"
EXAMPLES = ROOT / "examples" / "specmatic"


def test_every_operation_has_a_request_and_its_response():
    responses = {
        path.stem: orjson.loads(path.read_bytes())["http-response"]["status"]
        for path in EXAMPLES.glob("*.json")
    }
    first = {it.operation_id: int(next(iter(it.responses))) for it in operations(load(DOCUMENT))}
    del first["getOpenApi"]  # the document itself, with the address of the mock
    assert responses == first


def test_no_alias_hides_a_part_of_the_document_from_parsers_without_them():
    assert re.findall(r"(?m)^ *[^#\n]*: [&*]\w+ *$", DOCUMENT.read_text()) == []


def test_every_operation_passes(tmp_path: Path):
    java, jar = program("java"), package("specmatic") / "specmatic.jar"
    mock = Running(tmp_path)
    try:
        result = subprocess.run(
            [
                *(java, "-jar", str(jar), "test", str(DOCUMENT), f"--examples={EXAMPLES}"),
                *("--strict", f"--testBaseURL={mock.base_url}", "--filter=PATH!='/openapi'"),
                f"--junitReportDir={tmp_path}",
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            env={**os.environ, "IGNORE_INLINE_EXAMPLES": "true"},
        )
    finally:
        mock.stop()
    assert "Tests run: 10, Successes: 10, Failures: 0" in result.stdout, result.stdout

"""The protocol's own tools: its conformance suite, and its inspector, from npm.

Both need a newer Node.js than Debian has, which is a package on npm as well.
"""

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.cli.conftest import PATIENCE, UNDERSTUDY
from tests.needs import package

EXPECTED_FAILURES = Path(__file__).with_name("conformance.yaml")


def node(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a program of a package by the Node.js of npm, in a home of its own: the inspector writes there."""
    command = [str(package("node") / "bin" / "node"), str(package(program)), *arguments]
    with TemporaryDirectory() as home:
        return subprocess.run(
            command,
            env=os.environ | {"HOME": home},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )


def inspected(*arguments: str) -> dict[str, object]:
    """Returns what the inspector prints for a server and a method."""
    inspector = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    done = node(inspector, "--cli", *arguments)
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout)
    return result


def test_the_conformance_suite_passes(address, tmp_path):
    suite = ["--suite", "all", "--expected-failures", str(EXPECTED_FAILURES)]
    program = "@modelcontextprotocol/conformance/dist/index.js"
    done = node(program, "server", "--url", address, *suite, "--output-dir", str(tmp_path))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "✓ dns-rebinding-protection" in done.stdout


def test_the_inspector_calls_a_tool_by_http(address):
    call = ["--method", "tools/call", "--tool-name", "issue_token", "--tool-arg", "person=ada"]
    result = inspected(address, "--transport", "http", *call)
    assert result["isError"] is False
    assert isinstance(result["structuredContent"], dict)


def test_the_inspector_reads_the_resources_on_stdio(mock):
    listed = inspected(
        *("-e", f"UNDERSTUDY_URL={mock.url}"),
        *(("-e", f"PYTHONPATH={path}") if (path := os.environ.get("PYTHONPATH")) else ()),
        *(str(UNDERSTUDY), "mcp"),
        *("--method", "resources/list"),
    )
    assert len(listed["resources"]) == 3  # type: ignore[arg-type]  # a list, as the length shows

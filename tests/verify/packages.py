"""What the tests need of npm and PyPI: tools that open our files, and schemas that describe them.

It lies in ``~/.cache/understudy-formats`` and ``…-formats-py``, never in the repository; ``.ci/run`` puts it there, and
elsewhere a test whose package is missing is skipped.
"""

import os
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

PYTHON_TOOLS = Path.home() / ".cache" / "understudy-formats-py" / "bin"
MODULES = Path.home() / ".cache" / "understudy-formats" / "node_modules"
IS_REQUIRED = "UNDERSTUDY_REQUIRE_FORMATS" in os.environ

JUDGE_HAR = (
    "require(process.argv[1]).har(JSON.parse(require('fs').readFileSync(0)))"
    ".catch(e => { console.error(e.errors); process.exit(1) })"
)


def missing(name: str) -> NoReturn:
    """Skips a test whose tool is not there, or fails it where it must be."""
    message = f"{name} is not installed; .ci/run puts it into {MODULES.parent}"
    if IS_REQUIRED:
        pytest.fail(message)
    pytest.skip(message)


def package(name: str) -> Path:
    """Returns where a package lies, or skips the test."""
    found = MODULES / name
    if not found.exists():
        missing(name)
    return found


def har_faults(content: bytes | str) -> str:
    """Returns what har-validator finds wrong with an archive; nothing where it is one."""
    text = content.decode() if isinstance(content, bytes) else content
    command = ["node", "-e", JUDGE_HAR, str(package("har-validator"))]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr or "refused"

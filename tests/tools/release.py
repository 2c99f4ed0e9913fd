"""Tries a built release as its users would: ``python -m tests.tools.release dist``.

Installs the wheel into an empty environment, away from the checkout, and runs the mock, verify and
the pytest plugin from there. ``make release`` builds and then runs this.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]

ASK = """
import os, urllib.request
with urllib.request.urlopen(os.environ["UNDERSTUDY_BASE_URL"] + "/profiles/ada") as response:
    assert b"Ada Merrowdale" in response.read()
"""

TEST = """
import urllib.request


def test_the_plugin_starts_a_mock(understudy_world):
    with urllib.request.urlopen(f"{understudy_world.base_url}/profiles/ada") as response:
        assert response.status == 200
"""


def main(dist: Path) -> None:
    """Installs the wheel in `dist` into an empty environment, and runs what it brings.

    Raises:
        CalledProcessError: Something of it does not work.
    """
    (wheel,) = dist.resolve().glob("understudy_mock-*.whl")
    (_sdist,) = dist.resolve().glob("understudy_mock-*.tar.gz")
    with tempfile.TemporaryDirectory(prefix="understudy-release-") as place:
        directory = Path(place)
        venv.create(directory / "venv", with_pip=True)
        scripts = directory / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        python, understudy = str(scripts / "python"), str(scripts / "understudy")
        constraints = ["--constraint", str(ROOT / "constraints.txt")]
        _run(directory, python, "-m", "pip", "install", "--quiet", *constraints, _wanted(wheel))
        (directory / "test_release.py").write_text(TEST)
        _run(directory, understudy, "--version")
        _run(directory, understudy, "exec", "--", python, "-c", ASK)
        _run(directory, understudy, "verify", "--quiet", "--cases", "0")
        _run(directory, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_release.py")
    sys.stdout.write(f"{wheel.name} runs the mock, verify and the pytest plugin.\n")


def _wanted(wheel: Path) -> str:
    return f"understudy-mock[all] @ {wheel.as_uri()}"


def _run(directory: Path, *command: str) -> None:
    """Runs a command that sees neither this checkout nor its environment."""
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "UNDERSTUDY_")
    environment = {name: it for name, it in os.environ.items() if not name.startswith(hidden)}
    subprocess.run(command, cwd=directory, env=environment, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

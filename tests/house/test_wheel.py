"""The wheel has all that the command needs: documents and fixtures are inside."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that holds what a wheel unpacks to; the dependencies are those of this run."""
    place = tmp_path_factory.mktemp("wheel")
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(place),
    ]
    subprocess.run([*build, str(ROOT)], check=True)
    (wheel,) = place.glob("understudy_mock-*.whl")
    zipfile.ZipFile(wheel).extractall(place / "site")
    return place / "site"


def run(installed: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Runs the command from the wheel, far from the checkout."""
    program = f"import sys; sys.path.insert(0, {str(installed)!r}); from understudy.cli import main; main()"
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=installed)


def test_the_people_are_inside(installed: Path) -> None:
    said = json.loads(run(installed, "fixtures", "--list", "--json").stdout)
    assert len(said["people"]) >= 16
    assert said["applications"]


def test_the_console_is_inside(installed: Path) -> None:
    static = installed / "understudy" / "mock" / "console" / "static"
    assert {"index.html", "main.js", "console.css"} <= {path.name for path in static.iterdir()}
    assert (static / "views" / "traffic.js").is_file()


def test_the_mock_runs_from_it(installed: Path) -> None:
    asks = (
        "import os, httpx; "
        "print(httpx.get(os.environ['UNDERSTUDY_BASE_URL'] + '/profiles/ada').json()['display_name'])"
    )
    environment = f"import sys; sys.path.insert(0, {str(installed)!r})"
    (installed / "sitecustomize.py").write_text(environment)
    command = [sys.executable, "-m", "understudy", "exec", "--", sys.executable, "-c", asks]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        cwd=installed,
        env={"PYTHONPATH": str(installed), "PATH": ""},
    )
    assert done.stdout == "Ada Merrowdale\n"


def test_nothing_of_the_machine_is_inside(installed: Path) -> None:
    texts = [path for path in installed.rglob("*") if path.suffix in {".py", ".yaml", ".html"}]
    assert any(path.name == "service.yaml" for path in texts)
    assert [path for path in texts if str(ROOT) in path.read_text()] == []

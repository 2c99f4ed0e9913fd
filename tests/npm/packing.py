"""Builds and packs ``src/understudy-js``, and lays out projects of npm that have it installed.

Tools and runners lie in ``build/tools/js``, where ``make tools`` installs the versions that the package and
the example name; a test without them is skipped.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock
from tests.house.documentation import ROOT
from tests.needs import JS_MODULES, js_package

PACKED = ROOT / "build" / "packed"
PROJECTS = Path(__file__).parent / "projects"
DAY = 24 * 60 * 60
MADE = {"node_modules", "dist", "generated", "python", "__pycache__"}


def tarball() -> Path:
    """Returns the package as ``npm pack`` makes it, built once for each state of the sources."""
    for name in ("typescript", "openapi-typescript"):
        js_package(name)
    PACKED.mkdir(parents=True, exist_ok=True)
    place = PACKED / f"understudy-js-{_state()}.tgz"
    with FileLock(PACKED / "packing.lock"):
        if not place.exists():
            _remove_old_tarballs()
            with tempfile.TemporaryDirectory(dir=PACKED) as directory:
                _packed(Path(directory)).replace(place)
    return place


def _remove_old_tarballs() -> None:
    """Removes what was built before yesterday; another run may be unpacking a younger one."""
    newest = max((path.stat().st_mtime for path in PACKED.glob("*.tgz")), default=0)
    for path in PACKED.glob("*.tgz"):
        if path.stat().st_mtime < newest - DAY:
            path.unlink()


def _sources() -> Iterator[Path]:
    for top in ("src", "openapi", "fixtures"):
        for directory, names, files in os.walk(ROOT / top):
            names[:] = sorted(set(names) - MADE)
            yield from (Path(directory) / name for name in sorted(files))
    yield from (ROOT / name for name in ("pyproject.toml", "README.md", "LICENSE"))


def _state() -> str:
    state = hashlib.sha256()
    for path in _sources():
        state.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return state.hexdigest()[:16]


def _packed(directory: Path) -> Path:
    for path in _sources():
        copy = directory / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    package = directory / "src" / "understudy-js"
    (package / "node_modules").symlink_to(JS_MODULES)
    done = subprocess.run(
        ["npm", "pack", "--silent", "--pack-destination", str(directory)],
        cwd=package,
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (packed,) = directory.glob("understudy-js-*.tgz")
    return packed


def installed(place: Path) -> Path:
    """Lays out ``node_modules`` with the package and links to everything else; returns the package."""
    packed = tarball()
    modules = place / "node_modules"
    modules.mkdir(parents=True)
    for entry in JS_MODULES.iterdir():
        if entry.name != ".bin":
            (modules / entry.name).symlink_to(entry)
    subprocess.run(["tar", "-xzf", str(packed), "-C", str(modules)], check=True)
    package = (modules / "package").rename(modules / "understudy-js")
    _link_programs(modules, package)
    return package


def _link_programs(modules: Path, package: Path) -> None:
    programs = modules / ".bin"
    programs.mkdir()
    for program in (JS_MODULES / ".bin").iterdir():
        (programs / program.name).symlink_to(program)
    (programs / "understudy-js").symlink_to(package / "dist" / "esm" / "launcher" / "cli.js")


def project(place: Path, source: Path) -> Path:
    """Copies a project and installs the package into it."""
    shutil.copytree(source, place, ignore=shutil.ignore_patterns("node_modules"))
    installed(place)
    return place


def environment(**variables: str) -> dict[str, str]:
    """Returns an environment in which this run's ``understudy`` is on PATH, and no mock is named."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("UNDERSTUDY_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "PATH": path, "NO_COLOR": "1", **variables}


def run(place: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a program of ``node_modules`` in a project."""
    program = str(place / "node_modules" / ".bin" / command[0])
    return subprocess.run(
        [program, *command[1:]],
        cwd=place,
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

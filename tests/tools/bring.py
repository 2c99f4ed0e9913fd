"""Brings the tools that tests use beside the packages of pyproject.toml: ``make tools``.

Which they are, and in which versions, stands in ``tools.toml``. What an index of packages has goes into
``build/tools`` of the checkout, so that nothing is written below the home directory but the caches of pip and
npm; what only the machine can have is said as a line for apt. ``make test`` calls this too and goes on without
what cannot be had. Only the standard library is imported: it runs before anything is installed.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "build" / "tools"
PYTHON = PLACE / "python"
NPM = PLACE / "npm"
JS = PLACE / "js"
DONE = ".installed"
"""The file that says which versions a directory has; it is written last."""

TOOLS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("tools.toml").read_text())
LAST_LINES = 3


class Unavailable(Exception):
    """What an index or the machine does not give; the text says why in one line."""


def find_program(name: str) -> str | None:
    """Returns the path of a program of the machine, or of one that does as well."""
    instead = TOOLS["programs"].get(name, {}).get("instead", ())
    path = f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin"  # Debian has servers there
    return next(filter(None, (shutil.which(it, path=path) for it in (name, *instead))), None)


def absent_packages() -> list[str]:
    """Returns the packages of Debian whose programs are not there."""
    programs = TOOLS["programs"]
    return sorted(programs[name]["package"] for name in programs if find_program(name) is None)


def js_packages() -> dict[str, str]:
    """Returns what the npm package and its example name, with versions."""
    found: dict[str, str] = {}
    for name in TOOLS["js"]["manifests"]:
        manifest = json.loads((ROOT / name).read_text())
        for kind in ("dependencies", "devDependencies"):
            found |= manifest.get(kind, {})
    found.pop("understudy-js", None)
    return found


def _from_pip(place: Path, wanted: Sequence[str]) -> None:
    venv.create(place, with_pip=True)
    _run([str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", *wanted], place)


def _from_npm(place: Path, wanted: Sequence[str]) -> None:
    npm = find_program("npm")
    assert npm is not None
    place.mkdir(parents=True)
    # In its directory, as --prefix would name another configuration of the machine, certificates included.
    (place / "package.json").write_text("{}")
    # Where no registry can be reached npm tries each package for minutes: ask once for one.
    _run([npm, "view", wanted[0], "version", "--fetch-retries=0", "--fetch-timeout=30000"], place)
    options = ("--silent", "--no-audit", "--no-fund", "--no-package-lock", "--prefer-offline")
    _run([npm, "install", *options, *wanted], place)


def _run(command: Sequence[str], place: Path) -> None:
    """Runs an installer in a directory, without its own output.

    Raises:
        Unavailable: It failed.
    """
    environment = {**os.environ, "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1"}
    done = subprocess.run(
        command,
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise Unavailable("; ".join(said[-LAST_LINES:]) or f"{command[0]} failed")


def _places() -> Iterator[tuple[Path, list[str], Callable[[Path, Sequence[str]], None]]]:
    """Yields each directory with what goes into it, and who installs it."""
    yield PYTHON, [f"{name}=={version}" for name, version in TOOLS["python"].items()], _from_pip
    for place, packages in ((NPM, TOOLS["npm"]), (JS, js_packages())):
        yield place, [f"{name}@{version}" for name, version in packages.items()], _from_npm


def _bring(
    place: Path, wanted: list[str], install: Callable[[Path, Sequence[str]], None]
) -> str | None:
    """Fills a directory, unless it has the very versions; returns why it could not."""
    state = hashlib.sha256("\n".join(sorted(wanted)).encode()).hexdigest()
    done = place / DONE
    if done.exists() and done.read_text() == state:
        return None
    if install is _from_npm and None in (find_program("npm"), find_program("node")):
        return "npm is not installed"
    shutil.rmtree(place, ignore_errors=True)
    sys.stdout.write(f"{place.relative_to(ROOT)}: installing {len(wanted)} tools of the tests\n")
    sys.stdout.flush()
    try:
        install(place, wanted)
    except Unavailable as error:
        return str(error)
    done.write_text(state)
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Brings the tools; returns 1 if one of them cannot be had and all were asked for."""
    parser = argparse.ArgumentParser(description="Bring the tools of the tests.")
    parser.add_argument("--apt", action="store_true", help="only print the packages that apt has")
    parser.add_argument("--if-possible", action="store_true", help="go on without what is missing")
    parser.add_argument("--need", nargs="+", default=[], help="only fail where one is missing")
    parser.add_argument("--only", choices=("python", "npm", "js"), help="fill this directory alone")
    options = parser.parse_args(arguments)
    needed = [name for name in options.need if find_program(name) is None]
    if needed:
        sys.stdout.write(f"This needs {' and '.join(needed)}; make tools says how to get it.\n")
    if options.need:
        return 1 if needed else 0
    absent = absent_packages()
    if options.apt:
        sys.stdout.write("".join(f"{name}\n" for name in absent))
        return 0
    if absent and not options.if_possible:
        sys.stdout.write(f"First, as root: apt-get install --yes {' '.join(absent)}\n")
    refused = {
        place: _bring(place, wanted, install)
        for place, wanted, install in _places()
        if options.only in (None, place.name)
    }
    if options.if_possible:
        return 0  # the closing line of the tests says what is missing
    for place, why in refused.items():
        if why is not None:
            sys.stdout.write(f"{place.relative_to(ROOT)} could not be filled: {why}\n")
    return 1 if absent or any(refused.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

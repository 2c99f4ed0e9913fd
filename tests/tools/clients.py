"""Runs clients as they come from the indexes against the mock, and writes which versions work.

``make clients`` installs the newest versions; a client that breaks is named with what it printed. The
table is ``docs/explanation/clients.md``.
"""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final

import yaml

from understudy.terminal import echo

ROOT = Path(__file__).parents[2]
CLIENTS = Path(__file__).with_suffix(".yaml")
PAGE = ROOT / "docs" / "explanation" / "clients.md"
PLACE = ROOT / "build" / "clients"
PYTHON = PLACE / "python" / "bin" / "python"
ROWS = "| client | version | used for |\n|---|---|---|\n"
"""Begins the table, which is the end of the page."""

TRIED: Final = "Tried on "
"""Begins the line before the table, which says when."""

LONGEST = 300
"""Seconds of one client."""

Client = Mapping[str, Any]


def load() -> Sequence[Client]:
    """Returns the clients of the table."""
    clients: Sequence[Client] = yaml.safe_load(CLIENTS.read_text(encoding="utf-8"))
    return clients


def install(clients: Sequence[Client]) -> None:
    """Installs the newest version of every package."""
    wheels, modules = (
        sorted({package for client in clients for package in client.get(key, ())})
        for key in ("packages", "npm")
    )
    shutil.rmtree(PLACE, ignore_errors=True)  # npm keeps what is installed, however old
    PLACE.mkdir(parents=True)
    subprocess.run([sys.executable, "-m", "venv", PYTHON.parents[1]], check=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--upgrade", *wheels], check=True)
    quiet = ("--no-audit", "--no-fund", "--loglevel", "error")
    subprocess.run(["npm", "install", *quiet, "--prefix", PLACE, *modules], check=True)


def failure(client: Client) -> str | None:
    """Runs a client's program beside a mock; returns what it printed if it failed, or None."""
    is_python = "packages" in client
    directory = PLACE / client["name"]  # below it, node finds the modules
    shutil.rmtree(directory, ignore_errors=True)  # a generator refuses what it wrote before
    directory.mkdir(parents=True)
    program = directory / ("client.py" if is_python else "client.mjs")
    program.write_text(client["program"], encoding="utf-8")
    done = subprocess.run(
        [
            *(Path(sys.executable).with_name("understudy"), "exec", "--log", "off"),
            *("--choose", "token-endpoint-basic-auth=accept"),
            *(f"--as-host={host}" for host in client.get("hosts", ())),
            "--",
            *("env", f"DOCUMENT={ROOT / 'openapi' / 'service.yaml'}"),
            *(PYTHON if is_python else "node", program),
        ],
        cwd=directory,
        check=False,
        timeout=LONGEST,
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr if done.returncode else None


def version(client: Client) -> str:
    """Returns the version of a client that is installed."""
    if "npm" in client:
        manifest = PLACE / "node_modules" / client["npm"][0] / "package.json"
        return str(json.loads(manifest.read_text(encoding="utf-8"))["version"])
    places = map(str, PLACE.glob("python/lib/python*/site-packages"))
    found = distributions(name=client["packages"][0], path=list(places))
    return next(iter(found)).version


def main() -> int:
    """Runs every client, writes the page, and returns the exit status."""
    clients = load()
    install(clients)
    failures = {client["name"]: failure(client) for client in clients}
    for name, printed in failures.items():
        echo(f"{'works ' if printed is None else 'FAILED'} {name} {printed or ''}")
    rows = "".join(
        f"| {client['name']} | {version(client)} | {client['what']} |\n"
        for client in clients
        if failures[client["name"]] is None
    )
    before = PAGE.read_text(encoding="utf-8").partition(ROWS)[0].partition(TRIED)[0]
    day = time.strftime("%Y-%m-%d", time.gmtime())
    PAGE.write_text(f"{before}{TRIED}{day}:\n\n{ROWS}{rows}", encoding="utf-8")
    return int(any(failures.values()))


if __name__ == "__main__":
    sys.exit(main())

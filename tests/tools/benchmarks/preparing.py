"""Installs the peers, and writes the files that servers and loads read, once for a cache directory.

Nothing of it is committed: packages come from npm at ``make bench``, people from ``understudy
fixtures``.
"""

import compileall
import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import orjson
from tests.tools.benchmarks.peers import CROWD, Peer, package_directory, slugs_of
from tests.tools.benchmarks.plain import plain_document
from tests.tools.benchmarks.workloads import workloads

from understudy.openapi.bundled import fixtures_directory, openapi_directory

CROWDS = (100, 10_000, CROWD)
"""People of each of the fixtures."""

PRINCIPALS = 10_000
"""People of whom each whose profile is public has a token."""


STUBS = "stubbed"
"""Fixtures in the cache whose lookup of one person a stub answers."""


def install(peer: Peer, cache: Path) -> str | None:
    """Installs a peer from npm, once for its versions; returns why it cannot run, or None."""
    lacking = peer.lacking()
    if lacking is not None or not peer.packages:
        return lacking
    directory = package_directory(cache, peer.packages)
    marker = directory / "installed.json"
    if marker.exists() and json.loads(marker.read_text()) == list(peer.packages):
        return None
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "package.json").write_text('{"private": true}')
    # Scripts of packages are not run: what they would download is not part of the package.
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    npm = subprocess.run(
        [*command, *peer.packages], cwd=directory, capture_output=True, text=True, check=False
    )
    if npm.returncode:
        return f"npm install {' '.join(peer.packages)} failed: {npm.stderr.strip()[-300:]}"
    marker.write_text(json.dumps(peer.packages))
    return None


def install_programs(missing: Sequence[str]) -> None:
    """Installs programs by apt-get where this user may; elsewhere each peer says what it lacks."""
    if not missing or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    subprocess.run(["apt-get", "update", "-qq"], check=False)
    install_them = ["apt-get", "install", "-qq", "--yes", "--no-install-recommends", *missing]
    subprocess.run(install_them, check=False)


def compile_modules(package: Path) -> None:
    """Compiles the modules of a package to bytecode, as pip does when it installs one.

    An editable package is compiled by whoever imports it first, and again at each start where
    ``PYTHONDONTWRITEBYTECODE`` is set: a third of what a start of understudy then takes.
    """
    compileall.compile_dir(package, quiet=1)


def write_inputs(cache: Path) -> None:
    """Writes the documents, stubs, people and tokens that servers are started with."""
    cache.mkdir(parents=True, exist_ok=True)
    for state in cache.glob("state-*"):  # of earlier runs
        shutil.rmtree(state)
    plain = plain_document(openapi_directory() / "service.yaml", cache / "plain.json")
    _write_stubs(json.loads(plain.read_text()), cache)
    _write_people(cache)
    _write_tokens(cache)


def tokens_of(cache: Path) -> Path:
    """Returns the file of tokens, one a line; the fixtures that know them lie beside it."""
    return cache / "tokens.txt"


def _write_stubs(document: dict[str, dict[str, dict[str, dict[str, object]]]], cache: Path) -> None:
    """Writes a stub for each request, with the document's example for a body."""
    examples = document["components"]["examples"]
    bodies = {
        "/profiles/ada": examples["publicProfile"]["value"],
        "/me/profile": examples["fullProfile"]["value"],
    }
    directory = cache / "wiremock" / "mappings"
    directory.mkdir(parents=True, exist_ok=True)
    expectations = []
    for number, work in enumerate(workloads()):
        path = work.path.partition("?")[0]
        body = bodies.get(path, {"image_id": "0" * 32, "rating": "G"})
        stub = {
            "request": {"method": work.method, "urlPath": f"/v3{path}"},
            "response": {"status": 200, "jsonBody": body},
        }
        (directory / f"{number}.json").write_text(json.dumps(stub))
        expectations.append(
            {
                "httpRequest": {"method": work.method, "path": f"/v3{path}"},
                "httpResponse": {"statusCode": 200, "body": {"type": "JSON", "json": body}},
            }
        )
    (cache / "mockserver.json").write_text(json.dumps(expectations))
    stub = {
        "operation": "GET /profiles/{profileIdentifier}",
        "when": {"path": {"profileIdentifier": "ada"}},
        "response": {"body": bodies["/profiles/ada"]},
    }
    ours = _fixtures(cache / STUBS) / "stubs"
    ours.mkdir(exist_ok=True)
    (ours / "lookup.yaml").write_text(json.dumps(stub))


def _write_people(cache: Path) -> None:
    """Makes the largest of the fixtures, and the others as its beginnings."""
    largest = cache / f"crowd-{CROWD}"
    if not largest.exists():
        understudy = Path(sys.executable).with_name("understudy")
        unfinished = cache / "unfinished"  # of a run that was interrupted, or is about to be
        shutil.rmtree(unfinished, ignore_errors=True)
        people = ["--people", str(CROWD), "--seed", "7", "--out", str(unfinished)]
        subprocess.run([understudy, "fixtures", *people], check=True)
        unfinished.rename(largest)
    (invented,) = (largest / "people").glob("*.jsonl")
    for count in CROWDS:
        slugs = slugs_of(cache, count)
        if slugs.exists():
            continue
        with invented.open("rb") as file:
            lines = list(itertools.islice(file, count))
        if count != CROWD:
            people_directory = _fixtures(cache / f"crowd-{count}") / "people"
            (people_directory / invented.name).write_bytes(b"".join(lines))
        people_of = (orjson.loads(line) for line in lines)
        shown = [person["slug"] for person in people_of if person["visibility"] == "public"]
        slugs.write_text("".join(f"{slug}\n" for slug in shown))


def _write_tokens(cache: Path) -> None:
    """Makes fixtures of as many tokens as people, each of another person, who has limits of her own."""
    tokens = tokens_of(cache)
    if tokens.exists():
        return
    slugs = slugs_of(cache, PRINCIPALS).read_text().split()
    directory = _fixtures(cache / "principals", cache / f"crowd-{PRINCIPALS}")
    with (directory / "tokens.yaml").open("a") as file:
        for slug in slugs:
            scopes = "[auth, 'avatar-profile:read']"
            file.write(f"- {{token: of-{slug}, person: {slug}, scopes: {scopes}, about: Made.}}\n")
    tokens.write_text("".join(f"of-{slug}\n" for slug in slugs))


def _fixtures(directory: Path, source: Path | None = None) -> Path:
    """Copies fixtures, the bundled ones unless others are named; returns where to."""
    shutil.copytree(source or fixtures_directory(), directory, dirs_exist_ok=True)
    return directory

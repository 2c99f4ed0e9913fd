"""The servers that are measured: how each is installed and started, at its quietest and best."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.quality.benchmarks.plain import plain_document
from tests.quality.benchmarks.workloads import (
    Workload,
    in_worlds,
    our_grants,
    their_grants,
    workloads,
)

from understudy.openapi.bundled import openapi_directory

HERE = Path(__file__).parent
PACKAGES = (
    "@stoplight/prism-cli@5.16.0",
    "@mockoon/cli@9.9.0",
    "wiremock@3.13.2",
    "specmatic@2.55.1",
    "@scalar/mock-server@0.14.4",
    "oauth2-mock-server@9.3.0",
    "@hono/node-server@2.1.8",
    "hono@4.13.19",
)

Works = Callable[[], list[Workload]]


@dataclass(frozen=True)
class Peer:
    """A server.

    Attributes:
        name: In tables.
        command: Given a port and the cache directory, what starts it.
        prefix: Before every path.
        needs: Programs without which it is skipped.
        works: What it is asked to do.
    """

    name: str
    command: Callable[[int, Path], Sequence[str]]
    prefix: str = ""
    needs: tuple[str, ...] = ()
    works: Works = workloads

    def lacking(self) -> str | None:
        """Returns what is missing to start it, or None."""
        missing = [program for program in self.needs if shutil.which(program) is None]
        return f"{missing[0]} is not installed" if missing else None


def mock_command(*options: str) -> Callable[[int, Path], Sequence[str]]:
    """Returns what serves our mock without limits and without a log."""
    understudy = str(Path(sys.executable).with_name("understudy"))
    quiet = ("--log", "off", "--choose", "rate-limits=off")

    def command(port: int, cache: Path) -> Sequence[str]:
        filled = (text.format(port=port, cache=cache) for text in options)
        ports = ("--port", str(port), "--auth-port", "0")
        return (understudy, "serve", *ports, *quiet, *filled)

    return command


def _bare(port: int, _cache: Path) -> Sequence[str]:
    return (sys.executable, str(HERE / "bare.py"), str(port))


def _npm(program: str, *arguments: str) -> Callable[[int, Path], Sequence[str]]:
    def command(port: int, cache: Path) -> Sequence[str]:
        filled = (text.format(port=port, cache=cache) for text in arguments)
        return (str(cache / "node_modules" / ".bin" / program), *filled)

    return command


def _scalar(port: int, cache: Path) -> Sequence[str]:
    return ("node", str(cache / "scalar.mjs"), str(cache / "plain.json"), str(port))


PRISM = "Prism"
SCALAR = "Scalar mock server"
BARE = "bare ASGI"
OURS = "understudy"
OURS_UNJUDGED = "understudy, responses unjudged"
OURS_CROWDED = "understudy, 100,000 people"
OUR_WORLDS = "understudy, worlds"
OURS_KEPT = "understudy, state on disk"
OUR_GRANTS = "understudy, authorization"
THEIR_GRANTS = "oauth2-mock-server"

NODE, JAVA = ("node", "npm"), ("node", "npm", "java")


def peers(crowd: Path | None) -> list[Peer]:
    """Returns the servers, ours first.

    Args:
        crowd: A fixtures directory of 100,000 people.
    """
    crowded = (
        [] if crowd is None else [Peer(OURS_CROWDED, mock_command("--fixtures", str(crowd)), "/v3")]
    )
    prism = _npm(
        "prism",
        *("mock", "-h", "127.0.0.1", "-p", "{port}", "--verboseLevel", "silent"),
        "{cache}/plain.json",
    )
    mockoon = _npm(
        "mockoon-cli",
        *("start", "--data", "{cache}/plain.json", "--port", "{port}"),
        *("--disable-log-to-file", "--disable-admin-api"),
    )
    wiremock = _npm(
        "wiremock",
        *("--port", "{port}", "--root-dir", "{cache}/wiremock"),
        *("--no-request-journal", "--disable-banner"),
    )
    return [
        Peer(OURS, mock_command(), "/v3"),
        Peer(OURS_UNJUDGED, mock_command("--validate-responses", "off"), "/v3"),
        *crowded,
        Peer(OURS_KEPT, mock_command("--state", "{cache}/state-{port}"), "/v3"),
        Peer(OUR_WORLDS, mock_command(), works=in_worlds),
        Peer(BARE, _bare),
        Peer(PRISM, prism, "", NODE),
        Peer("Mockoon", mockoon, "/v3", NODE),
        Peer("WireMock", wiremock, "/v3", JAVA),
        Peer(
            "Specmatic",
            _npm("specmatic", "stub", "{cache}/plain.json", "--port", "{port}"),
            "",
            JAVA,
        ),
        Peer(SCALAR, _scalar, "", NODE),
        Peer(OUR_GRANTS, mock_command("--single-port"), works=our_grants),
        Peer(
            THEIR_GRANTS,
            _npm("oauth2-mock-server", "-a", "127.0.0.1", "-p", "{port}"),
            needs=NODE,
            works=their_grants,
        ),
    ]


def install(cache: Path) -> str | None:
    """Installs the peers into a directory, once; returns why not, or None."""
    cache.mkdir(parents=True, exist_ok=True)
    plain_document(openapi_directory() / "service.yaml", cache / "plain.json")
    shutil.copy(HERE / "scalar.mjs", cache)  # node looks for packages from where a script lies
    _write_wiremock_stubs(cache)
    marker = cache / "installed.json"
    if marker.exists() and json.loads(marker.read_text()) == list(PACKAGES):
        return None
    if shutil.which("npm") is None:
        return "npm is not installed"
    (cache / "package.json").write_text('{"private": true}')
    command = ["npm", "install", "--no-audit", "--no-fund", "--silent", *PACKAGES]
    ran = subprocess.run(command, cwd=cache, capture_output=True, text=True, check=False)
    if ran.returncode:
        return f"npm install failed: {ran.stderr.strip()[-300:]}"
    marker.write_text(json.dumps(PACKAGES))
    return None


def _write_wiremock_stubs(cache: Path) -> None:
    """Writes a stub for each request, with the document's example for a body."""
    document = json.loads((cache / "plain.json").read_text())
    examples = document["components"]["examples"]
    profile = examples["fullProfile"]["value"]
    bodies = {"/profiles/ada": examples["publicProfile"]["value"], "/me/profile": profile}
    directory = cache / "wiremock" / "mappings"
    directory.mkdir(parents=True, exist_ok=True)
    for number, work in enumerate(workloads()):
        body = bodies.get(work.path, {"image_id": "0" * 32, "rating": "G"})
        stub = {
            "request": {"method": work.method, "url": f"/v3{work.path}"},
            "response": {"status": 200, "jsonBody": body},
        }
        (directory / f"{number}.json").write_text(json.dumps(stub))

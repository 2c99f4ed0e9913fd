"""The servers that are measured: what each needs, and how it is started at its quietest and best."""

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.tools.benchmarks.workloads import (
    Workload,
    in_worlds,
    our_grants,
    random_lookup,
    sampled,
    their_grants,
    workloads,
)

HERE = Path(__file__).parent
FORECAST = HERE / "forecast.yaml"

CROWD = 100_000
"""People in the largest of the fixtures."""

Command = Callable[[int, Path], Sequence[str]]
Works = Callable[[Path], list[Workload]]
"""Given the cache directory, what a server is asked to do."""

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
OUR_SAMPLES = "understudy, another document"
PRISM_SAMPLES = "Prism, another document"

_SCALAR = ("@scalar/mock-server@0.14.4", "@hono/node-server@2.1.8", "hono@4.13.19")

_DEBIAN = {"java": "default-jre-headless", "node": "nodejs"}
"""Program to Debian's package of it, where that has another name."""


def _ordinary(_cache: Path) -> list[Workload]:
    return workloads()


@dataclass(frozen=True)
class Peer:
    """A server.

    Attributes:
        name: In tables.
        command: Given a port and the cache directory, what starts it.
        prefix: Before every path.
        programs: Programs without which it cannot run.
        packages: What npm installs for it, the one that it is known by first.
        works: What it is asked to do.
        warm_up: Seconds of the same load before one counts.
    """

    name: str
    command: Command
    prefix: str = ""
    programs: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    works: Works = _ordinary
    warm_up: int = 0

    def lacking(self) -> str | None:
        """Returns which program is missing, and how to install it, or None."""
        for program in self.programs:
            if shutil.which(program) is None:
                return (
                    f"{program} is not installed: apt-get install {_DEBIAN.get(program, program)}"
                )
        return None


def mock_command(*options: str, limits: str = "off") -> Command:
    """Returns what serves our mock without a log.

    Args:
        options: Of ``understudy serve``; ``{cache}`` and ``{port}`` are filled in.
        limits: The option of the switch ``rate-limits``.
    """
    understudy = str(Path(sys.executable).with_name("understudy"))
    quiet = ("--log", "off", "--choose", f"rate-limits={limits}")

    def command(port: int, cache: Path) -> Sequence[str]:
        ports = ("--port", str(port), "--auth-port", "0")
        return (understudy, "serve", *ports, *quiet, *_filled(options, port, cache))

    return command


def peers() -> list[Peer]:
    """Returns the servers, ours first."""
    return [
        *_ours(),
        Peer(BARE, _bare, works=_also_random),
        *_from_npm(),
        *_from_npm_for_one_work(),
    ]


def _also_random(cache: Path) -> list[Workload]:
    """Returns the ordinary works, and the one whose requests take wrk longer to choose."""
    return [*_ordinary(cache), random_lookup(slugs_of(cache, CROWD))]


def bare_and_prism() -> tuple[Peer, Peer]:
    """Returns the two that growth is compared with."""
    return Peer(BARE, _bare), _prism(PRISM, "{cache}/plain.json")


def peers_on(document: Path) -> tuple[Peer, Peer]:
    """Returns the two that serve any document, on this one."""
    return _prism(PRISM, str(document)), _on_node(SCALAR, _scalar(_SCALAR, document), _SCALAR)


def crowded(people: int) -> Peer:
    """Returns our mock with so many people more."""
    return Peer(
        OURS_CROWDED if people == CROWD else f"understudy, {people:,} people",
        mock_command("--fixtures", f"{{cache}}/crowd-{people}"),
        "/v3",
        works=lambda cache: [random_lookup(slugs_of(cache, people)), workloads()[0]],
    )


def slugs_of(cache: Path, people: int) -> Path:
    """Returns the file of the slugs of so many people."""
    return cache / f"crowd-{people}.txt"


def package_directory(cache: Path, packages: Sequence[str]) -> Path:
    """Returns where npm installs the packages of one peer."""
    return cache / "npm" / packages[0].strip("@").replace("/", "-")


def _ours() -> list[Peer]:
    other = mock_command("--document", str(FORECAST))
    return [
        Peer(OURS, mock_command(), "/v3"),
        Peer(OURS_UNJUDGED, mock_command("--validate-responses", "off"), "/v3"),
        Peer(OURS_KEPT, mock_command("--state", "{cache}/state-{port}"), "/v3"),
        crowded(CROWD),
        Peer(OUR_WORLDS, mock_command(), works=lambda _cache: in_worlds()),
        Peer(OUR_GRANTS, mock_command("--single-port"), works=lambda _cache: our_grants()),
        Peer(OUR_SAMPLES, other, works=lambda _cache: sampled()),
    ]


def _from_npm() -> list[Peer]:
    wiremock, specmatic = ("wiremock@3.13.2",), ("specmatic@2.55.1",)
    mockserver, mockoon = ("mockserver-node@8.0.0",), ("@mockoon/cli@9.9.0",)
    return [
        _prism(PRISM, "{cache}/plain.json"),
        _on_node(
            "Mockoon",
            _npm(
                mockoon,
                *("mockoon-cli", "start", "--data", "{cache}/plain.json", "--port", "{port}"),
                *("--disable-log-to-file", "--disable-admin-api"),
            ),
            mockoon,
            "/v3",
        ),
        _on_java(
            "WireMock",
            _npm(
                wiremock,
                *("wiremock", "--port", "{port}", "--root-dir", "{cache}/wiremock"),
                *("--no-request-journal", "--disable-banner"),
            ),
            wiremock,
            "/v3",
        ),
        _on_java("MockServer", _mockserver(mockserver), mockserver, "/v3"),
        _on_java(
            "Specmatic",
            _npm(specmatic, "specmatic", "stub", "{cache}/plain.json", "--port", "{port}"),
            specmatic,
        ),
        _on_node(SCALAR, _scalar(_SCALAR), _SCALAR),
    ]


def _from_npm_for_one_work() -> list[Peer]:
    oauth = ("oauth2-mock-server@9.3.0",)
    start = _npm(oauth, "oauth2-mock-server", "-a", "127.0.0.1", "-p", "{port}")
    return [
        replace(_on_node(THEIR_GRANTS, start, oauth), works=lambda _cache: their_grants()),
        replace(_prism(PRISM_SAMPLES, str(FORECAST)), works=lambda _cache: sampled()),
    ]


def _on_node(name: str, command: Command, packages: tuple[str, ...], prefix: str = "") -> Peer:
    return Peer(name, command, prefix, ("node", "npm"), packages, warm_up=1)


def _on_java(name: str, command: Command, packages: tuple[str, ...], prefix: str = "") -> Peer:
    return Peer(name, command, prefix, ("java", "node", "npm"), packages, warm_up=1)


def _prism(name: str, document: str) -> Peer:
    packages = ("@stoplight/prism-cli@5.16.0",)
    start = ("prism", "mock", "-h", "127.0.0.1", "-p", "{port}", "--verboseLevel", "silent")
    return _on_node(name, _npm(packages, *start, document), packages)


def _bare(port: int, _cache: Path) -> Sequence[str]:
    return (sys.executable, str(HERE / "bare.py"), str(port))


def _npm(packages: Sequence[str], program: str, *arguments: str) -> Command:
    def command(port: int, cache: Path) -> Sequence[str]:
        modules = package_directory(cache, packages) / "node_modules"
        return (str(modules / ".bin" / program), *_filled(arguments, port, cache))

    return command


def _scalar(packages: Sequence[str], document: Path | None = None) -> Command:
    def command(port: int, cache: Path) -> Sequence[str]:
        script = package_directory(cache, packages) / "scalar.mjs"
        # node looks for packages from where a script lies
        shutil.copy(HERE / "scalar.mjs", script)
        return ("node", str(script), str(document or cache / "plain.json"), str(port))

    return command


def _mockserver(packages: Sequence[str]) -> Command:
    def command(port: int, cache: Path) -> Sequence[str]:
        package = package_directory(cache, packages) / "node_modules" / "mockserver-node"
        (jar,) = package.glob("*.jar")
        expectations = f"-Dmockserver.initializationJsonPath={cache / 'mockserver.json'}"
        quiet = ("-Dmockserver.logLevel=OFF", "-Dmockserver.disableLogging=true")
        return ("java", expectations, *quiet, "-jar", str(jar), "-serverPort", str(port))

    return command


def _filled(arguments: Sequence[str], port: int, cache: Path) -> Sequence[str]:
    return [text.format(port=port, cache=cache) for text in arguments]

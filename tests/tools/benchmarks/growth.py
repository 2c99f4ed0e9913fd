"""Measures how the mock, verify and generate grow: with people, worlds, journal, connections, rules, cases."""

import http.client
import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from tests.tools.benchmarks import processes
from tests.tools.benchmarks.figures import Growth
from tests.tools.benchmarks.loads import NotServed
from tests.tools.benchmarks.measuring import Server, served
from tests.tools.benchmarks.peers import OURS, Peer, bare_and_prism, crowded, mock_command, slugs_of
from tests.tools.benchmarks.preparing import CROWDS, install
from tests.tools.benchmarks.workloads import Workload, random_lookup, workloads

from understudy.interface.rules import load_rules
from understudy.openapi.bundled import openapi_directory

CONNECTIONS = (1, 4, 16, 64, 256)
JOURNAL = (100, 1_000, 10_000, 100_000)
WORLDS = (10, 100, 1_000, 10_000)
"""The default one included; a mock has no more than the last."""

SHARES = (8, 4, 2, 1)
"""One rule of so many is judged."""

COUNTS = (7, 72, 720)
"""Cases of each operation; the last makes 10,080."""

REPEATED = 9
"""Times that one request is timed."""

RATE, MEGABYTES, MILLISECONDS = "requests a second", "MB", "ms"
PROCESSOR = "seconds of processor"
PAGES = "The first page of the list of worlds, by how many there are"
GENERATED = "Generate by cases"
LOOKUP = workloads()[0]

Points = dict[int, float]
Series = dict[str, Points]


def growths(cache: Path, seconds: int) -> tuple[list[Growth], list[str]]:
    """Measures what grows; returns it, and a line for each part that could not be measured.

    Args:
        cache: Where peers are installed and inputs lie.
        seconds: Of each load.
    """
    measured: list[Growth] = []
    reasons = []
    for measure in (_connections, _people, _worlds, _journal, _rules, _cases):
        try:
            measured += measure(cache, seconds)
        except (NotServed, OSError, RuntimeError) as reason:
            reasons.append(f"growth, {measure.__name__.strip('_')}: {reason}")
    return measured, reasons


def _connections(cache: Path, seconds: int) -> Iterator[Growth]:
    rates: Series = {}
    latencies: Series = {}
    bare, prism = bare_and_prism()
    for peer in (Peer(OURS, mock_command(), "/v3"), bare, prism):
        if install(peer, cache) is not None:
            continue  # the table of the peers says why
        with served(peer, cache, [LOOKUP]) as server:
            for connections in CONNECTIONS:
                load = server.load(LOOKUP, seconds, connections)
                rates.setdefault(peer.name, {})[connections] = load.rate
                latencies.setdefault(peer.name, {})[connections] = load.p99
    yield Growth("Throughput by connections", "connections", RATE, rates)
    yield Growth("Latency (p99) by connections", "connections", MILLISECONDS, latencies)


def _people(cache: Path, seconds: int) -> Iterator[Growth]:
    rates, memory, starts = _points(3)
    for people in CROWDS:
        work = random_lookup(slugs_of(cache, people))
        with served(crowded(people), cache, [work]) as server:
            starts[people] = server.start_processor
            rates[people] = server.load(work, seconds).rate
            memory[people] = server.memory()
    yield _ours("Lookups of random people, by how many there are", "people", RATE, rates)
    yield _ours("Memory by people", "people", MEGABYTES, memory)
    yield _ours("Start by people", "people", PROCESSOR, starts)


def _worlds(cache: Path, seconds: int) -> Iterator[Growth]:
    rates, memory, pages = _points(3)
    with (
        TemporaryDirectory(prefix="benchmark-") as directory,
        served(Peer(OURS, mock_command()), cache, [Workload("", "/v3/profiles/ada")]) as server,
    ):
        names = Path(directory) / "worlds.txt"
        work = Workload("", "/__world/FOUND/v3/profiles/ada", lines=names)
        made: list[str] = []
        for count in WORLDS:
            made += _make_worlds(server, count - 1 - len(made))
            names.write_text("".join(f"{name}\n" for name in made))
            rates[count] = server.load(work, seconds).rate
            memory[count] = server.memory()
            pages[count] = _milliseconds(server, "GET", "/__admin/worlds")
    yield _ours("Lookups in random worlds, by how many there are", "worlds", RATE, rates)
    yield _ours("Memory by worlds", "worlds", MEGABYTES, memory)
    yield _ours(PAGES, "worlds", MILLISECONDS, pages)


def _journal(cache: Path, seconds: int) -> Iterator[Growth]:
    rates, memory, searches = _points(3)
    work = Workload("", "/v3/profiles/ada")
    pattern = json.dumps({"method": "GET", "urlPathPattern": ".*/nobody"}).encode()
    for entries in JOURNAL:
        peer = Peer(OURS, mock_command("--journal", str(entries)))
        with served(peer, cache, [work]) as server:
            _fill(server, work, entries, seconds)
            rates[entries] = server.load(work, seconds).rate
            memory[entries] = server.memory()
            searches[entries] = _milliseconds(server, "POST", "/__admin/requests/count", pattern)
    yield _ours("Lookups by the length of the journal", "entries", RATE, rates)
    yield _ours("Memory by the length of the journal", "entries", MEGABYTES, memory)
    yield _ours("A search of the journal by its length", "entries", MILLISECONDS, searches)


def _rules(_cache: Path, _seconds: int) -> Iterator[Growth]:
    seconds: Points = {}
    known = [rule.id for rule in load_rules(openapi_directory() / "rules.yaml")]
    for share in SHARES:
        chosen = known[::share]
        options = ("--rules", ",".join(chosen), "--cases", "0", "--quiet")
        seconds[len(chosen)] = processes.run(
            [*understudy(), "verify", *options], expected=(0, 1, 3)
        ).processor
    yield Growth("Verify by rules", "rules", PROCESSOR, {"understudy verify": seconds})


def _cases(_cache: Path, _seconds: int) -> Iterator[Growth]:
    seconds = dict(_written_cases(count) for count in COUNTS)
    yield Growth(GENERATED, "cases", PROCESSOR, {"understudy generate": seconds})


def _written_cases(count: int) -> tuple[int, float]:
    """Writes so many cases of each operation as curl; returns how many, and the processor's seconds."""
    with TemporaryDirectory(prefix="benchmark-") as directory:
        lines, script = (Path(directory) / name for name in ("cases.jsonl", "cases.sh"))
        generate = [*understudy(), "generate", "--count", str(count)]
        processes.run([*generate, "--format", "jsonl", "--out", str(lines)])
        total = lines.read_bytes().count(b"\n")
        return total, processes.run([*generate, "--out", str(script)]).processor


def understudy() -> Sequence[str]:
    """Returns the command of this checkout."""
    return [str(Path(sys.executable).with_name("understudy"))]


def _points(count: int) -> tuple[Points, ...]:
    return tuple({} for _ in range(count))


def _ours(title: str, size: str, unit: str, points: Points) -> Growth:
    return Growth(title, size, unit, {OURS: points})


def _make_worlds(server: Server, count: int) -> list[str]:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
    names = []
    for _ in range(count):
        connection.request("POST", "/__admin/worlds", b"{}", {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status != 201:
            msg = f"POST /__admin/worlds responds with {response.status}"
            raise NotServed(msg)
        names.append(json.loads(response.read())["name"])
    connection.close()
    return names


def _fill(server: Server, work: Workload, entries: int, seconds: int) -> None:
    """Loads the server until its journal is full.

    Raises:
        NotServed: It does not do that work.
    """
    count = 0
    while count < entries:
        count += server.load(work, seconds).requests


def _milliseconds(server: Server, method: str, path: str, body: bytes | None = None) -> float:
    """Returns the median time from a request to the end of its response."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
    headers = {"Content-Type": "application/json"} if body else {}
    times = []
    for _ in range(REPEATED):
        started = time.perf_counter()
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        response.read()
        times.append(time.perf_counter() - started)
        if response.status >= 400:
            msg = f"{method} {path} responds with {response.status}"
            raise NotServed(msg)
    connection.close()
    return statistics.median(times) * 1000

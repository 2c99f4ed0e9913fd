"""``make bench-fleet``: what a shared store costs a request, and what a world takes of it.

A mock without a store, and fleets of one, two and four workers on one store, are loaded in turn. So
are two mocks on one store, first both at one world, and then each at a world of its own.
"""

import argparse
import http.client
import re
import statistics
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx
from rich.console import Console
from tests.store_server import StoreServer, store_server
from tests.tools.benchmarks.loads import ratios, spread
from tests.tools.benchmarks.measuring import Server, served
from tests.tools.benchmarks.peers import Peer, mock_command
from tests.tools.benchmarks.processes import processor_seconds
from tests.tools.benchmarks.report import markdown
from tests.tools.benchmarks.workloads import EDIT, LOOKUP, Workload, workloads

WORKERS = (1, 2, 4)
"""Sizes of the fleets."""

WORLDS = 200
"""Worlds whose memory in the store is measured."""

ALONE = "no store"
console = Console(soft_wrap=True)


class SharedLoad(NamedTuple):
    """What one load gave.

    Attributes:
        rate: Requests a second.
        processor: Microseconds of processor time a request, of all processes of the mock.
        store: The same of the store.
    """

    rate: float
    processor: float
    store: float


Loads = dict[tuple[str, str], list[SharedLoad]]
"""Name of a server and of a workload to its loads, round by round."""


def main() -> None:
    """Measures, and prints the tables."""
    parser = argparse.ArgumentParser(prog="make bench-fleet", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2, help="of each load")
    options = parser.parse_args()
    loads: Loads = {}
    for number in range(1, options.rounds + 1):
        console.print(f"round {number}")
        measure(loads, options.seconds)
    console.print(markdown(rows(loads)), markup=False, highlight=False)
    console.print(f"bytes of the store for an empty world: {bytes_of_a_world():,}")


def works() -> list[Workload]:
    """Returns the lookup and the edit, of one world that all connections share."""
    known = {work.name: work for work in workloads()}
    return [known[LOOKUP], known[EDIT]]


def measure(loads: Loads, seconds: int) -> None:
    """Adds one round of each server."""
    for workers in (0, *WORKERS):
        name = f"{workers} worker{'s' * (workers > 1)}" if workers else ALONE
        for work in works():
            with fleet(workers, work) as (server, store):
                loads.setdefault((name, work.name), []).append(_load(server, store, work, seconds))
    for work in works():
        for name, load in _two_mocks(work, seconds):
            loads.setdefault((name, work.name), []).append(load)


def _load(server: Server, store: StoreServer | None, work: Workload, seconds: int) -> SharedLoad:
    server.load(work, 1)  # begins worlds, and fills what is kept
    before = server.processor_seconds(), _seconds(store)
    load = server.load(work, seconds)
    after = server.processor_seconds(), _seconds(store)
    costs = ((end - begin) / load.requests * 1e6 for begin, end in zip(before, after, strict=True))
    return SharedLoad(load.rate, *costs)


def _two_mocks(work: Workload, seconds: int) -> Iterator[tuple[str, SharedLoad]]:
    """Yields what two mocks on one store give, loaded at once: at one world, then at one each."""
    with ExitStack() as opened:
        directories = [Path(opened.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
        store = opened.enter_context(store_server(directories[0]))
        peer = Peer("", mock_command("--state", store.url()), "/v3")
        mocks = [opened.enter_context(served(peer, it, [work])) for it in directories]
        sites = [mock.url.removesuffix(peer.prefix) for mock in mocks]
        for site in sites:
            httpx.post(f"{site}/__admin/worlds").raise_for_status()  # w1, and then w2
        for name, worlds in (("2 mocks, one world", "11"), ("2 mocks, a world each", "12")):
            for mock, site, world in zip(mocks, sites, worlds, strict=True):
                mock.url = f"{site}/__world/w{world}{peer.prefix}"
            with ThreadPoolExecutor(len(mocks)) as both:
                halves = list(both.map(lambda it: _load(it, store, work, seconds), mocks))
            rate = sum(it.rate for it in halves)
            processor = sum(it.processor * it.rate for it in halves) / rate
            at_store = halves[0].store * halves[0].rate / rate  # each half saw all of its time
            yield name, SharedLoad(rate, processor, at_store)


@contextmanager
def fleet(workers: int, work: Workload) -> Iterator[tuple[Server, StoreServer | None]]:
    """Runs workers on a store of their own; 0: one mock without a store."""
    with ExitStack() as opened:
        directory = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        store = opened.enter_context(store_server(directory)) if workers else None
        shared = ("--state", store.url()) if store else ()
        several = ("--workers", str(workers)) if workers > 1 else ()
        peer = Peer("", mock_command(*shared, *several), "/v3")
        yield opened.enter_context(served(peer, directory, [work])), store


def rows(loads: Loads) -> list[list[str]]:
    """Returns the table: rates beside those without a store in the same round."""
    table = [["server", "work", "requests/s", "to no store", "µs of mocks", "µs of store"]]
    for (name, work), rounds in loads.items():
        rate = statistics.median(it.rate for it in rounds)
        ratio = ratios([it.rate for it in rounds], [it.rate for it in loads[ALONE, work]])
        costs = spread(it.processor for it in rounds), spread(it.store for it in rounds)
        assert ratio is not None  # there is a round, or no table
        texts = (cost.text(".0f") for cost in costs if cost is not None)
        table.append([name, work, f"{rate:,.0f}", ratio.text(".2f"), *texts])
    return table


def bytes_of_a_world() -> int:
    """Returns the memory of the store that a world takes which was made and asked once."""
    ask = workloads()[0]
    with fleet(1, ask) as (server, store):
        assert store is not None
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
        used = []
        for number in range(WORLDS + 1):
            for method, path in (
                ("POST", "/__admin/worlds"),
                ("GET", f"/__world/w{number + 1}{server.peer.prefix}{ask.path}"),
            ):
                connection.request(method, path)
                connection.getresponse().read()
            used.append(int(re.findall(rb"used_memory:(\d+)", store.send("INFO", "memory"))[0]))
        connection.close()
    return (used[-1] - used[0]) // WORLDS


def _seconds(store: StoreServer | None) -> float:
    return 0.0 if store is None else processor_seconds(store.process.pid)


if __name__ == "__main__":
    main()

"""What single programs and requests cost, where no load of a server shows it."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.tools.benchmarks import processes
from tests.tools.benchmarks.figures import Growth
from tests.tools.benchmarks.growth import GENERATED, PAGES, understudy
from tests.tools.benchmarks.measuring import served
from tests.tools.benchmarks.peers import Peer, mock_command
from tests.tools.benchmarks.preparing import STUBS, tokens_of
from tests.tools.benchmarks.targets import COUNTED, CURL_CASES, HELP, LISTING, RECORDED, STUBBED
from tests.tools.benchmarks.workloads import LOOKUP, counted_lookup, workloads


def costs(cache: Path, rounds: int, seconds: int) -> dict[str, list[float]]:
    """Measures what a start of the program and a counted lookup cost."""
    help_costs = [processes.run([*understudy(), "--help"]).processor for _ in range(rounds + 2)]
    return {
        HELP: help_costs,
        COUNTED: _costs_of_counting(cache, rounds, seconds),
        RECORDED: _costs_of_recording(cache, rounds, seconds),
        STUBBED: _costs_of_stubs(cache, rounds, seconds),
    }


def _costs_of_counting(cache: Path, rounds: int, seconds: int) -> list[float]:
    """Returns what keeping the counts on disk adds to a lookup, in microseconds."""
    work = counted_lookup(tokens_of(cache))
    people = ("--fixtures", "{cache}/principals")
    with ExitStack() as opened:
        in_memory, on_disk = (
            opened.enter_context(
                served(Peer("", mock_command(*people, *state, limits="on"), "/v3"), cache, [work])
            )
            for state in ((), ("--state", "{cache}/state-{port}"))
        )
        for server in (in_memory, on_disk):
            server.cost(work, seconds)  # opens the window of each token
        return [on_disk.cost(work, seconds) - in_memory.cost(work, seconds) for _ in range(rounds)]


def _costs_of_stubs(cache: Path, rounds: int, seconds: int) -> list[float]:
    """Returns how many times the cost of an ordinary lookup a stubbed one has, in each round."""
    work = next(each for each in workloads() if each.name == LOOKUP)
    with ExitStack() as opened:
        ordinary, stubbed = (
            opened.enter_context(served(Peer("", mock_command(*people), "/v3"), cache, [work]))
            for people in ((), ("--fixtures", f"{{cache}}/{STUBS}"))
        )
        for server in (ordinary, stubbed):
            server.cost(work, seconds)  # the imports that follow the first response
        return [stubbed.cost(work, seconds) / ordinary.cost(work, seconds) for _ in range(rounds)]


def _costs_of_recording(cache: Path, rounds: int, seconds: int) -> list[float]:
    """Returns what a lookup costs that `record` passes on and judges, in microseconds."""
    work = next(each for each in workloads() if each.name == LOOKUP)
    with served(Peer("", mock_command(), "/v3"), cache, [work]) as mock:

        def command(port: int, _cache: Path) -> Sequence[str]:
            ports = ("--port", str(port), "--auth-port", "0")
            return (*understudy(), "record", "--base-url", mock.url, *ports, "--quiet")

        with served(Peer("", command, "/v3"), cache, [work]) as proxy:
            proxy.cost(work, 1)
            return [proxy.cost(work, seconds) for _ in range(rounds)]


def costs_of(growths: Sequence[Growth]) -> dict[str, list[float]]:
    """Returns the figures at the largest size of those growths that there is an aim for."""
    titles = {PAGES: LISTING, GENERATED: CURL_CASES}
    return {
        titles[growth.title]: [points[max(points)] for points in growth.series.values()]
        for growth in growths
        if growth.title in titles
    }

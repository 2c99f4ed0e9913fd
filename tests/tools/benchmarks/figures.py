"""All that one run of the benchmark measured."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.tools.benchmarks.loads import Load, Spread, spread


@dataclass
class Figures:
    """What was measured of one server, round by round.

    Attributes:
        loads: Name of a workload to its loads.
        starts: Seconds on the wall from the start of the process to its first good response.
        start_costs: The same in seconds of processor time.
        memory: Most megabytes ever held, after all workloads.
        notes: Name of a workload, or ``start``, to why there is no figure.
    """

    loads: dict[str, list[Load]] = field(default_factory=dict)
    starts: list[float] = field(default_factory=list)
    start_costs: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)

    def rates(self, work: str) -> list[float]:
        """Returns a workload's requests a second."""
        return [load.rate for load in self.loads.get(work, ())]

    def latencies(self, work: str) -> tuple[Spread, Spread] | None:
        """Returns p50 and p99 of a workload, in milliseconds."""
        loads = self.loads.get(work, ())
        p50, p99 = spread(load.p50 for load in loads), spread(load.p99 for load in loads)
        return (p50, p99) if p50 and p99 else None


@dataclass(frozen=True)
class Growth:
    """How one figure grows with one size.

    Attributes:
        title: What a chart of it is called.
        size: What grows, for the horizontal axis.
        unit: What is measured, for the vertical axis.
        series: Name of a line to its points, size to figure.
    """

    title: str
    size: str
    unit: str
    series: dict[str, dict[int, float]]


@dataclass
class Results:
    """What was measured of everything.

    Attributes:
        servers: Name to figures.
        costs: What to its figures, round by round; the unit stands in the name.
        growths: In the order of the page.
        programs: The table of verify and its peer, its heading first.
        notes: What was not measured, and why.
    """

    servers: dict[str, Figures] = field(default_factory=dict)
    costs: dict[str, list[float]] = field(default_factory=dict)
    growths: list[Growth] = field(default_factory=list)
    programs: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def rates(self, server: str, work: str) -> list[float]:
        """Returns a workload's requests a second; none for a server that was not measured."""
        return self.servers[server].rates(work) if server in self.servers else []

    def loads(self) -> Iterator[Load]:
        """Yields every load of every server."""
        for figures in self.servers.values():
            for loads in figures.loads.values():
                yield from loads

    def reasons(self) -> Iterable[str]:
        """Returns a line for each figure that is missing."""
        for name, figures in self.servers.items():
            for work, note in figures.notes.items():
                yield f"{name}, {work}: {note}"
        yield from self.notes

    def as_json(self) -> dict[str, Any]:
        """Returns everything, for machines."""
        return {
            "servers": {
                name: {
                    "loads": {
                        work: [vars(load) for load in loads]
                        for work, loads in figures.loads.items()
                    },
                    "start_seconds": figures.starts,
                    "start_processor_seconds": figures.start_costs,
                    "memory_megabytes": figures.memory,
                    "notes": figures.notes,
                }
                for name, figures in self.servers.items()
            },
            "costs": self.costs,
            "growths": [vars(growth) for growth in self.growths],
            "programs": self.programs,
            "notes": self.notes,
        }

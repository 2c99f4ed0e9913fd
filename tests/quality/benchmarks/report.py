"""Says what was measured: a table, Markdown for the README, JSON, and the targets."""

import statistics
from dataclasses import dataclass, field
from typing import Any

from tests.quality.benchmarks.measuring import Load
from tests.quality.benchmarks.peers import (
    BARE,
    OUR_GRANTS,
    OUR_WORLDS,
    OURS,
    OURS_CROWDED,
    OURS_UNJUDGED,
    PRISM,
    SCALAR,
    THEIR_GRANTS,
)
from tests.quality.benchmarks.workloads import EXCHANGE, IN_WORLD, PLAIN


@dataclass
class Figures:
    """All that was measured of one server, over the rounds."""

    loads: dict[str, list[Load]] = field(default_factory=dict)
    starts: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)

    def rate(self, work: str) -> float | None:
        """Returns the median of a workload's requests a second."""
        loads = self.loads.get(work)
        return statistics.median(load.rate for load in loads) if loads else None

    def latency(self, work: str) -> tuple[float, float] | None:
        """Returns the medians of p50 and p99, in milliseconds."""
        loads = self.loads.get(work)
        if not loads:
            return None
        p50 = statistics.median(load.p50 for load in loads)
        return p50, statistics.median(load.p99 for load in loads)


@dataclass(frozen=True)
class Target:
    """Something to reach."""

    what: str
    wanted: str
    found: str
    is_reached: bool | None

    @property
    def verdict(self) -> str:
        """Returns reached, not reached or not measured."""
        return {True: "reached", False: "not reached", None: "not measured"}[self.is_reached]


LOOKUP = "lookup"
ABSENT = "-"
"""Stands where nothing was measured."""


def targets(figures: dict[str, Figures], import_seconds: float) -> list[Target]:
    """Compares what was measured with what was to be reached (issue 2, Speed)."""

    def rate(name: str, work: str = LOOKUP) -> float | None:
        return figures[name].rate(work) if name in figures else None

    def memory(name: str) -> float | None:
        return statistics.median(figures[name].memory) if has(name) else None

    def has(name: str) -> bool:
        return name in figures and bool(figures[name].memory)

    starts = figures[OURS].starts if OURS in figures else []
    start = statistics.median(starts) if starts else None
    return [
        at_least("lookup, unjudged, to Prism", rate(OURS_UNJUDGED), rate(PRISM), 4),
        at_least("lookup, judged, to Prism", rate(OURS), rate(PRISM), 3),
        at_least("lookup to bare ASGI", rate(OURS_UNJUDGED), rate(BARE), 0.3),
        at_least("lookup to Scalar", rate(OURS_UNJUDGED), rate(SCALAR), 1),
        _at_most("first answer to import connexion", start, import_seconds, 1.6),
        _at_most("memory to Prism's", memory(OURS), memory(PRISM), 1),
        at_least("lookup, 100,000 people to 19", rate(OURS_CROWDED), rate(OURS), 0.95),
        at_least(
            "a world's address to the plain one",
            rate(OUR_WORLDS, IN_WORLD),
            rate(OUR_WORLDS, PLAIN),
            0.95,
        ),
        at_least(
            "code exchange to oauth2-mock-server",
            rate(OUR_GRANTS, EXCHANGE),
            rate(THEIR_GRANTS, EXCHANGE),
            1,
        ),
    ]


def _ratio(ours: float | None, theirs: float | None) -> float | None:
    return ours / theirs if ours and theirs else None


def at_least(what: str, ours: float | None, theirs: float | None, wanted: float) -> Target:
    """Returns whether we reach so many times what another does."""
    ratio = _ratio(ours, theirs)
    reached = None if ratio is None else ratio >= wanted
    return Target(what, f"≥ {wanted:g}", ABSENT if ratio is None else f"{ratio:.2f}", reached)


def _at_most(what: str, ours: float | None, theirs: float | None, wanted: float) -> Target:
    ratio = _ratio(ours, theirs)
    reached = None if ratio is None else ratio <= wanted
    return Target(what, f"≤ {wanted:g}", ABSENT if ratio is None else f"{ratio:.2f}", reached)


def rows(figures: dict[str, Figures], works: list[str], rival: str) -> list[list[str]]:
    """Returns the table, its heading first: requests a second, and milliseconds of p50 / p99.

    Args:
        figures: Of each server.
        works: The columns; the first is what is compared.
        rival: The server that the others are compared with.
    """
    main = works[0]
    table = [
        ["server", *works, f"{main} p50 / p99, ms", f"to {rival}", "memory, MB", "start, s"],
    ]
    theirs = figures[rival].rate(main) if rival in figures else None
    for name, found in figures.items():
        latency = found.latency(main)
        ratio = _ratio(found.rate(main), theirs)
        table.append(
            [
                name,
                *(_rate(found.rate(work)) for work in works),
                f"{latency[0]:.1f} / {latency[1]:.1f}" if latency else ABSENT,
                f"{ratio:.1f}" if ratio else ABSENT,
                f"{statistics.median(found.memory):.0f}" if found.memory else ABSENT,
                f"{statistics.median(found.starts):.2f}" if found.starts else ABSENT,
            ]
        )
    return table


def _rate(rate: float | None) -> str:
    return f"{rate:,.0f}" if rate else ABSENT


def markdown(table: list[list[str]]) -> str:
    """Returns a table as Markdown; numbers to the right."""
    heading, *rest = table
    rule = ["---", *("--:" for _ in heading[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in [heading, rule, *rest])


def as_json(figures: dict[str, Figures], reached: list[Target]) -> dict[str, Any]:
    """Returns everything, for machines."""
    return {
        "servers": {
            name: {
                "loads": {w: [vars(load) for load in loads] for w, loads in found.loads.items()},
                "start_seconds": found.starts,
                "memory_megabytes": found.memory,
                "notes": found.notes,
            }
            for name, found in figures.items()
        },
        "targets": [{**vars(target), "verdict": target.verdict} for target in reached],
    }

"""Writes tables of what was measured, as Markdown."""

from tests.tools.benchmarks.figures import Figures, Results
from tests.tools.benchmarks.loads import ratios, spread
from tests.tools.benchmarks.peers import OUR_WORLDS, PRISM, PRISM_SAMPLES, THEIR_GRANTS
from tests.tools.benchmarks.targets import ABSENT, Target
from tests.tools.benchmarks.workloads import (
    RANDOM_LOOKUP,
    in_worlds,
    our_grants,
    sampled,
    workloads,
)

Rows = list[list[str]]
"""A table, its heading first; the first column is text and the others are figures."""


def tables(results: Results) -> dict[str, Rows]:
    """Returns a table for each kind of work, by its caption."""
    ordinary = [*(work.name for work in workloads()), RANDOM_LOOKUP]
    groups = (
        ("The mock beside its peers", ordinary, PRISM),
        ("The authorization server", [work.name for work in our_grants()], THEIR_GRANTS),
        ("Another service's document", [work.name for work in sampled()], PRISM_SAMPLES),
        ("A world's own address", [work.name for work in in_worlds()], OUR_WORLDS),
    )
    written = {}
    for caption, works, rival in groups:
        servers = {
            name: figures
            for name, figures in results.servers.items()
            if figures.loads and figures.loads.keys() <= {*works}
        }
        if servers:
            written[f"{caption}, requests a second"] = rates(servers, works, rival)
            written[f"{caption}, latency, memory and start"] = resources(servers, works[0])
    if results.programs:
        written["verify beside schemathesis run"] = results.programs
    return written


def rates(servers: dict[str, Figures], works: list[str], rival: str) -> Rows:
    """Returns requests a second of each work, and how the first compares with a rival's."""
    table = [["server", *works, f"{works[0]}, to {rival}"]]
    theirs = servers[rival].rates(works[0]) if rival in servers else []
    for name, figures in servers.items():
        ratio = ratios(figures.rates(works[0]), theirs)
        cells = [spread(figures.rates(work)) for work in works]
        table.append(
            [
                name,
                *(cell.text() if cell else ABSENT for cell in cells),
                ratio.text(".2f") if ratio else ABSENT,
            ]
        )
    return table


def resources(servers: dict[str, Figures], work: str) -> Rows:
    """Returns the latency of a work, the memory after all works, and what the start takes."""
    table = [
        ["server", f"{work}, p50, ms", "p99, ms", "memory, MB", "start, s", "start, s of processor"]
    ]
    for name, figures in servers.items():
        latencies = figures.latencies(work) or (None, None)
        cells = [
            *((latency, ".2f") for latency in latencies),
            (spread(figures.memory), ".0f"),
            (spread(figures.starts), ".2f"),
            (spread(figures.start_costs), ".2f"),
        ]
        table.append([name, *(cell.text(form) if cell else ABSENT for cell, form in cells)])
    return table


def verdicts(reached: list[Target]) -> Rows:
    """Returns the table of what is to be reached."""
    heading = ["what", "aim", "measured", "verdict"]
    return [heading, *([it.what, it.aim, it.actual, it.verdict] for it in reached)]


def markdown(table: Rows) -> str:
    """Returns a table as Markdown; figures to the right."""
    heading, *rest = table
    rule = ["---", *("--:" for _ in heading[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in [heading, rule, *rest])

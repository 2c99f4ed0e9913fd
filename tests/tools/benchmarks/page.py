"""Writes what was measured as one page with charts, and each chart as a file of its own."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from html import escape
from pathlib import Path

from tests.tools.benchmarks.figures import Figures, Growth, Results
from tests.tools.benchmarks.loads import Spread, spread
from tests.tools.benchmarks.plots import bars, legend, lines, number
from tests.tools.benchmarks.report import Rows, tables, verdicts
from tests.tools.benchmarks.targets import ABSENT, Target
from tests.tools.benchmarks.workloads import (
    EXCHANGE,
    LOOKUP,
    RANDOM_LOOKUP,
    SAMPLE,
    TOKEN_INFO,
    workloads,
)

COLOURS = """
:root{color-scheme:light dark;--ground:#f7f6f3;--surface:#fff;--ink:#1d1f1e;--muted:#5c625f;
--line:#d5d2ca;--good:#125548;--bad:#9a3412;--bar:#8a938f;--ours:#176b5b;
--l0:#176b5b;--l1:#9a3412;--l2:#3b4f9e;--l3:#7a4b00}
@media (prefers-color-scheme:dark){:root{--ground:#111413;--surface:#191d1b;--ink:#eaedec;
--muted:#a3aba7;--line:#39403d;--good:#8fd6c4;--bad:#f4ab8d;--bar:#77807c;--ours:#7fd1be;
--l0:#7fd1be;--l1:#f4ab8d;--l2:#a9b8ff;--l3:#e5c07b}}
svg[role=img]{max-width:100%;height:auto;background:var(--surface)}
svg text{font:13px system-ui,sans-serif;fill:var(--ink)}
.name{text-anchor:end}.mark{text-anchor:middle}
.bar{fill:var(--bar)}.bar.ours{fill:var(--ours)}.spread{stroke:var(--ink);stroke-width:2}
.axis{fill:none;stroke:var(--muted)}.grid{stroke:var(--line)}
.line{fill:none;stroke-width:2}.line.l0{stroke:var(--l0)}.line.l1{stroke:var(--l1)}
.line.l2{stroke:var(--l2)}.line.l3{stroke:var(--l3)}
.point.l0{fill:var(--l0)}.point.l1{fill:var(--l1)}.point.l2{fill:var(--l2)}.point.l3{fill:var(--l3)}
"""
"""What a chart needs, on the page and in a file of its own."""

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;background:var(--ground);color:var(--ink);margin:0}
main{max-width:64rem;margin:0 auto;padding:2rem 1rem}h1{margin:0}h2{margin:2.5rem 0 .5rem}
h3{margin:1.5rem 0 .25rem;font-size:1rem}.warning{color:var(--bad);font-weight:600}
.muted{color:var(--muted)}.reached{color:var(--good)}.not-reached{color:var(--bad)}
figure{margin:0}[role=region]{overflow-x:auto}[role=region] svg[role=img]{min-width:34rem}
table{border-collapse:collapse}
th,td{padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line);text-align:right;
white-space:nowrap}th:first-child,td:first-child{text-align:left}caption{text-align:left;
font-weight:600;white-space:nowrap}.legend{list-style:none;display:flex;flex-wrap:wrap;gap:1rem;padding:0;margin:0}
"""


def page(results: Results, reached: list[Target], about: str, warning: str | None) -> str:
    """Returns the page.

    Args:
        results: What was measured.
        reached: What is to be reached.
        about: When, on what machine and by which command it was measured.
        warning: Why the figures are not to be trusted.
    """
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        "<meta name=viewport content='width=device-width'><title>Speed of understudy</title>",
        f"<style>{COLOURS}{_STYLE}</style><body><main><h1>Speed of understudy</h1>",
        f"<p class=muted>{escape(about)}</p>",
        f"<p class=warning role=alert>{escape(warning)}</p>" if warning else "",
        "<p>Each figure is the median of the rounds, and behind it stand the least and the most.</p>",
        "<h2>What is to be reached</h2>",
        _table(verdicts(reached), "Aims"),
        "<h2>Beside its peers</h2>",
        *(_figure(title, svg) for title, svg in comparisons(results)),
        "<h2>How it grows</h2>",
        *(_growth(growth) for growth in results.growths),
        "<h2>All figures</h2>",
        *(_table(rows, caption) for caption, rows in tables(results).items()),
        _missing(results.reasons()),
        "</main></body></html>",
    ]
    return "\n".join(part for part in parts if part)


def write(directory: Path, html: str, results: Results) -> None:
    """Writes the page, and each chart as a file that can be shown alone."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "index.html").write_text(html)
    charts = [*comparisons(results), *((growth.title, lines(growth)) for growth in results.growths)]
    for title, svg in charts:
        name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
        styled = svg.replace(">", f"><style>{COLOURS}</style>", 1)
        (directory / f"{name}.svg").write_text(styled)


def comparisons(results: Results) -> Iterator[tuple[str, str]]:
    """Yields the title and the chart of each comparison that has a figure."""
    names = [*(work.name for work in workloads()), RANDOM_LOOKUP, EXCHANGE, TOKEN_INFO, SAMPLE]
    for name in names:
        rates = _of(results, partial(Figures.rates, work=name))
        yield from _chart(f"Throughput: {name}", "requests a second", rates)
    for place, what in enumerate(("p50", "p99")):
        values = {
            name: latencies[place]
            for name, figures in results.servers.items()
            if (latencies := figures.latencies(LOOKUP))
        }
        yield from _chart(f"Latency of a lookup, {what}, 16 connections", "ms", values)
    yield from _chart("Memory", "MB", _of(results, lambda it: it.memory))
    yield from _chart("Start to first response", "s", _of(results, lambda it: it.starts))


def _of(results: Results, figures_of: Callable[[Figures], Iterable[float]]) -> dict[str, Spread]:
    """Returns the spread of one figure, for the servers that have it."""
    spreads = {name: spread(figures_of(figures)) for name, figures in results.servers.items()}
    return {name: value for name, value in spreads.items() if value}


def _chart(title: str, unit: str, values: Mapping[str, Spread]) -> Iterator[tuple[str, str]]:
    if values:
        yield title, bars(title, unit, values)


def _figure(title: str, content: str) -> str:
    return f"<h3>{escape(title)}</h3><figure>{_scrolled(title, content)}</figure>"


def _growth(growth: Growth) -> str:
    series = growth.series
    sizes = sorted({size for points in series.values() for size in points})
    rows = [[growth.size, *series]] + [
        [
            f"{size:,}",
            *((number(points[size]) if size in points else ABSENT) for points in series.values()),
        ]
        for size in sizes
    ]
    key = legend(list(series)) if len(series) > 1 else ""
    return _figure(growth.title, key + lines(growth)) + _table(
        rows, f"{growth.title}, {growth.unit}"
    )


def _table(rows: Rows, caption: str) -> str:
    heading, *rest = rows
    head = "".join(f"<th scope=col>{escape(cell)}</th>" for cell in heading)
    body = "".join(
        "<tr>" + "".join(f"<td{_style(cell)}>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rest
    )
    table = f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{body}</table>"
    return _scrolled(caption, table)


def _scrolled(name: str, content: str) -> str:
    """Lets what is wider than a narrow window be scrolled, with the keyboard too."""
    return f'<div role=region tabindex=0 aria-label="{escape(name)}">{content}</div>'


def _style(cell: str) -> str:
    verdict = {"reached": "reached", "not reached": "not-reached"}.get(cell)
    return f" class={verdict}" if verdict else ""


def _missing(reasons: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(reason)}</li>" for reason in reasons)
    return f"<h2>What was not measured</h2><ul>{items}</ul>" if items else ""

"""The report as one page that needs nothing else: no script, no address of anybody."""

from collections.abc import Mapping
from html import escape

from understudy.contract.findings import Finding, shown
from understudy.contract.outcome import Coverage, Outcome, RuleOutcome
from understudy.contract.reproducing import commands, snippet

STYLE = """
:root{color-scheme:light dark;--ok:#1a7f4b;--bad:#b3261e;--open:#777}
body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .5rem;
border-bottom:1px solid #8884;vertical-align:top}pre{overflow-x:auto;background:#8882;padding:.75rem}
.passed{color:var(--ok)}.failed{color:var(--bad)}.not_checked{color:var(--open)}
.cell{fill:#1a7f4b}.cell.refused{fill:#c27c0e}.cell.error{fill:#b3261e}.none{fill:#8883}
figure{margin:1rem 0;overflow-x:auto}svg text{font:12px system-ui,sans-serif;fill:currentColor}
"""

WORDS = {"passed": "passed", "failed": "failed", "not_checked": "not checked"}
CELL, LEFT, HEAD = 26, 240, 40  # pixels of the picture
REFUSED, ERROR = 400, 500


def html(outcome: Outcome, secrets: Mapping[str, str]) -> str:
    """Returns the report as a page."""
    counts = ", ".join(
        f"{number} {word}"
        for number, word in (
            (outcome.count("failed"), "failed"),
            (outcome.count("passed"), "passed"),
            (outcome.count("not_checked"), "not checked"),
        )
    )
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        '<meta name=viewport content="width=device-width">',
        f"<title>understudy verify: {counts}</title><style>{STYLE}</style>",
        f"<h1>{escape(outcome.target)}</h1><p>{counts}; {outcome.requests} requests in "
        f"{outcome.took.total_seconds():.1f} s, seed {outcome.seed}.</p>",
        f"<p class=failed>{escape(outcome.stopped)}</p>" if outcome.stopped else "",
        *(f"<p class=failed>Not put back: {escape(line)}</p>" for line in outcome.left),
        "<h2>Findings</h2>" if outcome.findings else "<h2>No findings</h2>",
        *(_finding(finding, secrets) for finding in outcome.findings),
        "<h2>Notes</h2>" if outcome.notes else "",
        *(_finding(finding, secrets) for finding in outcome.notes),
        "<h2>Rules</h2><table><tr><th>rule<th>status<th>checks<th>statement, or reason",
        *(_row(found) for found in outcome.rules),
        "</table><h2>Coverage</h2>",
        _picture(outcome.coverage),
        _parameters(outcome.coverage),
        "</html>",
    ]
    return "\n".join(part for part in parts if part)


def _finding(finding: Finding, secrets: Mapping[str, str]) -> str:
    lines = "\n".join(commands(finding.steps, secrets))
    exchanges = "\n\n".join(shown(exchange, secrets) for exchange in finding.steps)
    blocks = "".join(
        f"<details><summary>{title}</summary><pre>{escape(text)}</pre></details>"
        for title, text in (("exchanges", exchanges), ("Python", snippet(finding.steps, secrets)))
    )
    return (
        f"<section id={finding.fingerprint}><h3>{escape(finding.rule.id)}</h3>"
        f"<p>{escape(finding.rule.statement)}</p><p>{escape(finding.summary)}"
        f"{f', seen {finding.count} times' if finding.count > 1 else ''}</p>"
        f"<pre>{escape(lines)}</pre>{blocks}</section>"
    )


def _row(found: RuleOutcome) -> str:
    mark = " (assumed)" if found.rule.status == "assumed" else ""
    return (
        f"<tr><td>{escape(found.rule.id)}{mark}<td class={found.status}>{WORDS[found.status]}"
        f"<td>{found.checks}<td>{escape(found.reason or found.rule.statement)}"
    )


def _picture(coverage: Coverage) -> str:
    """Draws operations by statuses; how often stands in each cell."""
    operations = sorted({operation for operation, _ in coverage.statuses})
    statuses = sorted({status for _, status in coverage.statuses})
    width, height = LEFT + 2 * CELL * len(statuses), HEAD + CELL * len(operations)
    marks = [
        f"<text x={LEFT + 2 * CELL * place} y={HEAD - 10}>{status}</text>"
        for place, status in enumerate(statuses)
    ]
    for row, operation in enumerate(operations):
        y = HEAD + CELL * row
        marks.append(f"<text x=0 y={y + 17}>{escape(operation)}</text>")
        for column, status in enumerate(statuses):
            count = coverage.statuses[operation, status]
            kind = "error" if status >= ERROR else "refused" if status >= REFUSED else ""
            css = f"cell {kind}" if count else "none"
            x = LEFT + 2 * CELL * column
            marks.append(
                f'<rect class="{css}" x={x} y={y} width={2 * CELL - 3} height={CELL - 3}>'
                f"<title>{escape(operation)} {status}: {count}</title></rect>"
            )
    label = "operations by statuses"
    body = "".join(marks)
    return f'<figure><svg role=img aria-label="{label}" width={width} height={height}>{body}</svg></figure>'


def _parameters(coverage: Coverage) -> str:
    rows = [
        f"<tr><td>{escape(operation)}<td>{escape(name)}<td>{count}"
        for (operation, name), count in sorted(coverage.parameters.items())
    ]
    return "<table><tr><th>operation<th>parameter<th>sent" + "".join(rows) + "</table>"

"""Makes the report as one self-contained HTML page without scripts or external resources."""

from collections.abc import Iterator
from html import escape
from typing import Final

from understudy.drift.reports.content import (
    DriftReport,
    ReportedCause,
    ReportedDifference,
    ReportedDocuments,
)
from understudy.drift.reports.wording import (
    CHANGED_FACTS,
    breaks,
    grouped,
    heading,
    mark,
    sections,
    total,
)
from understudy.verify.reports.html import STYLE

OWN_STYLE: Final = """
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(28rem,100%),1fr));gap:0 1rem}
.sides h4{margin:.5rem 0 0;font-weight:600;color:var(--muted)}
.sides pre{max-height:24rem;overflow:auto}
.silent,.unsteady,.harmless{border-left-color:var(--note)}
td,code,h1,h2,h3,b{overflow-wrap:anywhere}
.breaking{color:var(--bad)}
"""


def html(report: DriftReport) -> str:
    """Returns the report as a page."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        '<meta name=viewport content="width=device-width">',
        f"<title>understudy drift: {escape(total(report))}</title>",
        f"<style>{STYLE}{OWN_STYLE}</style>",
        "<body><main>",
        f"<h1>{escape(_title(report))}</h1>",
        f"<p>{escape(total(report))}</p>",
        *(f"<p class=failed>{escape(line)}</p>" for line in _alarms(report)),
        *(
            f"<p class=not_checked>{escape(line)}</p>"
            for line in (*report.not_compared, *report.not_checked)
        ),
        *_facts(report),
        *(_section(title, causes) for title, causes in sections(report)),
        *(_documents(pair) for pair in report.documents if pair.changes),
        "</main></body></html>",
    ]
    return "\n".join(parts)


def _title(report: DriftReport) -> str:
    if report.deployment:
        return f"{report.deployment} and {report.other}"
    return " and ".join(f"{pair.old} and {pair.new}" for pair in report.documents)


def _alarms(report: DriftReport) -> Iterator[str]:
    yield from report.stopped
    yield from (f"Not restored: {line}" for line in report.not_restored)


def _section(title: str, causes: list[ReportedCause]) -> str:
    return "\n".join([f"<h2>{escape(title)}</h2>", *map(_cause, causes)])


def _facts(report: DriftReport) -> Iterator[str]:
    """Yields the facts that have changed."""
    if report.changed_facts:
        yield f"<h2>{escape(CHANGED_FACTS)}</h2>"
    for fact in report.changed_facts:
        readings = (("now", fact.now), (f"when learnt on {fact.learnt}", fact.before))
        terms = "".join(f"<dt>{escape(name)}<dd>{escape(text)}" for name, text in readings)
        yield (
            f"<section class=rule><h3>{escape(fact.rule)}</h3><p>{escape(fact.question)}</p>"
            f"<dl>{terms}</dl><div class=seen id=d{fact.fingerprint}>"
            f"<b>{escape(fact.request + mark(fact))}</b>"
            f"<pre tabindex=0>{escape(fact.commands)}</pre>"
            f"<pre tabindex=0>{escape(fact.response)}</pre></div></section>"
        )


def _cause(cause: ReportedCause) -> str:
    first, *others = map(_difference, cause.differences)
    more = f"<details><summary>{len(others)} more</summary>{''.join(others)}</details>"
    readings = ""
    if cause.readings:
        ours, theirs = escape(cause.readings[0]), escape(cause.readings[-1])
        readings = f"<dl><dt>the deployment<dd>{ours}<dt>the other<dd>{theirs}</dl>"
    return (
        f'<section class="rule {cause.fault}"><h3>{escape(cause.rule)}</h3>'
        f"<p>{escape(cause.statement)}</p>{readings}{first}{more if others else ''}</section>"
    )


def _difference(difference: ReportedDifference) -> str:
    sides = (
        ("The deployment", difference.commands, difference.response),
        ("The other", difference.other_commands, difference.other_response),
    )
    columns = "".join(
        f"<div><h4>{title}</h4><pre tabindex=0>{escape(commands)}</pre>"
        f"<pre tabindex=0>{escape(response)}</pre></div>"
        for title, commands, response in sides
    )
    text = escape(difference.summary + mark(difference))
    return (
        f"<div class=seen id=d{difference.fingerprint}><b>{text}</b>"
        f"<div class=sides>{columns}</div></div>"
    )


def _documents(pair: ReportedDocuments) -> str:
    rows = []
    for change, places in grouped(pair.changes):
        css = "breaking" if change.breaks else "passed"
        also = "".join(f"<li>{escape(place)}" for place in places)
        folded = f"<details><summary>{len(places)} more places</summary><ul>{also}</ul></details>"
        rows.append(
            f"<tr><td>{escape(change.summary + mark(change))}{folded if places else ''}"
            f"<td class={css}>{breaks(change)}<td><code>{escape(change.pointer)}</code>"
        )
    head = "<tr><th>change<th>for clients<th>place"
    return f"<h2>{escape(heading(pair))}</h2><table>{head}{''.join(rows)}</table>"

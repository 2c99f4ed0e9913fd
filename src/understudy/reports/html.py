"""Writes a report as one self-contained HTML page, which reads whole without its script.

First what someone asks who was not there: what was judged and when, the verdict, the causes by severity,
what changed; then the details. The script only filters, copies and unfolds everything for the printer.
"""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Final

from understudy.reports.content import (
    Cause,
    Comparison,
    Coverage,
    Entry,
    Report,
    RuleLine,
    Section,
    ShownSide,
    Status,
)
from understudy.terminal import counted

STYLE: Final = """
:root{color-scheme:light dark;--ground:#f7f6f3;--surface:#fff;--sunken:#f0eee9;--ink:#1d1f1e;
--muted:#5c625f;--line:#e2e0da;--good:#125548;--bad:#9a3412;--note:#7a4b00;--on-cell:#fff;
--unseen:#e2e0da;--mono:ui-monospace,"SF Mono",Menlo,Consolas,monospace}
@media (prefers-color-scheme:dark){:root{--ground:#111413;--surface:#191d1b;--sunken:#202523;
--ink:#eaedec;--muted:#a3aba7;--line:#2c3230;--good:#8fd6c4;--bad:#f4ab8d;--note:#e5c07b;
--on-cell:#0b2620;--unseen:#2c3230}}
body{font:15px/1.5 system-ui,sans-serif;background:var(--ground);color:var(--ink);margin:0}
main{max-width:70rem;margin:0 auto;padding:2rem 1rem}
h1{font-size:1.6rem;overflow-wrap:anywhere;margin:0 0 .25rem}h2{margin:2.5rem 0 .5rem}
h3{margin:0;font:600 1.05rem system-ui,sans-serif}p{margin:.25rem 0}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .75rem .25rem 0;
border-bottom:1px solid var(--line);vertical-align:top}td:first-child{overflow-wrap:anywhere}
pre{background:var(--sunken);padding:.6rem .75rem;margin:.4rem 0;white-space:pre-wrap;
overflow-wrap:anywhere;font:13px/1.45 var(--mono);border-radius:8px}
.rule{background:var(--surface);border:1px solid var(--line);border-left:4px solid var(--bad);
border-radius:14px;padding:.75rem 1rem;margin:1rem 0}.note{border-left-color:var(--note)}
.seen{border-top:1px solid var(--line);margin-top:.75rem;padding-top:.6rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:0 1rem;margin:.25rem 0}
dt{color:var(--muted)}dd{margin:0;overflow-wrap:anywhere}summary{cursor:pointer}
.bar{display:flex;height:.6rem;border-radius:.3rem;overflow:hidden;margin:.75rem 0}
.bar i{min-width:3px}.bar .passed{background:var(--good)}.bar .failed{background:var(--bad)}
.bar .not_checked{background:var(--line)}
.passed{color:var(--good)}.failed{color:var(--bad)}.not_checked{color:var(--muted)}
.cell{fill:var(--good)}.cell.refused{fill:var(--note)}.cell.error{fill:var(--bad)}
.none{fill:var(--unseen)}
figure{margin:1rem 0;overflow-x:auto}svg text{font:12px system-ui,sans-serif;fill:currentColor}
svg .count{fill:var(--on-cell);text-anchor:middle}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(28rem,100%),1fr));gap:0 1rem}
.sides h4{margin:.5rem 0 0;font-weight:600;color:var(--muted)}
.sides pre{max-height:24rem;overflow:auto}
td,code,h1,h2,h3,b{overflow-wrap:anywhere}
.breaking{color:var(--bad)}
.verdict{font-size:1.15rem;font-weight:600;margin:.5rem 0}.verdict.good{color:var(--good)}
.verdict.bad{color:var(--bad)}
.severity{font:600 .8rem system-ui,sans-serif;color:var(--muted);margin-left:.5rem}
.id{font:13px var(--mono);color:var(--muted)}
a{color:inherit;display:inline-block;min-height:24px}summary{min-height:24px;padding:.2rem 0}
#filter{font:inherit;color:inherit;background:var(--surface);border:1px solid var(--muted);
border-radius:8px;padding:.35rem .6rem;min-height:24px;width:20rem;max-width:100%}
.copied{position:relative}.copied button{position:absolute;top:.3rem;right:.3rem;font:12px system-ui;
min-height:24px;padding:.1rem .6rem;border:1px solid var(--muted);border-radius:6px;
background:var(--surface);color:var(--ink);cursor:pointer}
@media print{:root{--ground:#fff;--surface:#fff;--sunken:#fff;--ink:#000;--muted:#444;--line:#999}
body{font-size:11px}main{max-width:none;padding:0}#tools,.copied button{display:none}
.rule{break-inside:avoid;border-radius:0}pre{border:1px solid #999;border-radius:0;max-height:none!important}
a{text-decoration:none}}
"""

SCRIPT: Final = """
const rules=[...document.querySelectorAll(".rule")],input=document.querySelector("#filter");
if(input){document.querySelector("#tools").hidden=rules.length<2;
input.addEventListener("input",()=>{for(const rule of rules)
rule.hidden=!rule.textContent.toLowerCase().includes(input.value.toLowerCase())})}
for(const text of document.querySelectorAll("pre.commands")){const button=document.createElement("button");
button.textContent="Copy";const box=document.createElement("div");box.className="copied";
text.replaceWith(box);box.append(text,button);button.addEventListener("click",async()=>{
await navigator.clipboard.writeText(text.textContent);button.textContent="Copied"})}
let closed=[];addEventListener("beforeprint",()=>{closed=[...document.querySelectorAll("details:not([open])")];
for(const one of closed)one.open=true});
addEventListener("afterprint",()=>{for(const one of closed)one.open=false});
"""
"""Filter, copy buttons, and everything unfolded on paper."""

LINES: Final = 5
"""Remarks that stand before the findings; more are folded."""

WORDS: Final[Mapping[Status, str]] = {
    "failed": "failed",
    "not_checked": "not checked",
    "passed": "passed",
}
"""Each status with its word on the page, most urgent first."""

CELL, LEFT, HEAD = 26, 250, 40  # pixels of the picture
REFUSED, ERROR = 400, 500  # the first statuses of these classes


def html(report: Report) -> str:
    """Returns a report as a page."""
    counts = _counts(report)
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        '<meta name=viewport content="width=device-width">',
        f"<title>{escape(f'{report.tool}: {counts or report.verdict}')}</title>",
        f"<style>{STYLE}</style>",
        "<body><main>",
        _head(report, counts),
        *map(_section, report.sections),
        *map(_comparison, report.comparisons),
        *_rules(report),
        _coverage(report.coverage) if report.coverage is not None else "",
        f"</main><script type=module>{SCRIPT}</script></body></html>",
    ]
    return "\n".join(part for part in parts if part)


def _counts(report: Report) -> str:
    if not report.rules:
        return ""
    return ", ".join(f"{report.count(status)} {word}" for status, word in WORDS.items())


def _head(report: Report, counts: str) -> str:
    bar = "".join(
        f'<i class={status} style="flex:{report.count(status)}"></i>'
        for status in WORDS
        if report.count(status)
    )
    started = report.numbers.get("started", "")
    when = f", {started.replace('T', ' ')} UTC" if started else ""
    mood = "bad" if report.is_bad else "good"
    lines = [
        f"<h1>{escape(report.title)}</h1>",
        f"<p>Judged by {escape(report.tool)}{escape(when)}</p>",
        f'<p class="verdict {mood}">{escape(report.verdict)}</p>',
    ]
    if bar:
        lines.append(f'<div class=bar role=img aria-label="{escape(counts)}">{bar}</div>')
    lines += [f"<p class=failed>{escape(line)}</p>" for line in report.alarms]
    lines += [f"<p>{escape(line)}</p>" for line in report.since]
    remarks = "".join(f"<p class=not_checked>{escape(line)}</p>" for line in report.remarks)
    many = len(report.remarks) > LINES
    lines += [_folded(counted(len(report.remarks), "remark"), remarks) if many else remarks]
    lines += _causes(report)
    if report.variables:
        command, places = report.exports
        lines.append(
            f"<p>The commands read secrets from variables: <code>{escape(command)}</code> "
            f"{escape(places)}</p>"
        )
    if not report.sections:
        lines.append("<h2>No findings</h2>")
    return "\n".join(lines)


def _causes(report: Report) -> Iterator[str]:
    """Yields a table of the causes, each with a link to its details."""
    rows = [
        f"<tr><td>{cause.severity}<td><a href=#{_anchor(cause)}>{escape(cause.heading)}</a>"
        f"<td>{len(cause.entries)}<td>{len(cause.names_of_consequences) or ''}"
        for section in report.sections
        if not section.is_note
        for cause in section.causes
    ]
    if rows:
        head = "<tr><th>severity<th>cause<th>findings<th>rules that follow"
        yield f"<h2>Causes</h2><table>{head}{''.join(rows)}</table>"
        yield (
            "<p id=tools hidden><label for=filter>Filter the causes: </label>"
            "<input id=filter type=search></p>"
        )


def _anchor(cause: Cause) -> str:
    return f"c{cause.entries[0].fingerprint}"


def _section(section: Section) -> str:
    css = "rule note" if section.is_note else "rule"
    parts = [f"<h2>{escape(section.title)}</h2>"]
    parts += [f"<p>{escape(section.introduction)}</p>"] if section.introduction else []
    return "\n".join([*parts, *(_cause(cause, css) for cause in section.causes)])


def _cause(cause: Cause, css: str) -> str:
    """Returns what was found for one reason, with what follows from it folded in."""
    first, *others = map(_entry, cause.entries)
    more = _folded(f"{len(others)} more", "".join(others)) if others else ""
    if cause.consequences:
        following = "".join(_cause(each, css) for each in cause.consequences)
        more += _folded(cause.following, following)
    name = f"<p class=id>{escape(cause.name)}</p>" if cause.heading != cause.name else ""
    return (
        f'<section class="{css}" id={_anchor(cause)}><h3>{escape(cause.heading)}'
        f"<span class=severity>{cause.severity}</span></h3>{name}"
        f"{_terms(cause.readings)}{first}{more}</section>"
    )


def _entry(entry: Entry) -> str:
    sides = "".join(map(_side, entry.sides))
    if len(entry.sides) > 1:
        sides = f"<div class=sides>{sides}</div>"
    return (
        f"<div class=seen id=f{entry.fingerprint}><b>{escape(entry.label)}</b>"
        f"{_terms(entry.facts)}{sides}</div>"
    )


def _side(side: ShownSide) -> str:
    title = f"<h4>{escape(side.title)}</h4>" if side.title else ""
    texts = ((side.commands, "commands"), (side.response, "response"))
    blocks = "".join(
        f"<pre tabindex=0 class={css}>{escape(text)}</pre>" for text, css in texts if text
    )
    folded = "".join(_folded(name, f"<pre>{escape(text)}</pre>") for name, text in side.folded)
    return f"<div>{title}{blocks}{folded}</div>"


def _terms(pairs: tuple[tuple[str, str], ...]) -> str:
    terms = "".join(f"<dt>{escape(name)}<dd>{escape(text)}" for name, text in pairs)
    return f"<dl>{terms}</dl>" if terms else ""


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def _comparison(comparison: Comparison) -> str:
    rows = []
    for change in comparison.changes:
        css = "breaking" if change.is_breaking else "passed"
        also = "".join(f"<li>{escape(place)}" for place in change.further)
        more = _folded(f"{len(change.further)} more places", f"<ul>{also}</ul>") if also else ""
        rows.append(
            f"<tr><td>{escape(change.summary)}{more}<td class={css}>{escape(change.effect)}"
            f"<td><code>{escape(change.pointer)}</code>"
        )
    head = "<tr><th>change<th>for clients<th>place"
    return f"<h2>{escape(comparison.title)}</h2><table>{head}{''.join(rows)}</table>"


def _rules(report: Report) -> Iterator[str]:
    if report.rules:
        yield "<h2>Rules</h2>"
    for status, word in WORDS.items():
        rules = [rule for rule in report.rules if rule.status == status]
        if rules:
            is_open = " open" if status == "failed" else ""
            head = "<tr><th>rule<th>judged<th>statement"
            yield (
                f"<details{is_open}><summary class={status}>{len(rules)} {word}</summary>"
                f"<table>{head}{''.join(map(_row, rules))}</table></details>"
            )


def _row(rule: RuleLine) -> str:
    mark = "" if rule.origin == "stated" else f" ({rule.origin})"
    times = {0: "never", 1: "once"}.get(rule.checks, f"{rule.checks} times")
    why = f"<p class=not_checked>{escape(rule.reason)}</p>" if rule.reason else ""
    return f"<tr><td>{escape(rule.name)}{mark}<td>{times}<td>{escape(rule.statement)}{why}"


def _coverage(coverage: Coverage) -> str:
    return f"<h2>Coverage</h2>{_picture(coverage)}{_folded('Parameters', _parameters(coverage))}"


def _picture(coverage: Coverage) -> str:
    """Returns an SVG of operations by statuses, with the count in each cell."""
    operations = sorted({operation for operation, _ in coverage.statuses})
    statuses = sorted({status for _, status in coverage.statuses})
    width, height = LEFT + 2 * CELL * len(statuses), HEAD + CELL * len(operations)
    marks = [
        f"<text x={LEFT + 2 * CELL * place} y={HEAD - 10}>{status}</text>"
        for place, status in enumerate(statuses)
    ]
    for row, operation in enumerate(operations):
        y = HEAD + CELL * row
        marks.append(f"<text x=0 y={y + 16}>{escape(operation)}</text>")
        for column, status in enumerate(statuses):
            marks.append(_cell(coverage, operation, status, (LEFT + 2 * CELL * column, y)))
    label = "operations by statuses"
    body = "".join(marks)
    return f'<figure tabindex=0 role=group aria-label="{label}"><svg role=img aria-label="{label}" width={width} height={height}>{body}</svg></figure>'


def _cell(coverage: Coverage, operation: str, status: int, place: tuple[int, int]) -> str:
    x, y = place
    count = coverage.statuses[operation, status]
    kind = "error" if status >= ERROR else "refused" if status >= REFUSED else ""
    css = f"cell {kind}" if count else "none"
    number = f"<text class=count x={x + CELL - 2} y={y + 16}>{count}</text>" if count else ""
    return (
        f'<rect class="{css}" x={x} y={y} width={2 * CELL - 3} height={CELL - 3} rx=3>'
        f"<title>{escape(operation)} {status}: {count}</title></rect>{number}"
    )


def _parameters(coverage: Coverage) -> str:
    """Returns an HTML table of parameters and the number of times that each was sent."""
    rows = [
        f"<tr><td>{escape(operation)}<td>{escape(name)}<td>{count}"
        for (operation, name), count in sorted(coverage.parameters.items())
    ]
    return "<table><tr><th>operation<th>parameter<th>sent" + "".join(rows) + "</table>"

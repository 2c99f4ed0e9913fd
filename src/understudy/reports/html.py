"""Writes a report as one self-contained HTML page, which is complete without its script.

It begins with a summary for people who did not run the command: what was judged and when, the
verdict, the causes by severity, the changes. The script filters, copies, and unfolds for print.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
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

STYLE: Final = Path(__file__).with_name("page.css")

SCRIPT: Final = Path(__file__).with_name("page.js")

LINES: Final = 5
"""Remarks that are shown before the findings; more are folded."""

WORDS: Final[Mapping[Status, str]] = {
    "failed": "failed",
    "not_checked": "not checked",
    "passed": "passed",
}
"""Each status with its word on the page, most urgent first."""


def html(report: Report) -> str:
    """Returns a report as a page."""
    counts = _counts(report)
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        '<meta name=viewport content="width=device-width">',
        f"<title>{escape(f'{report.tool}: {counts or report.verdict}')}</title>",
        f"<style>{STYLE.read_text(encoding='utf-8')}</style>",
        "<body><main>",
        _head(report, counts),
        *map(_section, report.sections),
        *map(_comparison, report.comparisons),
        *_rules(report),
        _coverage(report.coverage) if report.coverage is not None else "",
        f"</main><script type=module>{SCRIPT.read_text(encoding='utf-8')}</script></body></html>",
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
    texts = (*report.remarks, *report.details)
    remarks = "".join(f"<p class=not_checked>{escape(line)}</p>" for line in texts)
    lines += [_folded(counted(len(texts), "remark"), remarks) if len(texts) > LINES else remarks]
    lines += _causes(report)
    if report.variables:
        command, places = report.exports
        lines.append(
            f"<p>The commands read secrets from variables: <code>{escape(command)}</code>; "
            f"{escape(places)}.</p>"
        )
    if not report.sections:
        lines.append("<h2>No findings</h2>")
    return "\n".join(lines)


ENTRIES_LISTED: Final = 30
"""Findings of one cause on the page."""


def _causes(report: Report) -> Iterator[str]:
    """Yields a table of the causes, each with a link to its details."""
    rows = [
        f"<tr><td>{cause.severity}<td><a href=#{_anchor(cause)}>{escape(cause.heading)}</a>"
        f"<td>{len(cause.entries) if cause.entries[1:] else ''}<td>{len(cause.names_of_consequences) or ''}"
        for section in report.sections
        if not section.is_note
        for cause in section.causes
    ]
    if rows:
        head = "<tr><th>severity<th>cause<th>findings<th>rules that follow"
        yield f"<h2>Causes</h2><table id=causes>{head}{''.join(rows)}</table>"
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
    """Returns the findings of a cause, with its consequences folded."""
    first, *others = map(_entry, cause.entries[:ENTRIES_LISTED])
    left = len(cause.entries) - ENTRIES_LISTED
    others += [f"<p>and {left} more, which the JSON report lists</p>"] if left > 0 else []
    more = _folded(f"{len(cause.entries) - 1} more", "".join(others)) if others else ""
    if cause.consequences:
        following = "".join(_cause(each, css) for each in cause.consequences)
        more += _folded(cause.following, following)
    name = f"<p class=id>{escape(cause.broken)}</p>" if cause.heading != cause.name else ""
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
                f"<table class=rules>{head}{''.join(map(_row, rules))}</table></details>"
            )


def _row(rule: RuleLine) -> str:
    mark = "" if rule.origin == "stated" else f" ({rule.origin})"
    times = {0: "never", 1: "once"}.get(rule.checks, f"{rule.checks} times")
    why = f"<p class=not_checked>{escape(rule.reason)}</p>" if rule.reason else ""
    return f"<tr><td>{escape(rule.name)}{mark}<td>{times}<td>{escape(rule.statement)}{why}"


def _coverage(coverage: Coverage) -> str:
    return f"<h2>Coverage</h2>{_table(coverage)}{_folded('Parameters', _parameters(coverage))}"


def _table(coverage: Coverage) -> str:
    """Returns a table of operations by statuses, with the number of exchanges in each cell."""
    statuses = sorted({status for _, status in coverage.statuses})
    head = "".join(f"<th scope=col>{status}" for status in statuses)
    rows = "".join(
        f"<tr><th scope=row>{escape(operation)}{_cells(coverage, operation, statuses)}"
        for operation in sorted({operation for operation, _ in coverage.statuses})
    )
    return f"<div class=wide tabindex=0><table><tr><td>{head}{rows}</table></div>"


def _cells(coverage: Coverage, operation: str, statuses: Sequence[int]) -> str:
    counts = ((status, coverage.statuses[operation, status]) for status in statuses)
    return "".join(
        f"<td class=s{status // 100 * bool(count)}>{count or ''}" for status, count in counts
    )


def _parameters(coverage: Coverage) -> str:
    """Returns an HTML table of parameters and the number of times that each was sent."""
    rows = [
        f"<tr><td>{escape(operation)}<td>{escape(name)}<td>{count}"
        for (operation, name), count in sorted(coverage.parameters.items())
    ]
    return "<table><tr><th>operation<th>parameter<th>sent" + "".join(rows) + "</table>"

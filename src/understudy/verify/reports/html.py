"""Makes the report as one self-contained HTML page without scripts or external resources."""

from collections.abc import Mapping
from html import escape
from typing import Final

from understudy.exchange.shown import shown
from understudy.verify.findings import Finding
from understudy.verify.outcome import Coverage, Outcome, RuleOutcome, Status
from understudy.verify.reports.coverage import parameters, picture
from understudy.verify.reports.grouping import (
    NOTES,
    Cause,
    by_cause,
    by_rule,
    counted,
    variables,
    where,
)
from understudy.verify.reproducing import commands, snippet

STYLE = """
:root{color-scheme:light dark;--ground:#f7f6f3;--surface:#fff;--sunken:#f0eee9;--ink:#1d1f1e;
--muted:#5c625f;--line:#e2e0da;--good:#125548;--bad:#9a3412;--note:#7a4b00;--on-cell:#fff;
--unseen:#e2e0da;--mono:ui-monospace,"SF Mono",Menlo,Consolas,monospace}
@media (prefers-color-scheme:dark){:root{--ground:#111413;--surface:#191d1b;--sunken:#202523;
--ink:#eaedec;--muted:#a3aba7;--line:#2c3230;--good:#8fd6c4;--bad:#f4ab8d;--note:#e5c07b;
--on-cell:#0b2620;--unseen:#2c3230}}
body{font:15px/1.5 system-ui,sans-serif;background:var(--ground);color:var(--ink);margin:0}
main{max-width:70rem;margin:0 auto;padding:2rem 1rem}
h1{font-size:1.6rem;overflow-wrap:anywhere;margin:0 0 .25rem}h2{margin:2.5rem 0 .5rem}
h3{margin:0;font:600 1rem var(--mono)}p{margin:.25rem 0}
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
"""

WORDS: Final[Mapping[Status, str]] = {
    "failed": "failed",
    "not_checked": "not checked",
    "passed": "passed",
}
"""Each status with its word on the page, most urgent first."""


def html(outcome: Outcome, secrets: Mapping[str, str]) -> str:
    """Returns the report as a page."""
    counts = ", ".join(f"{outcome.count(status)} {word}" for status, word in WORDS.items())
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        '<meta name=viewport content="width=device-width">',
        f"<title>understudy verify: {counts}</title><style>{STYLE}</style>",
        "<body><main>",
        _head(outcome, counts),
        _findings(outcome, secrets),
        _notes(outcome, secrets),
        "<h2>Rules</h2>",
        *(_rules(outcome, status) for status in WORDS),
        "<h2>Coverage</h2>",
        _coverage(outcome.coverage),
        "</main></body></html>",
    ]
    return "\n".join(part for part in parts if part)


def _head(outcome: Outcome, counts: str) -> str:
    bar = "".join(
        f'<i class={status} style="flex:{outcome.count(status)}"></i>'
        for status in WORDS
        if outcome.count(status)
    )
    summary = [
        f"{counts}; {outcome.requests} requests in {outcome.seconds:.1f} s, "
        f"seed {outcome.seed}, {outcome.started:%Y-%m-%d %H:%M} UTC"
    ]
    alarms = [outcome.stopped] if outcome.stopped else []
    alarms += [f"Not restored: {line}" for line in outcome.not_restored]
    alarms += [f"Internal error: {line}" for line in outcome.internal_errors]
    return (
        f"<h1>{escape(outcome.target)}</h1>"
        + "".join(f"<p>{escape(line)}</p>" for line in summary)
        + f'<div class=bar role=img aria-label="{escape(counts)}">{bar}</div>'
        + "".join(f"<p class=failed>{escape(line)}</p>" for line in alarms)
    )


def _findings(outcome: Outcome, secrets: Mapping[str, str]) -> str:
    if not outcome.findings:
        return "<h2>No findings</h2>"
    named = variables(outcome.findings, secrets)
    hint = ""
    if named:
        export = " ".join(f"{name}=…" for name in named)
        hint = (
            f"<p>The commands read secrets from variables: <code>export {escape(export)}</code></p>"
        )
    rules = [_cause(cause, secrets) for cause in by_cause(outcome.findings)]
    return "\n".join(["<h2>Findings</h2>", hint, *rules])


def _notes(outcome: Outcome, secrets: Mapping[str, str]) -> str:
    if not outcome.notes:
        return ""
    rules = [_rule(findings, secrets, "rule note") for findings in by_rule(outcome.notes)]
    return "\n".join(["<h2>Notes</h2>", f"<p>{escape(NOTES)}</p>", *rules])


def _cause(cause: Cause, secrets: Mapping[str, str]) -> str:
    """Returns a rule's findings, with what follows from them folded in."""
    rules = cause.dependent_rules
    if not rules:
        return _rule(list(cause.findings), secrets, "rule")
    inner = "".join(_rule(findings, secrets, "rule") for findings in by_rule(cause.consequences))
    title = f"and {counted(len(rules), 'rule')} that the same responses break: {', '.join(rules)}"
    folded = f"<details><summary>{escape(title)}</summary>{inner}</details>"
    return _rule(list(cause.findings), secrets, "rule", folded)


def _rule(
    findings: list[Finding], secrets: Mapping[str, str], css: str, consequences: str = ""
) -> str:
    rule = findings[0].rule
    head = f"<h3>{escape(rule.id)}</h3><p>{escape(rule.statement)}</p>"
    first, *others = [_finding(finding, secrets) for finding in findings]
    more = "".join(others)
    if others:
        more = f"<details><summary>{len(others)} more</summary>{more}</details>"
    return f'<section class="{css}">{head}{first}{more}{consequences}</section>'


def _finding(finding: Finding, secrets: Mapping[str, str]) -> str:
    exchanges = "\n\n".join(shown(exchange, secrets) for exchange in finding.steps)
    blocks = "".join(
        f"<details><summary>{title}</summary><pre>{escape(text)}</pre></details>"
        for title, text in (("Exchanges", exchanges), ("Python", snippet(finding, secrets)))
    )
    actual = f"<dt>actual<dd>{escape(finding.actual)}" if finding.actual else ""
    lines = "\n".join(commands(finding, secrets))
    return (
        f"<div class=seen id=f{finding.fingerprint}><b>{escape(where(finding))}</b>"
        f"<dl><dt>expected<dd>{escape(finding.expected)}{actual}</dl>"
        f"<pre>{escape(lines)}</pre>{blocks}</div>"
    )


def _rules(outcome: Outcome, status: Status) -> str:
    rules = [rule for rule in outcome.rules if rule.status == status]
    if not rules:
        return ""
    is_open = " open" if status == "failed" else ""
    rows = "".join(_row(rule) for rule in rules)
    head = "<tr><th>rule<th>judged<th>statement"
    return (
        f"<details{is_open}><summary class={status}>{len(rules)} {WORDS[status]}</summary>"
        f"<table>{head}{rows}</table></details>"
    )


def _row(rule_outcome: RuleOutcome) -> str:
    mark = "" if rule_outcome.rule.status == "stated" else f" ({rule_outcome.rule.status})"
    times = (
        "never"
        if not rule_outcome.checks
        else "once"
        if rule_outcome.checks == 1
        else f"{rule_outcome.checks} times"
    )
    why = f"<p class=not_checked>{escape(rule_outcome.reason)}</p>" if rule_outcome.reason else ""
    return f"<tr><td>{escape(rule_outcome.rule.id)}{mark}<td>{times}<td>{escape(rule_outcome.rule.statement)}{why}"


def _coverage(coverage: Coverage) -> str:
    return (
        f"{picture(coverage)}<details><summary>Parameters</summary>{parameters(coverage)}</details>"
    )

"""Makes the report in Markdown, for pull requests and for the job summaries of a CI."""

import re
from collections.abc import Mapping

from understudy.verify.findings import Finding
from understudy.verify.outcome import Outcome
from understudy.verify.reports.grouping import Cause, by_cause, counted, unchecked, where
from understudy.verify.reports.terminal import sum_of
from understudy.verify.reproducing import commands

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~])")


def markdown(outcome: Outcome, secrets: Mapping[str, str]) -> str:
    """Returns the report as Markdown."""
    lines = [f"## understudy verify: {plain(outcome.target)}", "", f"{plain(sum_of(outcome))}.", ""]
    for text in (outcome.stopped, *outcome.internal_errors):
        lines += [f"**{plain(text)}**", ""] if text else []
    lines += [f"- not restored: {plain(line)}" for line in outcome.not_restored]
    for cause in by_cause(outcome.findings):
        lines += _section(cause, secrets)
    lines += _unchecked(outcome)
    return "\n".join(lines).rstrip() + "\n"


def _section(cause: Cause, secrets: Mapping[str, str]) -> list[str]:
    rule = cause.findings[0].rule
    lines = [f"### {plain(rule.id)}", "", plain(rule.statement), ""]
    for finding in cause.findings:
        lines += _finding(finding, secrets)
    if cause.dependent_rules:
        number = counted(len(cause.dependent_rules), "rule")
        names = ", ".join(map(plain, cause.dependent_rules))
        lines += [f"and {number} that the same responses break: {names}", ""]
    return lines


def _finding(finding: Finding, secrets: Mapping[str, str]) -> list[str]:
    steps = "\n".join(commands(finding, secrets))
    return [
        f"- **{plain(where(finding))}**",
        f"  - expected: {plain(finding.expected)}",
        f"  - actual: {plain(finding.actual)}",
        "",
        *folded("Commands", steps),
    ]


def folded(title: str, script: str) -> list[str]:
    """Returns a shell script that a reader of a page in Markdown unfolds."""
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", script) or [""]))
    lines = [f"<details><summary>{title}</summary>", "", f"{fence}sh", script, fence]
    return [*lines, "", "</details>", ""]


def _unchecked(outcome: Outcome) -> list[str]:
    reasons = unchecked(outcome)
    if not reasons:
        return []
    rows = [f"| {len(rules)} | {plain(reason)} |" for reason, rules in reasons]
    return ["### Rules not checked", "", "| rules | reason |", "| --: | --- |", *rows, ""]


def plain(text: str) -> str:
    """Returns a text of which Markdown interprets nothing, in one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))

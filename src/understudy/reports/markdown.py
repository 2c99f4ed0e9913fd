"""Writes a report in Markdown, for pull requests and for the job summaries of a CI."""

import re
from collections.abc import Iterator
from typing import Final

from understudy.reports.content import Cause, Comparison, Entry, Report

_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>|#~])")


def markdown(report: Report) -> str:
    """Returns a report as Markdown."""
    lines = [f"## {report.tool}: {plain(report.title)}", "", f"{plain(report.verdict)}.", ""]
    for line in report.alarms:
        lines += [f"**{plain(line)}**", ""]
    remarks = (*report.since, *report.remarks)
    lines += [f"- {plain(line)}" for line in remarks] + [""] * bool(remarks)
    for section in report.sections:
        if section.introduction:  # notes, which a pull request does not have to deal with
            continue
        if section.topic:
            lines += [f"### {section.title}", ""]
        for cause in section.causes:
            lines += _cause(cause, is_below=bool(section.topic))
    for comparison in report.comparisons:
        lines += _comparison(comparison)
    if report.unchecked:
        rows = [f"| {len(rules)} | {plain(reason)} |" for reason, rules in report.unchecked]
        lines += ["### Rules not checked", "", "| rules | reason |", "| --: | --- |", *rows, ""]
    return "\n".join(lines).rstrip() + "\n"


def _cause(cause: Cause, *, is_below: bool) -> Iterator[str]:
    yield f"{'####' if is_below else '###'} {plain(cause.heading)}"
    yield ""
    if cause.heading != cause.name:
        yield f"{cause.severity}; rule {plain(cause.broken)}"
        yield ""
    if cause.readings:
        yield plain("; ".join(f"{name}: {text}" for name, text in cause.readings))
        yield ""
    for number, entry in enumerate(cause.entries):
        yield from _entry(entry, is_first=not number)
    if cause.consequences:
        yield plain(cause.following)
        yield ""


def _entry(entry: Entry, *, is_first: bool) -> Iterator[str]:
    yield f"- **{plain(entry.label)}**"
    for name, text in entry.facts:
        yield f"  - {name}: {plain(text)}"
    yield ""
    if is_first or len(entry.sides) == 1:
        scripts = [f"# {side.title}\n{side.commands}" for side in entry.sides if side.title]
        yield from folded("Commands", "\n".join(scripts or [it.commands for it in entry.sides]))


def _comparison(comparison: Comparison) -> Iterator[str]:
    yield f"### {plain(comparison.title)}"
    yield ""
    yield "| change | for clients |"
    yield "| --- | --- |"
    for change in comparison.changes:
        more = f" (and in {len(change.further)} more places)" if change.further else ""
        yield f"| {plain(change.summary + more)} | {change.effect} |"
    yield ""


def folded(title: str, script: str) -> list[str]:
    """Returns the lines of a shell script that Markdown pages show folded."""
    # The fence must be longer than every run of backticks in the script.
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", script) or [""]))
    lines = [f"<details><summary>{title}</summary>", "", f"{fence}sh", script, fence]
    return [*lines, "", "</details>", ""]


def plain(text: str) -> str:
    """Returns a text in one line, with the characters that Markdown interprets escaped."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))

"""Makes the report in Markdown, for a pull request."""

from collections.abc import Iterator

from understudy.drift.reports.content import DriftReport, ReportedCause, ReportedDocuments
from understudy.drift.reports.wording import (
    CHANGED_FACTS,
    breaks,
    grouped,
    heading,
    mark,
    sections,
    total,
)
from understudy.verify.reports.markdown import folded, plain


def markdown(report: DriftReport) -> str:
    """Returns the report as a page in Markdown."""
    lines = ["## understudy drift", "", f"{plain(total(report))}.", ""]
    lines += [f"**{plain(line)}**\n" for line in report.stopped]
    lines += [f"- not restored: {plain(line)}" for line in report.not_restored]
    lines += [f"- {plain(line)}" for line in (*report.not_compared, *report.not_checked)] + [""]
    lines += _facts(report)
    for title, causes in sections(report):
        lines += [f"### {title}", ""]
        for cause in causes:
            lines += _cause(cause)
    for pair in report.documents:
        lines += _documents(pair)
    return "\n".join(lines).rstrip() + "\n"


def _facts(report: DriftReport) -> Iterator[str]:
    """Yields the facts that have changed."""
    if not report.changed_facts:
        return
    yield f"### {CHANGED_FACTS}"
    yield ""
    for fact in report.changed_facts:
        yield f"**{plain(fact.rule)}**: {plain(fact.question)}"
        yield ""
        readings = f"now {fact.now}; {fact.before} when learnt on {fact.learnt}{mark(fact)}"
        yield f"- {plain(f'{fact.request}: {readings}')}"
        yield ""
        yield from folded("Commands", fact.commands)


def _cause(cause: ReportedCause) -> Iterator[str]:
    statement = f": {plain(cause.statement)}" if cause.statement else ""
    yield f"**{plain(cause.rule)}**{statement}"
    yield ""
    if cause.readings:
        yield f"The deployment: {plain(cause.readings[0])}; the other: {plain(cause.readings[-1])}"
        yield ""
    for difference in cause.differences:
        yield f"- {plain(difference.summary + mark(difference))}"
    yield ""
    first = cause.differences[0]
    yield from folded("Commands", f"{first.commands}\n# at the other one:\n{first.other_commands}")


def _documents(pair: ReportedDocuments) -> Iterator[str]:
    if not pair.changes:
        return
    yield f"### {plain(heading(pair))}"
    yield ""
    yield "| change | for clients |"
    yield "| --- | --- |"
    for change, places in grouped(pair.changes):
        more = f" (and in {len(places)} more places)" if places else ""
        yield f"| {plain(change.summary + more + mark(change))} | {breaks(change)} |"
    yield ""

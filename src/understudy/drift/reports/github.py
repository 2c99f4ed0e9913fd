"""Reports differences to GitHub: one annotation for each."""

from understudy.drift.causes import NOTED
from understudy.drift.reports.content import DriftReport
from understudy.drift.reports.wording import CHANGED_FACTS, TITLES, breaks
from understudy.verify.reports.github import annotation


def annotations(report: DriftReport) -> list[str]:
    """Returns one workflow command for each entry that no baseline accepts."""
    lines = [
        annotation("error", f"fact-{fact.rule}", f"{CHANGED_FACTS}: {fact.summary}")
        for fact in report.changed_facts
        if not fact.is_accepted
    ]
    lines += [
        annotation(
            "notice" if cause.fault in NOTED else "error",
            cause.rule,
            f"{TITLES[cause.fault]}: {difference.summary}",
        )
        for cause in report.causes
        for difference in cause.differences
        if cause.fault != "learnt" and not difference.is_accepted
    ]
    lines += [
        annotation(
            "error" if change.breaks else "notice",
            f"document-{change.kind}",
            f"{change.summary} ({breaks(change)})",
        )
        for pair in report.documents
        for change in pair.changes
        if not change.is_accepted
    ]
    return lines

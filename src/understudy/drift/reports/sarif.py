"""Makes the report for code scanning (SARIF 2.1.0, OASIS)."""

from collections.abc import Iterator
from typing import Any, Final

from understudy.drift.causes import NOTED
from understudy.drift.documents.changes import STATEMENTS
from understudy.drift.reports.content import (
    DriftReport,
    ReportedCause,
    ReportedEntry,
)
from understudy.drift.reports.wording import CHANGED_FACTS, TITLES, breaks
from understudy.verify.reports.sarif import sarif_log

UNEXPLAINED: Final = "unexplained"


def sarif(report: DriftReport) -> str:
    """Returns the report as SARIF; what a baseline accepts is suppressed there."""
    results = [*_of_facts(report), *_of_causes(report), *_of_documents(report)]
    return sarif_log("understudy drift", list(_rules(report)), results)


def _rules(report: DriftReport) -> Iterator[dict[str, Any]]:
    named = {f"fact-{it.rule}": it.question for it in report.changed_facts}
    named |= {_id(cause): cause.statement or TITLES[cause.fault] for cause in report.causes}
    kinds = {change.kind for pair in report.documents for change in pair.changes}
    named |= {f"document-{kind}": STATEMENTS[kind] for kind in sorted(kinds)}
    for name, statement in named.items():
        yield {"id": name, "shortDescription": {"text": statement}}


def _id(cause: ReportedCause) -> str:
    return UNEXPLAINED if cause.fault == UNEXPLAINED else cause.rule


def _of_facts(report: DriftReport) -> Iterator[dict[str, Any]]:
    for fact in report.changed_facts:
        operation = fact.request.rpartition(" as ")[0]
        text = "\n".join([CHANGED_FACTS, fact.summary, fact.commands])
        yield _result(f"fact-{fact.rule}", "error", text, operation, fact)


def _of_causes(report: DriftReport) -> Iterator[dict[str, Any]]:
    for cause in report.causes:
        level = "note" if cause.fault in {*NOTED, "learnt"} else "error"
        for difference in cause.differences:
            operation = difference.request.rpartition(" as ")[0]
            text = "\n".join([TITLES[cause.fault], difference.summary, difference.commands])
            yield _result(_id(cause), level, text, operation, difference)


def _of_documents(report: DriftReport) -> Iterator[dict[str, Any]]:
    for pair in report.documents:
        for change in pair.changes:
            level = "error" if change.breaks else "note"
            text = f"{change.summary} ({breaks(change)}; from {pair.old} to {pair.new})"
            yield _result(
                f"document-{change.kind}", level, text, change.operation or pair.new, change
            )


def _result(
    rule: str, level: str, text: str, operation: str, entry: ReportedEntry
) -> dict[str, Any]:
    result = {
        "ruleId": rule,
        "level": level,
        "message": {"text": text},
        "locations": [{"logicalLocations": [{"fullyQualifiedName": operation}]}],
        "partialFingerprints": {"understudy/v1": entry.fingerprint},
    }
    return result | ({"suppressions": [{"kind": "external"}]} if entry.is_accepted else {})

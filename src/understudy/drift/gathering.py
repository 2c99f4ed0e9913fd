"""Makes the content of a report from what was compared; secrets are masked from here on."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import orjson

from understudy.drift.causes import DriftCause
from understudy.drift.comparing import Drift
from understudy.drift.differences import Difference
from understudy.drift.documents.changes import DocumentChange
from understudy.drift.documents.sources import ComparedDocuments, DocumentsOfRun
from understudy.drift.drift_report import (
    DriftReport,
    ReportedCause,
    ReportedChange,
    ReportedDifference,
    ReportedDocuments,
    ReportedFact,
)
from understudy.drift.learnt_facts import ChangedFact
from understudy.exchange.masking import masked, masked_fields
from understudy.exchange.messages import Exchange
from understudy.exchange.shown import BODY_SHOWN, text_of
from understudy.reports.content import counted
from understudy.verify.findings import ANSWERS, Finding
from understudy.verify.reproducing import commands

QUIET_HEADERS: Final = frozenset({"connection", "content-length", "date", "server"})
"""Headers of responses that tell nothing of a difference."""

_ABSENT: Final = object()


def report_of_documents(pair: ComparedDocuments) -> DriftReport:
    """Returns the report of two documents alone."""
    return DriftReport(
        deployment="",
        other="",
        requests=0,
        causes=[],
        documents=[_documents(pair)],
        not_compared=[],
        not_checked=[],
        stopped=[],
        not_restored=[],
    )


def report_of_run(
    drift: Drift,
    documents: DocumentsOfRun,
    names: tuple[str, str],
    secrets: Mapping[str, str],
) -> DriftReport:
    """Returns the report of two deployments.

    Args:
        drift: How they behave.
        documents: What their documents say.
        names: Name or base URL of the deployment, and of the other one.
        secrets: Each secret, and the variable that replaces it.
    """
    return DriftReport(
        deployment=names[0],
        other=names[1],
        requests=drift.requests,
        causes=[_cause(cause, drift, secrets) for cause in drift.causes],
        documents=[_documents(pair) for pair in documents.pairs],
        not_compared=[*documents.missing, *drift.not_compared],
        not_checked=list(_not_checked(drift)),
        stopped=list(dict.fromkeys(run.stopped for run in drift.runs if run.stopped)),
        not_restored=[line for run in drift.runs for line in run.not_restored],
        changed_facts=[_fact(changed, drift, secrets) for changed in drift.changed_facts],
    )


def _not_checked(drift: Drift) -> Iterator[str]:
    """Yields each reason with the number of rules that were not checked for it, most rules first."""
    reasons: defaultdict[str, set[str]] = defaultdict(set)
    for run in drift.runs:
        noted = {note.rule.id for note in run.notes}
        for outcome in run.rules:
            is_open = outcome.status == "not_checked" and outcome.could_be
            if is_open and outcome.rule.id not in noted:
                reasons[outcome.reason].add(outcome.rule.id)
    for reason, rules in sorted(reasons.items(), key=lambda entry: -len(entry[1])):
        yield f"{counted(len(rules), 'rule')} not checked: {reason}"


def _cause(cause: DriftCause, drift: Drift, secrets: Mapping[str, str]) -> ReportedCause:
    kinds: dict[tuple[str, ...], list[Difference]] = {}
    for each in cause.differences:
        kinds.setdefault((place(each), each.aspect, each.ours, each.theirs), []).append(each)
    return ReportedCause(
        fault=cause.fault,
        rule=cause.rule,
        statement=cause.statement,
        readings=[text for text in cause.readings if text],
        differences=[_difference(members, drift, secrets) for members in kinds.values()],
    )


def _difference(
    members: Sequence[Difference], drift: Drift, secrets: Mapping[str, str]
) -> ReportedDifference:
    first = members[0]
    return ReportedDifference(
        request=place(first),
        aspect=first.aspect,
        deployment=first.ours,
        other=first.theirs,
        seen=len(members),
        commands=_script((first.theirs, first.ours), drift.steps(first), secrets),
        response=shown_response(first.exchange, secrets, first.other),
        other_commands=_script((first.theirs, first.ours), drift.steps_at_other(first), secrets),
        other_response=shown_response(first.other, secrets, first.exchange),
        fingerprint=_fingerprint(first),
    )


def _fact(changed: ChangedFact, drift: Drift, secrets: Mapping[str, str]) -> ReportedFact:
    steps, last = drift.steps_of_fact(changed), changed.steps[-1]
    return ReportedFact(
        rule=changed.rule.id,
        question=changed.rule.statement.strip(),
        before=changed.before,
        now=changed.now,
        learnt=changed.fact.learnt,
        request=_place(last),
        commands=_script((changed.before, changed.now), steps, secrets),
        response=shown_response(last, secrets),
        fingerprint=_hash("fact", changed.rule.id, changed.before, changed.now),
    )


def _script(values: tuple[str, str], steps: Sequence[Exchange], secrets: Mapping[str, str]) -> str:
    """Returns a script that shows the second of two values, in place of the first."""
    finding = Finding(ANSWERS, *values, tuple(steps))
    return "\n".join(commands(finding, secrets))


def place(difference: Difference) -> str:
    """Returns the operation of a difference, and its caller."""
    return _place(difference.exchange)


def _place(exchange: Exchange) -> str:
    operation = exchange.operation or f"{exchange.request.method} {exchange.path}"
    return f"{operation} as {exchange.identity.name}"


def _fingerprint(difference: Difference) -> str:
    return _hash(
        difference.exchange.operation,
        difference.exchange.identity.kind,
        difference.aspect,
        difference.ours,
        difference.theirs,
    )


def _hash(*parts: str) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()[:16]


def _documents(pair: ComparedDocuments) -> ReportedDocuments:
    return ReportedDocuments(pair.old, pair.new, [_change(it) for it in pair.changes])


def _change(change: DocumentChange) -> ReportedChange:
    return ReportedChange(
        kind=change.kind,
        operation=change.operation,
        place=change.place,
        member=change.member,
        before=change.before,
        after=change.after,
        breaks=sorted(change.breaks),
        pointer=change.pointer,
        summary=change.summary,
        fingerprint=change.fingerprint,
    )


def shown_response(
    exchange: Exchange, secrets: Mapping[str, str], other: Exchange | None = None
) -> str:
    """Returns a response as text: the status, headers, and the start of its body.

    Args:
        exchange: The exchange.
        secrets: Each secret, and the variable that replaces it.
        other: The exchange beside it: of two JSON objects the members that differ are shown, if any
            do; None to show all.
    """
    response = exchange.response
    lines = [f"HTTP {response.status}"]
    lines += [
        f"{name}: {text}"
        for name, text in masked_fields(response.headers, secrets)
        if name not in QUIET_HEADERS
    ]
    body, alike = _differing(exchange.body, other.body if other is not None else None)
    text = text_of(response.body if body is None else orjson.dumps(body))
    if text is None:
        lines += ["", f"({len(response.body)} bytes)"]
    elif text:
        rest = "…" if len(text) > BODY_SHOWN else ""
        lines += ["", masked(text[:BODY_SHOWN], secrets) + rest]
    if alike:
        verb = "is" if alike == 1 else "are"
        lines += [f"({counted(alike, 'more member')} {verb} the same at both)"]
    return "\n".join(lines)


def _differing(body: Any, other: Any) -> tuple[dict[str, Any] | None, int]:
    """Returns the members of an object that another has not alike, and the number of the rest.

    None stands for the whole body, where nothing differs or one of both is not an object.
    """
    if not (isinstance(body, dict) and isinstance(other, dict)):
        return None, 0
    differing = {name: value for name, value in body.items() if other.get(name, _ABSENT) != value}
    is_more = differing or other.keys() - body.keys()
    return (differing, len(body) - len(differing)) if is_more else (None, 0)

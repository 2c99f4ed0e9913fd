"""Builds the report of a comparison, with secrets masked and personal data pseudonymised."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

import msgspec
import orjson
from msgspec import structs

from understudy.drift.causes import DriftCause
from understudy.drift.comparing import Drift
from understudy.drift.differences import NOTED, Difference
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
from understudy.exchange.masking import BODY_SHOWN, masked, masked_fields, text_of
from understudy.exchange.messages import Exchange
from understudy.record.personal_values import PersonalValues
from understudy.terminal import counted
from understudy.verify.findings import ANSWERS, Finding
from understudy.verify.reports import BEARER, BEARER_REFUSED, lacks_access
from understudy.verify.reproducing import commands

QUIET_HEADERS: Final = frozenset({"connection", "content-length", "date", "server"})
"""Response headers that never explain a difference."""

_ABSENT: Final = object()


def report_of_documents(pair: ComparedDocuments) -> DriftReport:
    """Returns the report of two documents, without deployments."""
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
    personal: PersonalValues,
) -> DriftReport:
    """Returns the report of two deployments.

    Args:
        drift: The differences of their behaviour.
        documents: The differences of their documents.
        names: Name or base URL of the deployment, and of the other one.
        secrets: Each secret with the name of the variable that replaces it.
        personal: The personal values that were seen, with their pseudonyms.
    """
    for run in drift.runs:
        personal.read(run.exchanges)
    hidden = _Hidden(drift, secrets, personal)
    report = DriftReport(
        deployment=names[0],
        other=names[1],
        requests=drift.requests,
        causes=[_cause(cause, hidden) for cause in drift.causes],
        documents=[_documents(pair) for pair in documents.pairs],
        not_compared=[*documents.missing, *drift.not_compared],
        not_checked=list(_not_checked(drift)),
        stopped=list(dict.fromkeys(run.stopped for run in drift.runs if run.stopped)),
        not_restored=[line for run in drift.runs for line in run.not_restored],
        changed_facts=[_fact(changed, hidden) for changed in drift.changed_facts],
    )
    texts = personal.hidden_texts(msgspec.to_builtins(report), _IMPERSONAL)
    return msgspec.convert(texts, DriftReport)


_IMPERSONAL: Final = frozenset(
    {"aspect", "deployment", "documents", "fault", "fingerprint", "other", "question", "statement"}
)
"""Members of a report that hold words of the contract or URLs, and no personal data."""


class _Hidden(NamedTuple):
    """Renders exchanges without secrets and personal data."""

    drift: Drift
    secrets: Mapping[str, str]
    personal: PersonalValues

    def script(self, values: tuple[str, str], steps: Sequence[Exchange]) -> str:
        """Returns a shell script that reproduces the second of two values, the first being expected."""
        finding = Finding(ANSWERS, *values, tuple(map(self.personal.hidden_exchange, steps)))
        return "\n".join(commands(finding, self.secrets))

    def response(self, exchange: Exchange, other: Exchange | None = None) -> str:
        """Returns a response as text; with another exchange only the parts that differ from it."""
        hide = self.personal.hidden_exchange
        return shown_response(hide(exchange), self.secrets, other and hide(other))


def _not_checked(drift: Drift) -> Iterator[str]:
    """Yields a line for each reason why rules were not checked, the reason of most rules first."""
    reasons: defaultdict[str, set[str]] = defaultdict(set)
    for run in drift.runs:
        noted = {note.rule.id for note in run.notes}
        for outcome in run.rules:
            is_open = outcome.status == "not_checked" and outcome.could_be
            if is_open and outcome.rule.id not in noted:
                reasons[outcome.reason].add(outcome.rule.id)
    for reason, rules in sorted(reasons.items(), key=lambda entry: -len(entry[1])):
        yield f"{counted(len(rules), 'rule')} not checked: {reason}"


def _cause(cause: DriftCause, hidden: _Hidden) -> ReportedCause:
    """Returns a cause whose requests are shown once, however many aspects differ in them."""
    kinds: dict[tuple[str, ...], list[Difference]] = {}
    for it in cause.differences:
        kinds.setdefault((place(it), it.aspect, it.ours, it.theirs), []).append(it)
    shown = set[Sequence[Exchange]]()
    differences = []
    for members in kinds.values():
        steps = hidden.drift.steps(members[0])
        differences.append(_difference(members, hidden, () if steps in shown else steps))
        shown.add(steps)
    return ReportedCause(
        fault=cause.fault,
        rule=cause.rule,
        statement=cause.statement,
        readings=[text for text in cause.readings if text],
        differences=differences,
        severity="minor" if cause.fault in {*NOTED, "learnt"} else cause.severity,
        words=BEARER_REFUSED
        if cause.rule == BEARER
        and any(lacks_access(it.exchange, it.other) for it in cause.differences)
        else "",
    )


def _difference(
    members: Sequence[Difference], hidden: _Hidden, steps: Sequence[Exchange]
) -> ReportedDifference:
    """Returns what differs in some exchanges, with the steps that show it unless they were shown."""
    first, theirs = members[0], hidden.drift.steps_at_other(members[0])
    values = first.theirs, first.ours
    return ReportedDifference(
        request=place(first),
        aspect=first.aspect,
        deployment=first.ours,
        other=first.theirs,
        seen=len(members),
        commands=hidden.script(values, steps) if steps else "",
        response=hidden.response(first.exchange, first.other) if steps else "",
        other_commands=hidden.script(values, theirs) if steps else "",
        other_response=hidden.response(first.other, first.exchange) if steps else "",
        fingerprint=_fingerprint(first),
    )


def _fact(changed: ChangedFact, hidden: _Hidden) -> ReportedFact:
    steps, last = hidden.drift.steps_of_fact(changed), changed.steps[-1]
    return ReportedFact(
        rule=changed.rule.id,
        question=changed.rule.statement.strip(),
        before=changed.before,
        now=changed.now,
        learnt=changed.fact.learnt,
        request=_place(last),
        commands=hidden.script((changed.before, changed.now), steps),
        response=hidden.response(last),
        fingerprint=_hash("fact", changed.rule.id, changed.before, changed.now),
    )


def place(difference: Difference) -> str:
    """Returns the operation and the caller of a difference."""
    return _place(difference.exchange)


def _place(exchange: Exchange) -> str:
    operation = exchange.title or f"{exchange.request.method} {exchange.path}"
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
    reported = msgspec.convert(change, ReportedChange, from_attributes=True)
    return structs.replace(reported, breaks=sorted(change.breaks))  # a set has no order


def shown_response(
    exchange: Exchange, secrets: Mapping[str, str], other: Exchange | None = None
) -> str:
    """Returns a response as text: the status, headers, and the start of its body.

    Args:
        exchange: The exchange.
        secrets: Each secret with the name of the variable that replaces it.
        other: The exchange to compare with: only headers that differ are shown, and of two JSON
            objects only members that differ, if any do; None to show all.
    """
    response = exchange.response
    alike_fields = set(other.response.headers) if other is not None else set()
    alike_fields -= {it for it in alike_fields if it[0] == "content-type"}  # it explains the body
    differing = [it for it in response.headers if it not in alike_fields]
    lines = [f"HTTP {response.status}"]
    lines += [
        f"{name}: {text}"
        for name, text in masked_fields(differing, secrets)
        if name not in QUIET_HEADERS
    ]
    body, alike = _differing(exchange.body, other.body if other is not None else None)
    text = text_of(response.body if body is None else orjson.dumps(body))
    if text is None:
        lines += ["", f"({len(response.body)} bytes)"]
    elif text:
        rest = "…" if len(text) > BODY_SHOWN else ""
        lines += ["", masked(text, secrets)[:BODY_SHOWN] + rest]
    if alike:
        verb = "is" if alike == 1 else "are"
        lines += [f"({counted(alike, 'more member')} {verb} the same at both)"]
    return "\n".join(lines)


def _differing(body: Any, other: Any) -> tuple[dict[str, Any] | None, int]:
    """Returns the members of a body that differ from another body, and the number of equal ones.

    Returns None for the members if nothing differs or one of the bodies is not an object.
    """
    if not (isinstance(body, dict) and isinstance(other, dict)):
        return None, 0
    differing = {name: value for name, value in body.items() if other.get(name, _ABSENT) != value}
    is_more = differing or other.keys() - body.keys()
    return (differing, len(body) - len(differing)) if is_more else (None, 0)

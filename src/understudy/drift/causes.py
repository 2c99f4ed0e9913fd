"""Says whose fault a difference is, by what the judge found at both deployments."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from understudy.drift.differences import Difference
from understudy.verify.findings import Finding
from understudy.verify.outcome import Outcome

Fault = Literal["deployment", "other", "silent", "unexplained"]
FAULTS: Final[tuple[Fault, ...]] = ("deployment", "other", "silent", "unexplained")
"""Whose fault a difference can be, in the order of reports."""

_Key = tuple[Fault, str, str]


@dataclass(frozen=True, slots=True)
class DriftCause:
    """The differences that have one cause.

    Attributes:
        fault: The deployment breaks a rule (``deployment``), the other one does (``other``), the
            contract leaves it open (``silent``), or no rule is about it (``unexplained``).
        rule: Id of the rule; of what is unexplained the aspect with both values.
        statement: The rule in one sentence; empty where there is none.
        differences: The differences, in the order of the requests.
    """

    fault: Fault
    rule: str
    statement: str
    differences: tuple[Difference, ...]


def causes(found: Iterable[Difference], ours: Outcome, theirs: Outcome) -> list[DriftCause]:
    """Returns differences by their causes, the deployment's faults first.

    Args:
        found: The differences.
        ours: The judgement of the deployment.
        theirs: The judgement of the other deployment.
    """
    judge = _Judgement(ours, theirs)
    differences = tuple(found)
    known = {_kind(each): key for each in differences if (key := judge.of(each)) is not None}
    groups: dict[_Key, list[Difference]] = {}
    for difference in differences:
        key = judge.of(difference) or known.get(_kind(difference)) or _unexplained(difference)
        groups.setdefault(key, []).append(difference)
    keys = sorted(groups, key=lambda key: FAULTS.index(key[0]))
    return [DriftCause(*key, tuple(groups[key])) for key in keys]


class _Judgement:
    """The findings and notes at both deployments, by the exchange that decides them."""

    def __init__(self, ours: Outcome, theirs: Outcome) -> None:
        self._at_deployment: list[tuple[Fault, Mapping[int, list[Finding]]]] = [
            ("deployment", _by_exchange(ours.findings)),
            ("silent", _by_exchange(ours.notes)),
        ]
        self._at_other: list[tuple[Fault, Mapping[int, list[Finding]]]] = [
            ("other", _by_exchange(theirs.findings)),
            ("silent", _by_exchange(theirs.notes)),
        ]

    def of(self, difference: Difference) -> _Key | None:
        """Returns the rule that a difference is about; None where its exchanges break none."""
        own, other = difference.exchange.number, difference.other.number
        found = [
            (fault, finding)
            for sides, number in ((self._at_deployment, own), (self._at_other, other))
            for fault, by_exchange in sides
            for finding in by_exchange.get(number, ())
            if _is_about(finding, difference)
        ]
        if not found:
            return None
        fault, finding = min(found, key=lambda each: FAULTS.index(each[0]))
        return fault, finding.rule.id, finding.rule.statement.strip()


def _kind(difference: Difference) -> tuple[str, ...]:
    """Returns what repeated differences share: findings are kept once for all their exchanges."""
    operation = difference.exchange.operation
    return operation, difference.aspect, difference.ours, difference.theirs


def _unexplained(difference: Difference) -> _Key:
    return "unexplained", f"{difference.aspect}: {difference.ours}, not {difference.theirs}", ""


def _is_about(finding: Finding, difference: Difference) -> bool:
    """Tells whether a finding can be about a difference: then it has its words.

    Those are the name of a header or a member, a value of a status or an error code, and none of
    what else decides a response.
    """
    kind, _, name = difference.aspect.partition(" ")
    if kind in {"header", "member"}:
        words = [name.rpartition(".")[2].removesuffix("[]")]
    elif difference.aspect == "error code":
        words = [difference.ours, difference.theirs]
    elif difference.aspect == "status":
        words = ["status", difference.ours, difference.theirs]
    else:
        return not finding.rule.id.startswith("rate-limit")
    text = f"{finding.rule.statement} {finding.expected} {finding.actual}".lower()
    return any(word.lower() in text for word in words)


def _by_exchange(findings: Iterable[Finding]) -> dict[int, list[Finding]]:
    """Returns the findings that each exchange decides."""
    decided: dict[int, list[Finding]] = {}
    for finding in findings:
        decided.setdefault(finding.exchange.number, []).append(finding)
    return decided

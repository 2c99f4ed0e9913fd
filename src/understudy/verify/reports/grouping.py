"""Groups findings and unchecked rules for the reports that people read."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from understudy.verify.findings import ANSWERS, DOCUMENT, GENERATED, Finding
from understudy.verify.outcome import Outcome
from understudy.verify.reproducing import commands

NOTES: Final = (
    "Notes: assumptions that a deployment need not share, rules inferred from its document, or "
    "demands of the bundled document "
    "alone. They do not change the exit code."
)
"""The introduction of the notes."""

GENERAL: Final = frozenset({ANSWERS.id, DOCUMENT.id, GENERATED.id})
"""Rules that are broken together with a more telling one."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The findings of one rule, and what follows from the same exchanges.

    Attributes:
        findings: The findings of the rule, at least one.
        consequences: The findings of other rules that the same exchanges break.
    """

    findings: tuple[Finding, ...]
    consequences: tuple[Finding, ...] = ()

    @property
    def dependent_rules(self) -> tuple[str, ...]:
        """The ids of the rules that are broken as a consequence."""
        return tuple(dict.fromkeys(finding.rule.id for finding in self.consequences))


def by_rule(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Returns the findings of each rule, in the order in which the rules first occur."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.rule.id, []).append(finding)
    return list(groups.values())


def by_cause(findings: Iterable[Finding]) -> list[Cause]:
    """Returns the findings by rule, with the rules that the same exchanges break under the first.

    A rule is a consequence of another if each of its decisive exchanges is decisive for that other
    rule too. Rules about every response, such as ``document``, never come first.
    """
    groups = by_rule(sorted(findings, key=lambda finding: finding.rule.id in GENERAL))
    causes: list[tuple[list[Finding], list[Finding]]] = []
    for group in groups:
        numbers = {finding.exchange.number for finding in group}
        behind = next((cause for cause in causes if numbers <= _decisive(cause[0])), None)
        if behind is None:
            causes.append((group, []))
        else:
            behind[1].extend(group)
    return [Cause(tuple(group), tuple(consequences)) for group, consequences in causes]


def _decisive(findings: Iterable[Finding]) -> set[int]:
    return {finding.exchange.number for finding in findings}


def unchecked(outcome: Outcome) -> list[tuple[str, list[str]]]:
    """Returns each reason with the rules that were not checked for it, most rules first."""
    noted = {finding.rule.id for finding in outcome.notes}
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for result in outcome.rules:
        if result.status == "not_checked" and result.rule.id not in noted:
            reasons[result.reason].append(result.rule.id)
    return sorted(reasons.items(), key=lambda entry: -len(entry[1]))


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun, in the plural where there is not one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def where(finding: Finding) -> str:
    """Returns a finding's operation, identity and number of sightings."""
    exchange = finding.exchange
    operation = exchange.operation or f"{exchange.request.method} {exchange.path}"
    seen = f", seen {finding.count} times" if finding.count > 1 else ""
    return f"{operation} as {exchange.identity.name}{seen}"


def variables(findings: Iterable[Finding], secrets: Mapping[str, str]) -> list[str]:
    """Returns the variables that the findings' commands read from the environment."""
    text = "\n".join(line for finding in findings for line in commands(finding, secrets))
    return sorted({name for name in secrets.values() if f"${name}" in text})

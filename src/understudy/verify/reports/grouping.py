"""What the reports for people have in common: findings by rule, and what their commands need."""

from collections.abc import Iterable, Mapping
from typing import Final

from understudy.verify.findings import Finding
from understudy.verify.reproducing import commands

NOTES: Final = (
    "Assumptions of ours that this deployment does not share, or what only our document says; "
    "they fail nothing."
)
"""What is said of notes."""


def by_rule(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Returns findings, those of one rule together, in the order in which rules first appear."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.rule.id, []).append(finding)
    return list(found.values())


def where(finding: Finding) -> str:
    """Returns what a finding is about: the operation, whose request it was, and how often."""
    exchange = finding.exchange
    place = exchange.operation or f"{exchange.request.method} {exchange.path}"
    seen = f", seen {finding.count} times" if finding.count > 1 else ""
    return f"{place} as {exchange.identity.name}{seen}"


def variables(findings: Iterable[Finding], secrets: Mapping[str, str]) -> list[str]:
    """Returns the secrets that the findings' commands read from the environment."""
    text = "\n".join(line for finding in findings for line in commands(finding.steps, secrets))
    return sorted({name for name in secrets.values() if f"${name}" in text})

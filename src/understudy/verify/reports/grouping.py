"""Groups findings for the reports that people read."""

from collections.abc import Iterable, Mapping
from typing import Final

from understudy.verify.findings import Finding
from understudy.verify.reproducing import commands

NOTES: Final = (
    "Notes: assumptions that a deployment need not share, or demands of the bundled document "
    "alone. They do not change the exit code."
)
"""The introduction of the notes."""


def by_rule(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Returns the findings of each rule, in the order in which the rules first occur."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.rule.id, []).append(finding)
    return list(groups.values())


def where(finding: Finding) -> str:
    """Returns a finding's operation, identity and number of sightings."""
    exchange = finding.exchange
    operation = exchange.operation or f"{exchange.request.method} {exchange.path}"
    seen = f", seen {finding.count} times" if finding.count > 1 else ""
    return f"{operation} as {exchange.identity.name}{seen}"


def variables(findings: Iterable[Finding], secrets: Mapping[str, str]) -> list[str]:
    """Returns the variables that the findings' commands read from the environment."""
    text = "\n".join(line for finding in findings for line in commands(finding.steps, secrets))
    return sorted({name for name in secrets.values() if f"${name}" in text})

"""Makes the report for programs; ``report.schema.json`` describes each version of it."""

from collections.abc import Mapping
from typing import Any

import orjson

from understudy.verify.findings import Finding, shown
from understudy.verify.outcome import Coverage, Outcome
from understudy.verify.reproducing import commands, snippet

VERSION = 2


def json(outcome: Outcome, secrets: Mapping[str, str]) -> str:
    """Returns the report as JSON."""
    return orjson.dumps(content(outcome, secrets), option=orjson.OPT_INDENT_2).decode()


def content(outcome: Outcome, secrets: Mapping[str, str]) -> dict[str, Any]:
    """Returns the report's content."""
    return {
        "version": VERSION,
        "target": outcome.target,
        "seed": outcome.seed,
        "started": outcome.started.isoformat(),
        "seconds": round(outcome.took.total_seconds(), 3),
        "stopped": outcome.stopped,
        "not_restored": list(outcome.not_restored),
        "remaining": list(outcome.remaining),
        "rules": [
            {
                "id": rule_outcome.rule.id,
                "statement": rule_outcome.rule.statement,
                "assumed": rule_outcome.rule.status == "assumed",
                "status": rule_outcome.status,
                "reason": rule_outcome.reason,
                "checks": rule_outcome.checks,
                "exchanges": list(rule_outcome.exchanges),
            }
            for rule_outcome in outcome.rules
        ],
        "findings": [described(finding, secrets) for finding in outcome.findings],
        "notes": [described(finding, secrets) for finding in outcome.notes],
        "internal_errors": list(outcome.internal_errors),
        "validators_differ": list(outcome.differences),
        "coverage": _coverage(outcome.coverage),
        "budget": {
            "requests": outcome.requests,
            "counted_in_the_hour": dict(outcome.counted),
            "not_run": list(outcome.not_run),
        },
    }


def described(finding: Finding, secrets: Mapping[str, str]) -> dict[str, Any]:
    """Returns a finding as the report holds it."""
    return {
        "rule": finding.rule.id,
        "fingerprint": finding.fingerprint,
        "statement": finding.rule.statement,
        "summary": finding.summary,
        "expected": finding.expected,
        "actual": finding.actual,
        "seen": finding.count,
        "steps": [shown(exchange, secrets) for exchange in finding.steps],
        "reproduce": {
            "curl": commands(finding, secrets),
            "python": snippet(finding, secrets),
        },
    }


def _coverage(coverage: Coverage) -> list[dict[str, Any]]:
    operations = sorted({operation for operation, _ in coverage.statuses})
    return [
        {
            "operation": operation,
            "statuses": {
                str(status): count
                for (name, status), count in sorted(coverage.statuses.items())
                if name == operation
            },
            "parameters": {
                parameter: count
                for (name, parameter), count in sorted(coverage.parameters.items())
                if name == operation
            },
        }
        for operation in operations
    ]

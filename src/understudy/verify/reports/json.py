"""Makes the report for programs; ``report.schema.json`` describes each version of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

import understudy
from understudy.exchange.shown import shown
from understudy.verify.findings import Finding
from understudy.verify.outcome import Coverage, Outcome
from understudy.verify.reports.exchange_records import exchange_record
from understudy.verify.reproducing import commands, snippet

VERSION = 4


def json(outcome: Outcome, secrets: Mapping[str, str]) -> str:
    """Returns the report as JSON."""
    return orjson.dumps(content(outcome, secrets), option=orjson.OPT_INDENT_2).decode()


def content(outcome: Outcome, secrets: Mapping[str, str]) -> dict[str, Any]:
    """Returns the report's content."""
    return {
        "version": VERSION,
        "understudy": understudy.__version__,
        "contract": outcome.contract,
        "target": outcome.target,
        "seed": outcome.seed,
        "started": outcome.started.isoformat(),
        "seconds": outcome.seconds,
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
                "could_be": rule_outcome.could_be,
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
        "variables": sorted(set(secrets.values())),
        "document_file": _path(outcome.document_file),
        "target_file": _path(outcome.target_file),
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
        "attempts": finding.attempts,
        "needs_time": finding.needs_time,
        "exchanges": [exchange_record(exchange, secrets) for exchange in finding.steps],
    }


def _path(file: Path | None) -> str | None:
    return None if file is None else file.as_posix()


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

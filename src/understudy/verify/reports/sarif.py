"""Makes the report for code scanning (SARIF 2.1.0, OASIS); no library for it is maintained."""

from collections.abc import Mapping
from typing import Any

import orjson

from understudy.verify.findings import Finding
from understudy.verify.outcome import Outcome
from understudy.verify.reports.locations import location
from understudy.verify.reproducing import commands

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(outcome: Outcome, secrets: Mapping[str, str]) -> str:
    """Returns the report as SARIF."""
    rules = [
        {
            "id": rule_outcome.rule.id,
            "shortDescription": {"text": rule_outcome.rule.statement},
            "properties": {"status": rule_outcome.status, "section": rule_outcome.rule.section},
        }
        for rule_outcome in outcome.rules
    ]
    results = [
        {
            "ruleId": finding.rule.id,
            "level": "note" if finding.is_note else "error",
            "message": {"text": "\n".join([finding.summary, *commands(finding, secrets)])},
            "locations": [_place(outcome, finding)],
            "partialFingerprints": {"understudy/v1": finding.fingerprint},
        }
        for finding in (*outcome.findings, *outcome.notes)
    ]
    return sarif_log("understudy verify", rules, results)


def sarif_log(name: str, rules: list[dict[str, Any]], results: list[dict[str, Any]]) -> str:
    """Returns a log of one run.

    Args:
        name: The command that found the results.
        rules: The rules that results refer to by ``ruleId``.
        results: The results.
    """
    driver = {"name": name, "version": "1", "rules": rules}
    run = {"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return orjson.dumps(log, option=orjson.OPT_INDENT_2).decode()


def _place(outcome: Outcome, finding: Finding) -> dict[str, Any]:
    """Returns the operation, and the line of the user's own file that it belongs to."""
    logical = {"logicalLocations": [{"fullyQualifiedName": finding.exchange.operation}]}
    place = location(outcome, finding)
    if place is None:
        return logical
    physical = {"artifactLocation": {"uri": place.path}, "region": {"startLine": place.line}}
    return {"physicalLocation": physical, **logical}

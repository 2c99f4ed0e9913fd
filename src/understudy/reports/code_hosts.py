"""Writes reports for code hosts: SARIF 2.1.0 (OASIS), GitLab's code quality, GitHub's annotations.

SARIF is written by hand, since no library for it is maintained.
"""

from collections import Counter
from typing import Any, Final

import orjson

import understudy
from understudy.reports.content import FileLine, Report, Result

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(report: Report) -> str:
    """Returns a report as SARIF, with findings that a baseline accepts marked as suppressed."""
    rules = [
        {
            "id": rule.name,
            "shortDescription": {"text": rule.statement},
            "properties": {"status": rule.status, "section": rule.section},
        }
        for rule in report.rules
    ]
    if not rules:
        rules = [
            {"id": name, "shortDescription": {"text": statement}}
            for name, statement in _statements(report).items()
        ]
    driver = {"name": report.tool, "version": understudy.__version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "results": [_sarif_result(result) for result in report.results],
        "columnKind": "unicodeCodePoints",
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return orjson.dumps(log, option=orjson.OPT_INDENT_2).decode()


def _statements(report: Report) -> dict[str, str]:
    """Returns the statement of each rule that results refer to."""
    causes = [(section, cause) for section in report.sections for cause in section.causes]
    named = {cause.result: cause.statement or section.title for section, cause in causes}
    changes = [change for comparison in report.comparisons for change in comparison.changes]
    return named | {change.rule: change.statement for change in changes}


def _sarif_result(result: Result) -> dict[str, Any]:
    entry = result.entry
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": entry.operation}]}
    if entry.place is not None:
        file = {"uri": entry.place.path}
        location["physicalLocation"] = {
            "artifactLocation": file,
            "region": {"startLine": entry.place.line},
        }
    described = {
        "ruleId": result.rule,
        "level": "note" if result.is_note else "error",
        "message": {"text": _with_commands(result)},
        "locations": [location],
        "partialFingerprints": {"understudy/v1": entry.fingerprint},
    }
    return described | ({"suppressions": [{"kind": "external"}]} if entry.is_accepted else {})


def _with_commands(result: Result) -> str:
    return "\n".join(
        filter(None, [result.text("\n"), *(s.commands for s in result.entry.sides[:1])])
    )


def gitlab(report: Report) -> str:
    """Returns a report as GitLab's code quality; repeated fingerprints get distinct numbers."""
    seen: Counter[str] = Counter()
    no_file = FileLine(report.tool.replace(" ", "-"), 1)  # GitLab requires one

    def fingerprint(text: str) -> str:
        seen[text] += 1
        return f"{text}-{seen[text] - 1}" if seen[text] > 1 else text

    entries = [
        {
            "check_name": result.rule,
            "description": _with_commands(result),
            "fingerprint": fingerprint(result.entry.fingerprint),
            "severity": "info" if result.is_note else "major",
            "location": {"path": place.path, "lines": {"begin": place.line}},
        }
        for result in report.results
        for place in [result.entry.place or no_file]
    ]
    return orjson.dumps(entries, option=orjson.OPT_INDENT_2).decode()


def annotations(report: Report) -> list[str]:
    """Returns a workflow command of GitHub for each result that no baseline accepts."""
    expected = {
        entry.fingerprint
        for section in report.sections
        if section.is_expected
        for cause in section.causes
        for entry in cause.entries
    }
    return [
        _annotation(result)
        for result in report.results
        if not result.entry.is_accepted and result.entry.fingerprint not in expected
    ]


def _annotation(result: Result) -> str:
    level = "notice" if result.is_note else "error"
    place = result.entry.place
    where = f"file={_property(place.path)},line={place.line}," if place is not None else ""
    return f"::{level} {where}title={_property(result.rule)}::{_data(result.text(': '))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

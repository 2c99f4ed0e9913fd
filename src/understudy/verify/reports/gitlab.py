"""Makes GitLab's code quality report."""

from collections import Counter
from collections.abc import Mapping

import orjson

from understudy.verify.findings import Finding
from understudy.verify.outcome import Outcome
from understudy.verify.reports.locations import Location, location
from understudy.verify.reproducing import commands

NO_FILE = Location("understudy-verify", 1)
"""The place of a finding where the user has no file; GitLab requires one."""


def gitlab(outcome: Outcome, secrets: Mapping[str, str]) -> str:
    """Returns the findings as a code quality report; equal fingerprints get a number."""
    seen: Counter[str] = Counter()

    def fingerprint(finding: Finding) -> str:
        seen[finding.fingerprint] += 1
        again = seen[finding.fingerprint] - 1
        return f"{finding.fingerprint}-{again}" if again else finding.fingerprint

    entries = [
        {
            "check_name": finding.rule.id,
            "description": "\n".join([finding.summary, *commands(finding, secrets)]),
            "fingerprint": fingerprint(finding),
            "severity": "info" if finding.is_note else "major",
            "location": _place(location(outcome, finding) or NO_FILE),
        }
        for finding in (*outcome.findings, *outcome.notes)
    ]
    return orjson.dumps(entries, option=orjson.OPT_INDENT_2).decode()


def _place(place: Location) -> dict[str, object]:
    return {"path": place.path, "lines": {"begin": place.line}}

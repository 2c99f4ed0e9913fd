"""Reports findings to code hosts: GitLab's code quality report, GitHub's log annotations."""

from collections import Counter
from collections.abc import Mapping

import orjson

from understudy.verify.findings import Finding
from understudy.verify.outcome import Outcome
from understudy.verify.reproducing import commands

PLACE = {"path": "openapi/rules.yaml", "lines": {"begin": 1}}


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
            "description": "\n".join([finding.summary, *commands(finding.steps, secrets)]),
            "fingerprint": fingerprint(finding),
            "severity": "info" if finding.is_note else "major",
            "location": PLACE,
        }
        for finding in (*outcome.findings, *outcome.notes)
    ]
    return orjson.dumps(entries, option=orjson.OPT_INDENT_2).decode()


def github_lines(outcome: Outcome) -> list[str]:
    """Returns one workflow command for each finding, which GitHub shows as an annotation."""
    return [
        f"::{'notice' if finding.is_note else 'error'} title={finding.rule.id}::"
        + finding.summary.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        for finding in (*outcome.findings, *outcome.notes)
    ]

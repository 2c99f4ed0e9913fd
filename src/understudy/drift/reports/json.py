"""Makes the report for programs, which ``understudy schema drift`` describes."""

import msgspec

from understudy.drift.reports.content import DriftReport


def json(report: DriftReport) -> str:
    """Returns the report as JSON."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"

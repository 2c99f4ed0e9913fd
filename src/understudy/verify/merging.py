"""Joins the reports of several runs, such as the shards of one, to one outcome."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from understudy.errors import StartupError
from understudy.verify.findings import Finding
from understudy.verify.outcome import Coverage, Outcome, RuleOutcome
from understudy.verify.reports.reading import ReadReport, read_report
from understudy.verify.shards import LEFT_TO

_WORLD: Final = re.compile(r"/__world/[^/]+")
"""The part of a mock's address that names a world; each shard may have one of its own."""

_URGENCY: Final = ("failed", "passed", "not_checked")


def read_reports(paths: Sequence[Path]) -> list[ReadReport]:
    """Reads reports of one deployment, judged by one contract.

    Raises:
        StartupError: One cannot be read, or does not belong to the others.
    """
    reports: list[ReadReport] = []
    offset = 0
    for path in paths:
        report = read_report(path, offset)
        if reports:
            _expect_alike(reports[0], report)
        for other in reports:
            _expect_other_shard(other, report)
        reports.append(report)
        offset += report.outcome.requests
    return reports


def merged(outcomes: Sequence[Outcome]) -> Outcome:
    """Returns the outcome of all runs together; a shard that is missing leaves it stopped."""
    first = outcomes[0]
    started = min(it.started for it in outcomes)
    stopped = [
        f"shard {it.shard}: {it.stopped}" if it.shard else it.stopped
        for it in outcomes
        if it.stopped
    ]
    missing = _missing(outcomes)
    return replace(
        first,
        started=started,
        took=max(it.started + it.took for it in outcomes) - started,
        rules=tuple(
            _joined_rule(same) for same in zip(*(it.rules for it in outcomes), strict=True)
        ),
        findings=_joined_findings(it.findings for it in outcomes),
        notes=_joined_findings(it.notes for it in outcomes),
        internal_errors=_distinct(it.internal_errors for it in outcomes),
        requests=sum(it.requests for it in outcomes),
        counted=dict(sum((Counter(it.counted) for it in outcomes), Counter())),
        coverage=_joined_coverage([it.coverage for it in outcomes]),
        stopped="; ".join([*stopped, *missing]),
        not_restored=_distinct(it.not_restored for it in outcomes),
        exchanges=tuple(each for it in outcomes for each in it.exchanges),
        not_run=_distinct(it.not_run for it in outcomes),
        remaining=_distinct(it.remaining for it in outcomes),
        differences=_distinct(it.differences for it in outcomes),
        shard="",
        shards=(),
    )


def _expect_alike(first: ReadReport, other: ReadReport) -> None:
    """Accepts a report of the same deployment and contract.

    Raises:
        StartupError: It is of another one.
    """
    one, two = _WORLD.sub("", first.outcome.target), _WORLD.sub("", other.outcome.target)
    if one != two:
        msg = (
            f"{first.path} is of {one}, and {other.path} of {two}; merge reports of one deployment."
        )
        raise StartupError(msg)
    if first.contract != other.contract:
        msg = (
            f"{first.path} and {other.path} were judged by different documents or rules; "
            "run all shards with the same options."
        )
        raise StartupError(msg)


def _expect_other_shard(earlier: ReadReport, report: ReadReport) -> None:
    """Accepts a report of another shard of the same division.

    Raises:
        StartupError: It is of the same shard, or of another division.
    """
    one, two = earlier.outcome, report.outcome
    if one.shards != two.shards:
        names = [_described(it) for it in (one, two)]
        msg = f"{earlier.path} is of {names[0]}, and {report.path} of {names[1]}; they do not belong together."
        raise StartupError(msg)
    if one.shard and one.shard == two.shard:
        msg = f"{earlier.path} and {report.path} are both of shard {one.shard}; name one of them."
        raise StartupError(msg)


def _described(outcome: Outcome) -> str:
    if not outcome.shard:
        return "a whole run"
    return f"shard {outcome.shard}, of {', '.join(outcome.shards)}"


def _missing(outcomes: Sequence[Outcome]) -> list[str]:
    done = {it.shard.partition("/")[0] for it in outcomes}
    count = outcomes[0].shard.partition("/")[2]
    return [
        f"the report of shard {part}/{count} is missing"
        for part in outcomes[0].shards
        if part not in done
    ]


def _joined_rule(same: Sequence[RuleOutcome]) -> RuleOutcome:
    """Returns the outcome of one rule of which every run has one."""
    status = min((it.status for it in same), key=_URGENCY.index)
    alike = [it for it in same if it.status == status]
    own = [it for it in alike if not it.reason.startswith(LEFT_TO)] or alike
    telling = max(own, key=lambda it: it.could_be)  # the first of those that could be checked
    return replace(
        telling,
        checks=sum(it.checks for it in same),
        exchanges=tuple(number for it in same for number in it.exchanges),
        could_be=any(it.could_be for it in same),
    )


def _joined_findings(several: Iterable[tuple[Finding, ...]]) -> tuple[Finding, ...]:
    """Returns every finding once, with the number of times that all runs saw it."""
    joined: dict[tuple[str, str], Finding] = {}
    for findings in several:
        for finding in findings:
            key = (finding.fingerprint, finding.expected)
            seen = joined[key].count if key in joined else 0
            joined[key] = replace(joined.get(key, finding), count=seen + finding.count)
    return tuple(joined.values())


def _joined_coverage(several: Iterable[Coverage]) -> Coverage:
    joined = Coverage()
    for coverage in several:
        joined.statuses.update(coverage.statuses)
        joined.parameters.update(coverage.parameters)
    return joined


def _distinct(several: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for lines in several for line in lines))

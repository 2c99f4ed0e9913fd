"""Reads the JSON report of a run back as an outcome, from which every other format can be made."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

import understudy
from understudy.errors import StartupError
from understudy.verify.catalogue import catalogue
from understudy.verify.findings import Finding
from understudy.verify.outcome import Coverage, Outcome, RuleOutcome, Status
from understudy.verify.reports.exchange_records import ExchangeRecord, exchange_of
from understudy.verify.reports.json import VERSION

SECRET_MARK: Final = "$"
"""The beginning of what replaces a secret in a report: the name of its variable follows."""


class RuleRecordOfReport(Struct, frozen=True):
    """The outcome of a rule, as the report holds it."""

    id: str
    status: Status
    reason: str
    checks: int
    exchanges: tuple[int, ...]
    could_be: bool


class FindingOfReport(Struct, frozen=True):
    """A finding, as the report holds it."""

    rule: str
    expected: str
    actual: str
    seen: int
    attempts: int
    needs_time: bool
    exchanges: tuple[ExchangeRecord, ...]


class CoverageOfReport(Struct, frozen=True):
    """The statuses and parameters of an operation that were seen, as the report holds them."""

    operation: str
    statuses: dict[int, int]
    parameters: dict[str, int]


class BudgetOfReport(Struct, frozen=True):
    """The number of requests of a run, as the report holds it."""

    requests: int
    counted_in_the_hour: dict[str, int]
    not_run: tuple[str, ...]


class VerifyReport(Struct, frozen=True):
    """The JSON report of a run; ``report.schema.json`` says what its members mean."""

    version: int
    understudy: str
    contract: str
    target: str
    shard: str
    shards: tuple[str, ...]
    seed: int
    started: datetime
    seconds: float
    stopped: str
    not_restored: tuple[str, ...]
    remaining: tuple[str, ...]
    rules: tuple[RuleRecordOfReport, ...]
    findings: tuple[FindingOfReport, ...]
    notes: tuple[FindingOfReport, ...]
    internal_errors: tuple[str, ...]
    validators_differ: tuple[str, ...]
    coverage: tuple[CoverageOfReport, ...]
    budget: BudgetOfReport
    variables: tuple[str, ...]
    document_file: str | None
    target_file: str | None


@dataclass(frozen=True, slots=True)
class ReadReport:
    """A report that was read.

    Attributes:
        path: The file.
        contract: Digest of the documents and rules that the run judged by.
        outcome: The outcome of the run; its exchanges are those that show findings.
        secrets: What replaces each secret, and the variable that it names.
    """

    path: Path
    contract: str
    outcome: Outcome
    secrets: dict[str, str]


class _Head(Struct, frozen=True):
    version: int
    understudy: str = ""


def read_report(path: Path, offset: int = 0) -> ReadReport:
    """Reads a report.

    Args:
        path: A file that ``understudy verify --report json=FILE`` wrote.
        offset: The number of requests of the reports before; exchanges are numbered from there.

    Raises:
        StartupError: It cannot be read, or another version of understudy wrote it.
    """
    try:
        text = path.read_bytes()
        head = msgspec.json.decode(text, type=_Head)
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}."
        raise StartupError(msg) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        msg = f"{path} is not a report of verify: {error}; write one with --report json=FILE."
        raise StartupError(msg) from error
    if (head.version, head.understudy) != (VERSION, understudy.__version__):
        written = f"understudy {head.understudy or 'of an earlier version'} (format {head.version})"
        own = f"understudy {understudy.__version__} (format {VERSION})"
        msg = f"{path} was written by {written}, and this is {own}; use one version for all."
        raise StartupError(msg)
    try:
        report = msgspec.json.decode(text, type=VerifyReport)
        outcome = _outcome(report, offset)
    except (msgspec.DecodeError, KeyError, ValueError) as error:
        msg = f"{path} is not a report of verify: {error}."
        raise StartupError(msg) from error
    variables = {f"{SECRET_MARK}{name}": name for name in report.variables}
    return ReadReport(path, report.contract, outcome, variables)


def _outcome(report: VerifyReport, offset: int) -> Outcome:
    findings = tuple(_finding(it, offset, is_note=False) for it in report.findings)
    notes = tuple(_finding(it, offset, is_note=True) for it in report.notes)
    steps = {step.number: step for it in (*findings, *notes) for step in it.steps}
    return Outcome(
        target=report.target,
        seed=report.seed,
        started=report.started,
        took=timedelta(seconds=report.seconds),
        rules=tuple(_rule(it, offset) for it in report.rules),
        findings=findings,
        notes=notes,
        internal_errors=report.internal_errors,
        requests=report.budget.requests,
        counted=report.budget.counted_in_the_hour,
        coverage=_coverage(report.coverage),
        stopped=report.stopped,
        not_restored=report.not_restored,
        exchanges=tuple(steps[number] for number in sorted(steps)),
        not_run=report.budget.not_run,
        remaining=report.remaining,
        differences=report.validators_differ,
        document_file=None if report.document_file is None else Path(report.document_file),
        target_file=None if report.target_file is None else Path(report.target_file),
        shard=report.shard,
        shards=report.shards,
        contract=report.contract,
    )


def _finding(record: FindingOfReport, offset: int, *, is_note: bool) -> Finding:
    return Finding(
        catalogue()[record.rule],
        record.expected,
        record.actual,
        tuple(exchange_of(it, offset) for it in record.exchanges),
        is_note=is_note,
        count=record.seen,
        attempts=record.attempts,
        needs_time=record.needs_time,
    )


def _rule(record: RuleRecordOfReport, offset: int) -> RuleOutcome:
    return RuleOutcome(
        catalogue()[record.id],
        record.status,
        record.reason,
        record.checks,
        tuple(number + offset for number in record.exchanges),
        could_be=record.could_be,
    )


def _coverage(records: tuple[CoverageOfReport, ...]) -> Coverage:
    statuses: Counter[tuple[str, int]] = Counter()
    parameters: Counter[tuple[str, str]] = Counter()
    for record in records:
        for status, count in record.statuses.items():
            statuses[record.operation, status] += count
        for name, count in record.parameters.items():
            parameters[record.operation, name] += count
    return Coverage(statuses, parameters)

"""Runs ``understudy drift``: compares, writes reports, and chooses the exit code."""

import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from os import urandom
from pathlib import Path
from typing import Final

from rich.console import Console

from understudy.api.opening import logged_in, open_deployment
from understudy.cli.commands import DriftOptions
from understudy.cli.exit_codes import ExitCode
from understudy.cli.interrupts import noted
from understudy.cli.losses import followed_facts
from understudy.cli.options import words_of
from understudy.cli.progress import with_progress
from understudy.cli.reporting import Ending, deliver, end, first_reason
from understudy.cli.writing import expect_writable
from understudy.drift import mock_beside as beside
from understudy.drift.comparing import Drift
from understudy.drift.documents.sources import (
    DocumentsOfRun,
    compare_files,
    documents_of_run,
    keep_document,
)
from understudy.drift.drift_report import DriftReport, report_of
from understudy.drift.gathering import report_of_documents, report_of_run
from understudy.drift.sightings import (
    Sightings,
    keep_sightings,
    read_sightings,
    with_accepted,
    with_sightings,
    write_baseline,
)
from understudy.errors import StartupError
from understudy.interface.facts import Facts
from understudy.interface.recognition import interface_operations
from understudy.openapi.loader import Document
from understudy.record.personal_values import personal_values
from understudy.record.recorder import KEY_BYTES, key_file, load_key
from understudy.reports.console import Terminal
from understudy.terminal import echo
from understudy.verify.catalogue import catalogue
from understudy.verify.clock import machine_time
from understudy.verify.deployment import Deployment
from understudy.verify.findings import Listener, load_baseline
from understudy.verify.run import RunOptions

MOCK: Final = "the mock"


def drift(options: DriftOptions, environment: Mapping[str, str]) -> int:
    """Compares, reports, and returns the exit code.

    Raises:
        StartupError: A file or an option is invalid, or a deployment does not respond.
    """
    _expect_consistent(options)
    console = Terminal(highlight=False, stderr=options.is_json)
    accepted = load_baseline(options.baseline) if options.baseline else ()
    now = machine_time()
    history = _history_of(options)
    earlier = Sightings() if history is None else read_sightings(history)
    other: Document | None = None
    if options.documents:
        report = report_of_documents(compare_files(*options.documents))
    else:
        report, other = _compared(options, environment, console)
    report = with_accepted(with_sightings(report, earlier, now), accepted, now.date())
    deliver(
        report_of(report, now),
        options,
        environment,
        is_json=options.is_json,
        is_verbose=options.verbose,
    )
    if history is not None:
        keep_sightings(report, earlier, history, now)
    if options.write_baseline is not None:
        write_baseline(report, options.write_baseline, now.date())
    ended = ending(report, frozenset(options.fail_on or ["findings"]))
    return end(console, ended, _following(options, report, other))


def _expect_consistent(options: DriftOptions) -> None:
    """Checks that options do not contradict one another, and that files can be written.

    Raises:
        StartupError: Options contradict one another, a rule does not exist, or a file cannot be
            written.
    """
    is_of_files = bool(options.documents)
    if is_of_files != options.where.is_mock:
        msg = (
            "Name a deployment with --target FILE or --base-url URL, or two files with"
            " --documents OLD NEW."
        )
        raise StartupError(msg)
    if is_of_files and (
        options.against or options.mock_facts or options.rules or options.archive or options.walks
    ):
        msg = "--documents sends nothing; leave out --against, --facts, --rules, --har and --walks."
        raise StartupError(msg)
    if options.mock_facts and options.against is not None:
        msg = "--facts is for the mock, and --against compares with a deployment; leave one out."
        raise StartupError(msg)
    catalogue(options.rules)
    for name, path in options.files:
        expect_writable(path, f"--report {name}={path}")
    for option, named in (("history", options.history), ("write-baseline", options.write_baseline)):
        if named is not None:
            expect_writable(named, f"--{option}")


def _history_of(options: DriftOptions) -> Path | None:
    target = options.where.target_file
    return options.history or (target and target.with_suffix(".drift.json"))


def _compared(
    options: DriftOptions, environment: Mapping[str, str], console: Console
) -> tuple[DriftReport, Document | None]:
    """Compares, and returns the report, and the document if it is of another service."""
    facts = followed_facts(options.mock_facts, tuple(catalogue().values()))
    with closing(logged_in(open_deployment(options.where, environment))) as ours:
        document = ours.document
        other = None if document is None or interface_operations(document) else document
        if other is not None and options.walks:
            msg = (
                f"--walks walks through scenarios of this interface, and {other.path} describes "
                f"another service; leave it out. `{_cases_of(other)}` makes requests for --har."
            )
            raise StartupError(msg)
        if options.against is None:
            theirs = beside.mock_beside(ours, facts)
        else:
            against = replace(
                options.where, target_file=options.against, base_url=None, auth_url=None
            )
            theirs = logged_in(open_deployment(against, environment))
        with closing(theirs):
            return _report_of(options, ours, theirs, facts, console), other


def _report_of(
    options: DriftOptions,
    ours: Deployment,
    theirs: Deployment,
    facts: Sequence[Facts],
    console: Console,
) -> DriftReport:
    target = options.where.target_file
    last_seen = target and target.with_suffix(".openapi.json")
    other = None if options.against is None else theirs
    documents = documents_of_run(ours, other, last_seen)
    published = documents.published
    if ours.document is None and published is not None and not interface_operations(published):
        msg = (
            f"{ours.target.base_url} publishes the document of another service; save it, as with "
            f"`curl {ours.target.base_url}/openapi -o openapi.json`, and add --document openapi.json."
        )
        raise StartupError(msg)
    phases = beside.comparison_phases(
        ours, number=options.walks, seed=options.seed, archive=options.archive
    )

    def carry_out(listen: Listener) -> Drift:
        run_options = RunOptions(
            rules=options.rules,
            phases=phases,
            listen=listen,
            is_preflighted=True,
            undisturbed=noted,
        )
        return beside.drift(ours, theirs, run_options, documents.explained_by, facts=facts)

    result = with_progress(console, ours.journal, carry_out, is_quiet=options.quiet)
    is_kept = options.key is not None or target is not None
    key = (
        load_key(key_file(options.key, target), partial(echo, err=True))
        if is_kept
        else urandom(KEY_BYTES)
    )
    report = report_of_run(
        result,
        documents,
        (ours.target.base_url, MOCK if other is None else theirs.target.base_url),
        ours.target.secrets() | theirs.target.secrets(),
        personal_values(key, (ours, theirs)),
    )
    _keep_document(documents, last_seen, report)
    return report


def _keep_document(documents: DocumentsOfRun, path: Path | None, report: DriftReport) -> None:
    """Keeps the deployment's document for the next run, unless this run was stopped."""
    if path is not None and documents.published is not None and not report.stopped:
        keep_document(documents.published, path)


def ending(report: DriftReport, wanted: frozenset[str]) -> Ending:
    """Returns the exit code of a run with its reason.

    The code is 1 for entries that ``--fail-on`` names and changes that were not undone, 3 for a run
    that left checks out, and 2 if nothing was compared.
    """
    if "nothing" in wanted:
        return Ending(ExitCode.DONE)
    left = len(report.not_checked)
    ended = first_reason(
        (ExitCode.FINDINGS, "findings" in wanted and len(report.findings), "finding"),
        (ExitCode.FINDINGS, "notes" in wanted and len(report.notes), "note"),
        (ExitCode.FINDINGS, len(report.not_restored), "change that was not undone"),
        (ExitCode.INCOMPLETE, len(report.stopped), "run that ended early"),
        (ExitCode.INCOMPLETE, "not-checked" in wanted and left, "reason for unchecked rules"),
    )
    if report.deployment and not report.requests and ended.code == ExitCode.DONE:
        return Ending(ExitCode.UNUSABLE, "no request was compared, so nothing is known")
    return ended


WHAT_IS_COMPARED = frozenset(
    (
        "target base_url auth_url document against like mock_facts rules archive documents key walks"
        " seed"
    ).split()
)
"""The options that the suggested next command repeats."""


def _cases_of(document: Document) -> str:
    """Returns the command that makes requests of another service for ``--har``."""
    named = ["--document", str(document.path), "--format", "har", "--out", "cases.har"]
    return shlex.join(["understudy", "generate", *named])


def _following(options: DriftOptions, report: DriftReport, other: Document | None) -> str:
    """Returns the command that shows the findings in detail, or that compares further."""
    html = dict(options.files).get("html")
    if html is not None:
        return f"open {html}"
    again = ["understudy", "drift", *words_of(options, WHAT_IS_COMPARED)]
    if report.findings or report.notes:
        return shlex.join([*again, "--report", "html=drift.html"])
    if options.documents:
        return shlex.join(["understudy", "serve", "--document", str(options.documents[1])])
    if options.archive or options.walks:
        return shlex.join(["understudy", "verify", *words_of(options, {"target"})])
    if other is not None:
        return f"{_cases_of(other)} (makes more requests to compare, with --har cases.har)"
    return (
        f"{shlex.join([*again, '--walks', '20'])} (looks for differences in sequences of requests)"
    )

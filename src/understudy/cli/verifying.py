"""Runs ``understudy verify`` with typed options: progress, reports, exit code."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from understudy.api.judging import judge, phases_of
from understudy.api.opening import open_deployment
from understudy.api.options import DeploymentOptions
from understudy.cli.deployment_options import deployment_options
from understudy.cli.exit_codes import ExitCode
from understudy.cli.interrupts import noted
from understudy.cli.losses import print_losses
from understudy.cli.shown_runs import shown
from understudy.cli.writing import expect_writable, unwritable
from understudy.deployments.clock import machine_time
from understudy.deployments.deployment import Deployment
from understudy.errors import StartupError
from understudy.verify.baseline import load_baseline, unaccepted
from understudy.verify.catalogue import catalogue
from understudy.verify.events import Listener
from understudy.verify.outcome import Outcome
from understudy.verify.recorded_traffic import judge_recorded
from understudy.verify.reports import FORMATS
from understudy.verify.reports.github import annotations
from understudy.verify.reports.markdown import markdown
from understudy.verify.reports.terminal import print_outcome
from understudy.verify.run import RunOptions

GITHUB = "github"
"""The report that needs no file: GitHub reads it from the log, and from its own summary file."""


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """The options of the command line.

    Attributes:
        where: The deployment.
        rules: Ids of the rules to judge; every rule if none is named.
        cases: Generated cases of each operation; None for the default.
        workers: Threads for generated cases.
        reports: Format and file of each report.
        is_github: True to print annotations, and to write the job summary where there is one.
        fail_on: What makes the exit code other than 0; the environment's default if empty.
        baseline: File of accepted findings.
        har: Recorded traffic to judge instead of sending.
        is_quiet: True for no progress.
        is_verbose: True to print consequences and unchecked rules in full.
        is_json: True to print the JSON report, and the text to standard error.
    """

    where: DeploymentOptions
    rules: tuple[str, ...] = ()
    cases: int | None = None
    workers: int = 1
    reports: tuple[tuple[str, Path], ...] = ()
    is_github: bool = False
    fail_on: frozenset[str] = frozenset()
    baseline: Path | None = None
    har: Path | None = None
    is_quiet: bool = False
    is_verbose: bool = False
    is_json: bool = False


def typed(options: Mapping[str, Any]) -> VerifyOptions:
    """Returns what click parsed as values with types; the mapping ends here."""
    return VerifyOptions(
        where=deployment_options(options),
        rules=options["rules"],
        cases=options["cases"],
        workers=options["workers"],
        reports=tuple((name, path) for name, path in options["reports"] if name != GITHUB),
        is_github=any(name == GITHUB for name, _ in options["reports"]),
        fail_on=frozenset(options["fail_on"]),
        baseline=options["baseline"],
        har=options["har"],
        is_quiet=options["quiet"],
        is_verbose=options["verbose"],
        is_json=options["json"],
    )


def verify(options: VerifyOptions, environment: Mapping[str, str]) -> int:
    """Judges, reports, and returns the exit code.

    Args:
        options: The options of the command line.
        environment: Where ``env:NAME`` is looked up, and for what CI it is.

    Raises:
        StartupError: A file or an option is not as it must be, or nothing responds.
    """
    console = Console(highlight=False, stderr=options.is_json)
    catalogue(options.rules)  # before anything is written or sent
    for name, path in options.reports:
        expect_writable(path, f"--report {name}={path}")
    accepted = load_baseline(options.baseline) if options.baseline else ()
    deployment = open_deployment(options.where, environment)
    if deployment.document is not None:
        print_losses(deployment.document.path, deployment.document.losses)
    secrets = deployment.target.secrets()
    outcome = _outcome(options, deployment, console)
    print_outcome(console, outcome, secrets, is_verbose=options.is_verbose)
    if options.is_json:
        click.echo(FORMATS["json"](outcome, secrets))
    for name, path in options.reports:
        _write(path, name, FORMATS[name](outcome, secrets))
    if options.is_github or environment.get("GITHUB_ACTIONS"):
        console.print("\n".join(annotations(outcome)), soft_wrap=True, markup=False)
    if options.is_github and environment.get("GITHUB_STEP_SUMMARY"):
        _append(Path(environment["GITHUB_STEP_SUMMARY"]), markdown(outcome, secrets))
    fail_on = options.fail_on or default_fail_on(environment)
    today = machine_time().date()
    return exit_code(outcome, fail_on, len(unaccepted(outcome.findings, accepted, today)))


def _outcome(options: VerifyOptions, deployment: Deployment, console: Console) -> Outcome:
    if options.har is None:
        return _sent(options, deployment, console)
    deployment.close()
    if deployment.is_published:
        msg = "--har sends nothing, and so cannot ask for the published document; name a file."
        raise StartupError(msg)
    return judge_recorded(options.har, deployment, options.rules)


def _sent(options: VerifyOptions, deployment: Deployment, console: Console) -> Outcome:
    def carry_out(listen: Listener) -> Outcome:
        run_options = RunOptions(
            rules=options.rules,
            seed=options.where.seed,
            workers=options.workers,
            phases=phases_of(options.cases, is_mock=options.where.is_mock),
            listen=listen,
            is_preflighted=not options.where.is_mock,
            undisturbed=noted,
        )
        return judge(deployment, run_options)

    return shown(console, deployment.journal, carry_out, is_quiet=options.is_quiet)


def default_fail_on(environment: Mapping[str, str]) -> frozenset[str]:
    """Returns what makes the exit code other than 0 if no option says so."""
    return frozenset({"findings", "not-checked"} if environment.get("CI") else {"findings"})


def exit_code(outcome: Outcome, wanted: frozenset[str], findings: int) -> int:
    """Returns 0, 1 for findings, 4 for internal errors, or 3 for rules that were left unchecked."""
    if "nothing" in wanted:
        return 0
    is_bad = ("findings" in wanted and findings) or ("notes" in wanted and outcome.notes)
    if is_bad or outcome.not_restored:
        return ExitCode.FINDINGS
    if outcome.internal_errors:
        return ExitCode.INTERNAL
    is_open = any(rule.status == "not_checked" and rule.could_be for rule in outcome.rules)
    if outcome.stopped or ("not-checked" in wanted and is_open):
        return ExitCode.INCOMPLETE
    return 0


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a") as file:
            file.write(text)
    except OSError as error:
        raise unwritable(path, "GITHUB_STEP_SUMMARY", error) from error


def _write(path: Path, name: str, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise unwritable(path, f"--report {name}={path}", error) from error

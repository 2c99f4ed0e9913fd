"""Runs ``understudy verify`` with typed options, and reports its outcome."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from understudy.api.judging import judge, phases_of
from understudy.api.opening import open_deployment
from understudy.api.options import DeploymentOptions
from understudy.cli.deployment_options import deployment_options
from understudy.cli.interrupts import noted
from understudy.cli.losses import print_losses
from understudy.cli.reporting import Reporting, console_of, prepared, reported, reporting_of
from understudy.cli.shown_runs import shown
from understudy.errors import StartupError
from understudy.reports.console import print_line
from understudy.verify.catalogue import catalogue
from understudy.verify.deployment import Deployment
from understudy.verify.events import Listener
from understudy.verify.ledger import is_store
from understudy.verify.outcome import Outcome
from understudy.verify.recorded_traffic import judge_recorded
from understudy.verify.run import RunOptions


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """The options of the command line.

    Attributes:
        where: The deployment.
        rules: Ids of the rules to judge; every rule if none is named.
        cases: Generated cases of each operation; None for the default.
        workers: Threads for generated cases.
        reporting: What is printed and written of the outcome.
        har: Recorded traffic to judge instead of sending.
        is_quiet: True for no progress.
        examples: URL of the store that shares what broke scenarios.
    """

    where: DeploymentOptions
    rules: tuple[str, ...] = ()
    cases: int | None = None
    workers: int = 1
    reporting: Reporting = field(default_factory=Reporting)
    har: Path | None = None
    is_quiet: bool = False
    examples: str | None = None


def typed(options: Mapping[str, Any]) -> VerifyOptions:
    """Returns what click parsed as values with types; the mapping ends here."""
    where = deployment_options(options)
    return VerifyOptions(
        where=where,
        rules=options["rules"],
        cases=options["cases"],
        workers=options["workers"],
        reporting=reporting_of(options),
        har=options["har"],
        is_quiet=options["quiet"],
        examples=options["examples"],
    )


def verify(options: VerifyOptions, environment: Mapping[str, str]) -> int:
    """Judges, reports, and returns the exit code.

    Args:
        options: The options of the command line.
        environment: Where ``env:NAME`` is looked up, and for what CI it is.

    Raises:
        StartupError: A file or an option is not as it must be, or nothing responds.
    """
    catalogue(options.rules)  # before anything is written or sent
    accepted = prepared(options.reporting)
    if options.examples is not None:
        _expect_examples(options.examples)
    deployment = open_deployment(options.where, environment)
    if deployment.document is not None:
        print_losses(deployment.document.path, deployment.document.losses)
    console = console_of(options.reporting)
    outcome = _outcome(options, deployment, console)
    secrets = deployment.target.secrets()
    code = reported(options.reporting, outcome, secrets, accepted, environment)
    if outcome.not_restored and deployment.journal is not None:
        words = (
            f"Once it responds again, `understudy cleanup {deployment.journal}` restores the rest."
        )
        print_line(console, words)
    return code


def _expect_examples(url: str) -> None:
    """Accepts a store for examples that responds.

    Raises:
        StartupError: It is none, or does not respond.
    """
    if not is_store(url):
        msg = f"--examples: {url!r} is not the URL of a store; write valkey://host:6379/0."
        raise StartupError(msg)
    # The client of the store is of an extra.
    from understudy.verify.shared_ledger import expect_store

    expect_store(url, "--examples")


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
            examples=options.examples,
        )
        return judge(deployment, run_options)

    return shown(console, deployment.journal, carry_out, is_quiet=options.is_quiet)

"""Runs ``understudy drift`` with typed options: three runs, the comparison, exit code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from understudy.api.drifting import drift, mock_beside
from understudy.api.opening import open_deployment
from understudy.api.options import DeploymentOptions
from understudy.cli.deployment_options import deployment_options
from understudy.cli.exit_codes import ExitCode
from understudy.cli.interrupts import noted
from understudy.cli.output_records import (
    PrintedCause,
    PrintedDifference,
    PrintedDrift,
    print_record,
)
from understudy.cli.shown_runs import shown
from understudy.cli.writing import expect_writable
from understudy.drift.comparing import Drift
from understudy.drift.differences import Difference
from understudy.drift.reports import DriftReport, place
from understudy.errors import StartupError
from understudy.verify.catalogue import catalogue
from understudy.verify.events import Listener
from understudy.verify.run import RunOptions

MOCK: Final = "the mock"


@dataclass(frozen=True, slots=True)
class DriftOptions:
    """The options of the command line.

    Attributes:
        where: The deployment.
        against: Target file of the other deployment; None for the mock.
        facts: Facts files that the mock follows.
        rules: Ids of the rules whose probes are sent; all if none is named.
        markdown: File to write the differences to, for a pull request.
        is_json: True to print JSON.
        is_quiet: True for no progress.
        is_verbose: True to print a command for every difference.
    """

    where: DeploymentOptions
    against: Path | None = None
    facts: tuple[Path, ...] = ()
    rules: tuple[str, ...] = ()
    markdown: Path | None = None
    is_json: bool = False
    is_quiet: bool = False
    is_verbose: bool = False


def typed(options: Mapping[str, Any]) -> DriftOptions:
    """Returns what click parsed as values with types; the mapping ends here."""
    return DriftOptions(
        where=deployment_options(options),
        against=options["against"],
        facts=options["mock_facts"],
        rules=options["rules"],
        markdown=options["markdown"],
        is_json=options["is_json"],
        is_quiet=options["quiet"],
        is_verbose=options["verbose"],
    )


def drifted(options: DriftOptions, environment: Mapping[str, str]) -> int:
    """Compares, prints, and returns the exit code.

    Args:
        options: The options of the command line.
        environment: Where ``env:NAME`` of a target file is looked up.

    Raises:
        StartupError: A file or an option is not as it must be, or nothing responds.
    """
    if options.facts and options.against is not None:
        msg = "--facts is for the mock, and --against compares with a deployment; leave one out."
        raise StartupError(msg)
    console = Console(highlight=False, stderr=options.is_json)
    catalogue(options.rules)  # before anything is sent
    if options.markdown is not None:
        expect_writable(options.markdown, "--markdown")
    ours = open_deployment(options.where, environment)
    theirs = (
        mock_beside(ours, options.facts)
        if options.against is None
        else open_deployment(replace(options.where, target_file=options.against), environment)
    )

    def carry_out(listen: Listener) -> Drift:
        run_options = RunOptions(
            rules=options.rules, listen=listen, is_preflighted=True, undisturbed=noted
        )
        return drift(ours, theirs, run_options)

    result = shown(console, ours.journal, carry_out, is_quiet=options.is_quiet)
    report = DriftReport(
        result,
        deployment=ours.target.base_url,
        other=MOCK if options.against is None else theirs.target.base_url,
        secrets=ours.target.secrets() | theirs.target.secrets(),
    )
    if options.is_json:
        print_record(_record(report))
    else:
        _print(console, report, is_verbose=options.is_verbose)
    if options.markdown is not None:
        options.markdown.write_text(report.markdown(), encoding="utf-8")
    for line in (line for run in result.runs for line in (*run.not_restored, *_ended(run.stopped))):
        console.print(line, style="bold red", markup=False, soft_wrap=True)
    return exit_code(result)


def exit_code(result: Drift) -> ExitCode:
    """Returns 1 for differences that the contract does not leave open, 3 for runs that stopped."""
    if any(run.not_restored for run in result.runs):
        return ExitCode.FINDINGS
    if any(run.stopped for run in result.runs):
        return ExitCode.INCOMPLETE
    is_open = all(cause.fault == "silent" for cause in result.causes)
    return ExitCode.DONE if is_open else ExitCode.FINDINGS


def _ended(reason: str) -> Sequence[str]:
    return [reason] if reason else []


def _print(console: Console, report: DriftReport, *, is_verbose: bool) -> None:
    def line(text: str, style: str | None = None) -> None:
        console.print(text, style=style, markup=False, soft_wrap=True)

    for title, causes in report.sections():
        line(title, "bold")
        for cause in causes:
            statement = f": {cause.statement}" if cause.statement else ""
            line(f"  {cause.rule}{statement}", "bold yellow")
            for number, kind in enumerate(report.kinds(cause)):
                line(f"    {kind.text}")
                for command in report.commands(kind.first) if is_verbose or not number else ():
                    line(f"      {command}")
    line(report.total, "bold")


def _record(report: DriftReport) -> PrintedDrift:
    return PrintedDrift(
        deployment=report.deployment,
        other=report.other,
        requests=report.result.requests,
        causes=[
            PrintedCause(
                cause.fault,
                cause.rule,
                [_printed(report, difference) for difference in cause.differences],
            )
            for cause in report.result.causes
        ],
    )


def _printed(report: DriftReport, difference: Difference) -> PrintedDifference:
    return PrintedDifference(
        place(difference),
        difference.aspect,
        difference.ours,
        difference.theirs,
        "\n".join(report.commands(difference)),
    )

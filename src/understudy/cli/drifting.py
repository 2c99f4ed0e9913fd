"""Runs ``understudy drift`` with typed options: three runs, the comparison, exit code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from understudy.api.drifting import drift, mock_beside
from understudy.api.opening import open_deployment
from understudy.api.options import DeploymentOptions
from understudy.cli.exit_codes import ExitCode
from understudy.cli.interrupts import noted
from understudy.cli.output_records import (
    PrintedCause,
    PrintedDifference,
    PrintedDrift,
    print_record,
)
from understudy.cli.shown_runs import shown
from understudy.deployments.deployment import Deployment
from understudy.drift.causes import DriftCause, Fault
from understudy.drift.comparing import Drift
from understudy.drift.differences import Difference
from understudy.errors import StartupError
from understudy.verify.catalogue import catalogue
from understudy.verify.events import Listener
from understudy.verify.findings import ANSWERS, Finding
from understudy.verify.reproducing import commands
from understudy.verify.run import RunOptions

TITLES: Final[Mapping[Fault, str]] = {
    "deployment": "The deployment breaks a rule",
    "other": "The other one breaks a rule",
    "silent": "The contract is silent, and they chose otherwise",
    "unexplained": "No rule is about it",
}

MOCK: Final = "the mock"


@dataclass(frozen=True, slots=True)
class DriftOptions:
    """The options of the command line.

    Attributes:
        where: The deployment.
        against: Target file of the other deployment; None for the mock.
        facts: Facts files that the mock follows.
        rules: Ids of the rules whose probes are sent; all if none is named.
        is_json: True to print JSON.
        is_quiet: True for no progress.
        is_verbose: True to print a command for every difference.
    """

    where: DeploymentOptions
    against: Path | None = None
    facts: tuple[Path, ...] = ()
    rules: tuple[str, ...] = ()
    is_json: bool = False
    is_quiet: bool = False
    is_verbose: bool = False


def typed(options: Mapping[str, Any]) -> DriftOptions:
    """Returns what click parsed as values with types; the mapping ends here."""
    seconds = options["max_time"]
    where = DeploymentOptions(
        target_file=options["target"],
        max_requests=options["max_requests"],
        max_time=None if seconds is None else timedelta(seconds=seconds),
    )
    return DriftOptions(
        where=where,
        against=options["against"],
        facts=options["facts"],
        rules=options["rules"],
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
    ours = open_deployment(options.where, environment)
    theirs = (
        mock_beside(ours.target, options.facts)
        if options.against is None
        else open_deployment(replace(options.where, target_file=options.against), environment)
    )

    def carry_out(listen: Listener) -> Drift:
        run_options = RunOptions(
            rules=options.rules, listen=listen, is_preflighted=True, undisturbed=noted
        )
        return drift(ours, theirs, run_options)

    result = shown(console, ours.journal, carry_out, is_quiet=options.is_quiet)
    secrets = ours.target.secrets() | theirs.target.secrets()
    other = MOCK if options.against is None else theirs.target.base_url
    if options.is_json:
        print_record(_record(result, ours, other, secrets))
    else:
        _print(console, result, (ours.target.base_url, other), secrets, options)
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


def _print(
    console: Console,
    result: Drift,
    sides: tuple[str, str],
    secrets: Mapping[str, str],
    options: DriftOptions,
) -> None:
    def line(text: str, style: str | None = None) -> None:
        console.print(text, style=style, markup=False, soft_wrap=True)

    for fault, title in TITLES.items():
        members = [cause for cause in result.causes if cause.fault == fault]
        if members:
            line(title, "bold")
        for cause in members:
            line(
                f"  {cause.rule}{f': {cause.statement}' if cause.statement else ''}", "bold yellow"
            )
            for text in _lines(cause, result, secrets, is_verbose=options.is_verbose):
                line(f"    {text}")
    count = len(result.causes)
    line(
        f"{count} cause{'' if count == 1 else 's'} of difference between {sides[0]} and {sides[1]}; "
        f"{result.requests} requests compared",
        "bold",
    )


def _lines(
    cause: DriftCause, result: Drift, secrets: Mapping[str, str], *, is_verbose: bool
) -> list[str]:
    """Returns the differences of a cause, each kind once, with the commands that show it."""
    kinds: dict[str, list[Difference]] = {}
    for each in cause.differences:
        text = f"{_place(each)}: {each.aspect} {each.ours}, there {each.theirs}"
        kinds.setdefault(text, []).append(each)
    lines = []
    for number, (text, members) in enumerate(kinds.items()):
        times = f" ({len(members)} times)" if len(members) > 1 else ""
        lines.append(f"{text}{times}")
        if is_verbose or not number:
            lines += [f"  {command}" for command in _commands(members[0], result, secrets)]
    return lines


def _commands(difference: Difference, result: Drift, secrets: Mapping[str, str]) -> list[str]:
    """Returns the lines of a shell script that shows a difference at the deployment."""
    rule = catalogue()[ANSWERS.id]
    steps = result.steps(difference)
    return commands(Finding(rule, difference.theirs, difference.ours, steps), secrets)


def _place(difference: Difference) -> str:
    exchange = difference.exchange
    operation = exchange.operation or f"{exchange.request.method} {exchange.path}"
    return f"{operation} as {exchange.identity.name}"


def _record(
    result: Drift, ours: Deployment, other: str, secrets: Mapping[str, str]
) -> PrintedDrift:
    return PrintedDrift(
        deployment=ours.target.base_url,
        other=other,
        requests=result.requests,
        causes=[
            PrintedCause(
                cause.fault,
                cause.rule,
                [
                    PrintedDifference(
                        _place(each),
                        each.aspect,
                        each.ours,
                        each.theirs,
                        "\n".join(_commands(each, result, secrets)),
                    )
                    for each in cause.differences
                ],
            )
            for cause in result.causes
        ],
    )

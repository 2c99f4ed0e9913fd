"""Ends a command that judges: prints and writes reports, and the exit code with its reason."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.console import Console

from understudy import plugins
from understudy.cli.command_options import Reporting, RequestedReports
from understudy.cli.exit_codes import ExitCode
from understudy.cli.writing import expect_writable
from understudy.reports.code_hosts import annotations
from understudy.reports.console import Terminal, print_line
from understudy.reports.content import Report
from understudy.reports.earlier_run import change_since, is_report, read_report
from understudy.reports.formats import FORMATS
from understudy.reports.terminal import print_report
from understudy.terminal import counted, echo
from understudy.verify.clock import machine_time
from understudy.verify.findings import Accepted, Outcome, load_baseline, unaccepted
from understudy.verify.gateway import STARTS_AGAIN
from understudy.verify.reports import report_of


class Ending(NamedTuple):
    """The exit code of a command, and why it is not 0."""

    code: ExitCode
    reason: str = ""


class Baseline(NamedTuple):
    """The file of ``--baseline``: accepted findings, or the report of an earlier run.

    Attributes:
        accepted: Findings that are accepted until a date.
        earlier: The JSON report of an earlier run; None without one.
    """

    accepted: Sequence[Accepted] = ()
    earlier: Mapping[str, Any] | None = None


def read_baseline(reporting: Reporting) -> Baseline:
    """Reads the baseline of a run, and checks that every report can be written.

    Raises:
        StartupError: A file cannot be read or written.
    """
    for name, path in reporting.files:
        expect_writable(path, f"--report {name}={path}")
    if reporting.baseline is None:
        return Baseline()
    if is_report(reporting.baseline):
        return Baseline(
            earlier=read_report(reporting.baseline, "--baseline", "started", "findings")
        )
    return Baseline(load_baseline(reporting.baseline))


def console_of(reporting: Reporting) -> Console:
    """Returns the console for text: standard error if the JSON report is on standard output."""
    return Terminal(highlight=False, stderr=reporting.json)


def reported(
    reporting: Reporting,
    outcome: Outcome,
    secrets: Mapping[str, str],
    baseline: Baseline,
    environment: Mapping[str, str],
) -> Ending:
    """Prints and writes the outcome, and returns the exit code with its reason.

    Args:
        reporting: The options on reports.
        outcome: The outcome.
        secrets: Each secret with the name of the variable that replaces it.
        baseline: The baseline to compare the outcome with.
        environment: Environment variables, which tell whether this is a CI run at GitHub.

    Raises:
        StartupError: A report cannot be written.
    """
    report = report_of(outcome, secrets)
    lost: tuple[str, ...] = ()
    if baseline.earlier is not None:
        lines, lost = change_since(baseline.earlier, report)
        report = replace(report, since=lines)
    deliver(report, reporting, environment, is_json=reporting.json, is_verbose=reporting.verbose)
    wanted = frozenset(reporting.fail_on or ("findings",))
    new = len(unaccepted(outcome.findings, baseline.accepted, machine_time().date()))
    return ending(outcome, wanted, new, len(lost))


def deliver(
    report: Report,
    requested: RequestedReports,
    environment: Mapping[str, str],
    *,
    is_json: bool = False,
    is_verbose: bool = False,
    is_apart: bool = False,
) -> None:
    """Prints a report, and writes it in every requested format.

    Args:
        report: The report.
        requested: The formats.
        environment: Environment variables, which tell whether this is a CI run at GitHub.
        is_json: True to print the JSON report to standard output, and the text to standard error.
        is_verbose: True to print consequences, notes and unchecked rules in full.
        is_apart: True to print the text to standard error, as other output is on standard output.

    Raises:
        StartupError: A file cannot be written.
    """
    console = Terminal(highlight=False, stderr=is_json or is_apart)
    print_report(console, report, is_verbose=is_verbose)
    if is_json:
        echo(report.records["json"]().rstrip("\n"))
    for name, path in requested.files:
        path.write_text(plugins.find("reports", name)(report), encoding="utf-8")
    if requested.is_github or environment.get("GITHUB_ACTIONS"):
        console.print("\n".join(annotations(report)), soft_wrap=True, markup=False)
    if requested.is_github and environment.get("GITHUB_STEP_SUMMARY"):
        with Path(environment["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as summary:
            summary.write(FORMATS["markdown"](report))


def end(console: Console, ending: Ending, following: str = "") -> ExitCode:
    """Prints the exit code with its reason if it is not 0, and the next command."""
    if ending.reason:
        print_line(console, f"Exit code {ending.code:d}: {ending.reason}.", "bold")
    if following:
        print_line(console, f"Next: {following}")
    return ending.code


def first_reason(*reasons: tuple[ExitCode, int, str]) -> Ending:
    """Returns the code of the first reason (code, number, counted noun) whose number is not 0."""
    given = (Ending(code, counted(number, noun)) for code, number, noun in reasons if number)
    return next(given, Ending(ExitCode.DONE))


PLAN_INDENT: Final = 15
"""Columns before the names of rules in a plan."""

MOST_NAMED: Final = 6
"""Most rules that a plan names for each reason why they are not checked."""


@dataclass
class Plan:
    """Prints the requests of a plan with the rules that they check, then each reason for gaps once.

    Attributes:
        console: The console for the plan.
        total: Number of requests so far.
        sent: The rules that these requests check.
        left: The rules of requests that are not sent, by the reason.
    """

    console: Console
    total: int = 0
    sent: set[str] = field(default_factory=set)
    left: dict[str, list[str]] = field(default_factory=dict)

    def add(
        self, count: int, rules: Collection[str], reason: str | None = None, about: str = ""
    ) -> None:
        """Prints requests, or remembers the reason why they are not sent.

        Args:
            count: The number of requests.
            rules: The rules that they check.
            reason: Why the requests are not sent; None if they are sent.
            about: A text to print after the rules.
        """
        if reason is not None:
            self.left.setdefault(reason, []).extend(rules)
            return
        self.total += count
        self.sent.update(rules)
        noun = "request " if count == 1 else "requests"
        text = f"{count:4} {noun}  {', '.join(rules)}{about}"
        print_line(self.console, text, indent=1, hanging=PLAN_INDENT)

    def print_left(self) -> None:
        """Prints each reason with the rules that no other request checks."""
        for reason, rules in self.left.items():
            names = [name for name in dict.fromkeys(rules) if name not in self.sent]
            more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
            text = f"not sent  {reason}: {', '.join(names[:MOST_NAMED])}{more}"
            if names:
                print_line(self.console, text, "dim", indent=4, hanging=PLAN_INDENT - 3)


def ending(outcome: Outcome, wanted: frozenset[str], findings: int, lost: int = 0) -> Ending:
    """Returns the exit code of a run, with its reason.

    Args:
        outcome: The run.
        wanted: The values of ``--fail-on``.
        findings: The number of findings that no baseline accepts.
        lost: The number of rules that an earlier run checked, and this one did not.
    """
    if "nothing" in wanted:
        return Ending(ExitCode.DONE)
    left = sum(rule.status == "not_checked" and rule.could_be for rule in outcome.rules)
    ended = first_reason(
        (ExitCode.FINDINGS, "findings" in wanted and findings, "finding"),
        (ExitCode.FINDINGS, "notes" in wanted and len(outcome.notes), "note"),
        (ExitCode.FINDINGS, len(outcome.not_restored), "change that was not undone"),
        (ExitCode.INTERNAL, len(outcome.internal_errors), "internal error"),
        (ExitCode.INCOMPLETE, lost, "rule that the baseline checked and this run did not"),
        (
            ExitCode.INCOMPLETE,
            "not-checked" in wanted and left,
            "rule that could have been checked and was not",
        ),
    )
    again = next((f" ({it.reason})" for it in outcome.rules if STARTS_AGAIN in it.reason), "")
    if ended.code == ExitCode.INCOMPLETE:
        return ended._replace(reason=ended.reason + again)
    if ended.code:
        return ended
    if outcome.stopped:
        return Ending(ExitCode.INCOMPLETE, f"the run ended early ({outcome.stopped})")
    if not outcome.count("passed") + outcome.count("failed") + len(outcome.notes):
        return Ending(ExitCode.UNUSABLE, f"no rule was checked, so nothing is known{again}")
    return Ending(ExitCode.DONE)

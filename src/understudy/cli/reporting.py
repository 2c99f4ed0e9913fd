"""Reports the outcome of ``understudy verify``: texts, files, exit code."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from understudy import plugins
from understudy.cli.command_options import Reporting
from understudy.cli.exit_codes import ExitCode
from understudy.cli.writing import append_summary, expect_writable, write_report
from understudy.reports.console import Terminal
from understudy.terminal import echo
from understudy.verify.clock import machine_time
from understudy.verify.findings import Accepted, Outcome, load_baseline, unaccepted
from understudy.verify.reports import FORMATS, annotations, print_outcome


def prepared(reporting: Reporting) -> Sequence[Accepted]:
    """Returns the accepted findings, and makes sure that every report can be written.

    Raises:
        StartupError: A file cannot be read or written.
    """
    for name, path in reporting.files:
        expect_writable(path, f"--report {name}={path}")
    return load_baseline(reporting.baseline) if reporting.baseline else ()


def console_of(reporting: Reporting) -> Console:
    """Returns where the text is printed: standard error, if the JSON report is printed too."""
    return Terminal(highlight=False, stderr=reporting.json)


def reported(
    reporting: Reporting,
    outcome: Outcome,
    secrets: Mapping[str, str],
    accepted: Sequence[Accepted],
    environment: Mapping[str, str],
) -> int:
    """Prints and writes the outcome, and returns the exit code.

    Args:
        reporting: What is printed and written.
        outcome: The outcome.
        secrets: Each secret, and the variable that replaces it.
        accepted: Findings that are accepted.
        environment: It says for what CI the reports are.

    Raises:
        StartupError: A report cannot be written.
    """
    console = console_of(reporting)
    print_outcome(console, outcome, secrets, is_verbose=reporting.verbose)
    if reporting.json:
        echo(plugins.find("reports", "json")(outcome, secrets))
    for name, path in reporting.files:
        write_report(path, name, plugins.find("reports", name)(outcome, secrets))
    if reporting.is_github or environment.get("GITHUB_ACTIONS"):
        console.print("\n".join(annotations(outcome)), soft_wrap=True, markup=False)
    if reporting.is_github and environment.get("GITHUB_STEP_SUMMARY"):
        append_summary(
            Path(environment["GITHUB_STEP_SUMMARY"]), FORMATS["markdown"](outcome, secrets)
        )
    fail_on = frozenset(reporting.fail_on) or default_fail_on(environment)
    today = machine_time().date()
    return exit_code(outcome, fail_on, len(unaccepted(outcome.findings, accepted, today)))


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

"""Prints the outcome on a terminal: findings, notes, rules not checked, and the totals."""

from collections import defaultdict
from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from understudy.verify.findings import Finding
from understudy.verify.outcome import Outcome
from understudy.verify.reports.grouping import NOTES, by_rule, variables, where
from understudy.verify.reproducing import commands


def print_outcome(console: Console, outcome: Outcome, secrets: Mapping[str, str]) -> None:
    """Prints a run's outcome."""
    for findings in by_rule(outcome.findings):
        _print_rule(console, findings, secrets)
    _print_notes(console, outcome)
    _print_failures(console, outcome)
    _print_unchecked(console, outcome)
    for line in outcome.not_restored:
        _print(console, f"not restored: {line}", "bold red")
    if outcome.remaining and not outcome.not_restored:
        remaining = " and ".join(outcome.remaining)
        _print(console, f"All changes were undone. These remain: {remaining}.", "dim")
    if outcome.stopped:
        _print(console, outcome.stopped, "bold red")
    if outcome.not_run:
        _print(console, f"not run, budget spent: {', '.join(outcome.not_run)}")
    named = variables(outcome.findings, secrets)
    if named:
        _print(
            console,
            f"before running the commands, export {' '.join(f'{name}=…' for name in named)}",
        )
    is_bad = outcome.findings or outcome.not_restored or outcome.stopped
    _print(console, sum_of(outcome), "bold red" if is_bad else "bold green")


def sum_of(outcome: Outcome) -> str:
    """Returns the line with the totals."""
    return (
        f"{outcome.count('passed')} rules passed, {outcome.count('failed')} failed, "
        f"{outcome.count('not_checked')} not checked; {outcome.requests} requests in "
        f"{outcome.took.total_seconds():.1f} s, seed {outcome.seed}"
    )


def _print_rule(console: Console, findings: list[Finding], secrets: Mapping[str, str]) -> None:
    rule = findings[0].rule
    _print(console, rule.id, "bold red")
    _print(console, f"  {rule.statement}")
    for finding in findings:
        _print(console, f"  {where(finding)}", "bold")
        _print(console, f"    expected  {_line(finding.expected)}")
        if finding.actual:
            _print(console, f"    actual    {_line(finding.actual)}")
        for command in commands(finding.steps, secrets):
            _print(console, f"    {command}", "cyan")
    console.print()


def _print_notes(console: Console, outcome: Outcome) -> None:
    if outcome.notes:
        _print(console, NOTES, "yellow")
    for findings in by_rule(outcome.notes):
        more = f" (and {len(findings) - 1} more)" if findings[1:] else ""
        _print(
            console, f"  note: {findings[0].rule.id}: {_line(findings[0].summary)}{more}", "yellow"
        )
    if outcome.notes:
        console.print()


def _print_failures(console: Console, outcome: Outcome) -> None:
    for line in outcome.internal_errors:
        _print(console, f"internal error: {line}", "yellow")
    for line in outcome.differences:
        _print(console, f"document validators differ: {line}", "dim")


def _print_unchecked(console: Console, outcome: Outcome) -> None:
    noted = {finding.rule.id for finding in outcome.notes}
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for found in outcome.rules:
        if found.status == "not_checked" and found.rule.id not in noted:
            reasons[found.reason].append(found.rule.id)
    for reason, rules in reasons.items():
        _print(console, f"not checked, {reason}: {', '.join(rules)}", "dim")


def _line(text: str) -> str:
    return " ".join(text.split())


def _print(console: Console, text: str, style: str = "") -> None:
    # a Text, as responses are not markup; unwrapped, so that commands can be copied
    console.print(Text(text, style), soft_wrap=True)

"""Prints the outcome on a terminal: findings, notes, rules not checked, and the totals."""

from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from understudy.reports.console import print_line
from understudy.terminal import printable
from understudy.verify.findings import Finding
from understudy.verify.outcome import Outcome
from understudy.verify.reports.grouping import (
    NOTES,
    Cause,
    by_cause,
    by_rule,
    counted,
    unchecked,
    variables,
    where,
)
from understudy.verify.reproducing import commands

REASONS = 6
"""Reasons for unchecked rules that are printed without ``--verbose``."""


def print_outcome(
    console: Console, outcome: Outcome, secrets: Mapping[str, str], *, is_verbose: bool = False
) -> None:
    """Prints a run's outcome.

    Args:
        console: The terminal, or a file.
        outcome: The outcome.
        secrets: Each secret, and the variable that replaces it.
        is_verbose: True to print consequences and unchecked rules in full.
    """
    page = _Page(console, secrets, is_verbose)
    for cause in by_cause(outcome.findings):
        page.print_cause(cause)
    page.print_notes(outcome)
    page.print_unchecked(outcome)
    page.print_errors(outcome)
    named = variables(outcome.findings, secrets)
    if named:
        page.line(f"Before running the commands: export {' '.join(f'{name}=…' for name in named)}")
    is_bad = outcome.findings or outcome.not_restored or outcome.stopped or outcome.internal_errors
    page.line(sum_of(outcome), "bold red" if is_bad else "bold green")


def sum_of(outcome: Outcome) -> str:
    """Returns the line with the totals."""
    return (
        f"{outcome.count('passed')} rules passed, {outcome.count('failed')} failed, "
        f"{outcome.count('not_checked')} not checked; {outcome.requests} requests in "
        f"{outcome.seconds:.1f} s, seed {outcome.seed}"
    )


@dataclass(frozen=True, slots=True)
class _Page:
    """The console, and how an outcome is printed there."""

    console: Console
    secrets: Mapping[str, str]
    is_verbose: bool

    def print_cause(self, cause: Cause) -> None:
        rule = cause.findings[0].rule
        self.line(rule.id, "bold red")
        self.line(rule.statement, indent=2)
        for finding in cause.findings:
            self.print_finding(finding)
        rules = cause.dependent_rules
        if rules:
            names = f": {', '.join(rules)}" if self.is_verbose or len(rules) <= 3 else ""  # noqa: PLR2004 - fits a line
            self.line(
                f"and {counted(len(rules), 'rule')} that the same responses break{names}", indent=2
            )
        if self.is_verbose:
            for finding in cause.consequences:
                self.line(finding.rule.id, "bold red", indent=2)
                self.print_finding(finding)
        self.console.print()

    def print_finding(self, finding: Finding) -> None:
        self.line(where(finding), "bold", indent=2)
        self.line(f"expected  {_line(finding.expected)}", indent=4, hanging=10)
        if finding.actual:
            self.line(f"actual    {_line(finding.actual)}", indent=4, hanging=10)
        for command in commands(finding, self.secrets):
            # unwrapped, so that it can be copied
            self.console.print(Text(f"    {printable(command)}", "cyan"), soft_wrap=True)

    def print_notes(self, outcome: Outcome) -> None:
        if not outcome.notes:
            return
        self.line(NOTES, "yellow")
        for findings in by_rule(outcome.notes):
            more = f" (and {len(findings) - 1} more)" if findings[1:] else ""
            text = f"note: {findings[0].rule.id}: {_line(findings[0].summary)}{more}"
            self.line(text, "yellow", indent=2, hanging=2)
            for command in commands(findings[0], self.secrets) if self.is_verbose else ():
                self.console.print(Text(f"    {printable(command)}", "cyan"), soft_wrap=True)
        self.console.print()

    def print_unchecked(self, outcome: Outcome) -> None:
        reasons = unchecked(outcome)
        if not reasons:
            return
        hint = "" if self.is_verbose else "; --verbose lists them"
        self.line(f"Rules not checked, by reason{hint}:", "dim")
        shown = reasons if self.is_verbose else reasons[:REASONS]
        for reason, rules in shown:
            self.line(f"{len(rules):3}  {reason}", "dim", indent=2, hanging=5)
            if self.is_verbose:
                self.line(", ".join(rules), "dim", indent=7)
        rest = reasons[len(shown) :]
        if rest:
            count = sum(len(rules) for _, rules in rest)
            self.line(f"{count:3}  for {counted(len(rest), 'other reason')}", "dim", indent=2)

    def print_errors(self, outcome: Outcome) -> None:
        for line in outcome.internal_errors:
            self.line(f"internal error: {line}", "yellow")
        for line in outcome.differences:
            self.line(f"document validators differ: {line}", "dim")
        for line in outcome.not_restored:
            self.line(f"not restored: {line}", "bold red")
        if outcome.remaining and not outcome.not_restored:
            remaining = " and ".join(outcome.remaining)
            self.line(f"All changes that can be undone were. These remain: {remaining}.", "dim")
        if outcome.stopped:
            self.line(outcome.stopped, "bold red")
        if outcome.not_run:
            self.line(f"not run, budget spent: {', '.join(outcome.not_run)}")

    def line(self, text: str, style: str = "", *, indent: int = 0, hanging: int = 0) -> None:
        """Prints a text; on a terminal wrapped between words, in a file as one line."""
        print_line(self.console, text, style, indent=indent, hanging=hanging)


def _line(text: str) -> str:
    return " ".join(text.split())

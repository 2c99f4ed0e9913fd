"""What a person sees at the end: findings first, then what was left open, then the sum."""

from collections import defaultdict
from collections.abc import Mapping

from rich.console import Console
from rich.markup import escape

from understudy.contract.findings import Finding
from understudy.contract.outcome import Outcome
from understudy.contract.reproducing import commands


def print_outcome(console: Console, outcome: Outcome, secrets: Mapping[str, str]) -> None:
    """Prints a run's outcome."""
    for finding in outcome.findings:
        _print_finding(console, finding, secrets, "red")
    for finding in outcome.notes:
        text = f"note: {finding.rule.id}: {finding.summary}"
        console.print(f"[yellow]{escape(text)}[/]", soft_wrap=True)
    for line in outcome.ours:
        console.print(f"[yellow]ours to mend: {escape(line)}[/]", soft_wrap=True)
    _print_unchecked(console, outcome)
    for line in outcome.left:
        console.print(f"[red]not put back: {escape(line)}[/]", soft_wrap=True)
    if outcome.stopped:
        console.print(f"[red]{escape(outcome.stopped)}[/]", soft_wrap=True)
    if outcome.more:
        more = ", ".join(outcome.more)
        console.print(f"a larger budget would add: {escape(more)}", soft_wrap=True)
    console.print(escape(sum_of(outcome)), soft_wrap=True, highlight=False)


def sum_of(outcome: Outcome) -> str:
    """Returns the last line."""
    return (
        f"{outcome.count('passed')} rules hold, {outcome.count('failed')} do not, "
        f"{outcome.count('not_checked')} were not checked; {outcome.requests} requests in "
        f"{outcome.took.total_seconds():.1f} s, seed {outcome.seed}"
    )


def _print_finding(
    console: Console, finding: Finding, secrets: Mapping[str, str], colour: str
) -> None:
    seen = f" (seen {finding.count} times)" if finding.count > 1 else ""
    console.print(f"[bold {colour}]{finding.rule.id}[/]{seen}", soft_wrap=True)
    console.print(f"  {escape(finding.rule.statement)}", soft_wrap=True, highlight=False)
    console.print(f"  {escape(finding.summary)}", soft_wrap=True, highlight=False)
    for command in commands(finding.steps, secrets):
        console.print(f"  {escape(command)}", soft_wrap=True, highlight=False)
    console.print()


def _print_unchecked(console: Console, outcome: Outcome) -> None:
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for found in outcome.rules:
        if found.status == "not_checked":
            reasons[found.reason].append(found.rule.id)
    for reason, rules in reasons.items():
        text = f"not checked, {reason}: {', '.join(rules)}"
        console.print(f"[dim]{escape(text)}[/]", soft_wrap=True, highlight=False)

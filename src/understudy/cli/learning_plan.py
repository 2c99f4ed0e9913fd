"""Prints the plan of ``understudy learn --plan``: what would be sent, and how it is undone."""

from collections.abc import Mapping

from rich.console import Console

from understudy.api.opening import open_deployment
from understudy.api.options import DeploymentOptions
from understudy.reports.console import Terminal, print_line
from understudy.verify.learner import open_rules
from understudy.verify.permits import described
from understudy.verify.probing import chosen
from understudy.verify.readings.plans import PlannedExperiment, planned_experiments
from understudy.verify.repetitions import is_repeatable
from understudy.verify.shapes import bundled

INDENT = 15
"""Columns before the names in a plan."""

MEGABYTE = 1_000_000


def print_plan(
    where: DeploymentOptions, rules: tuple[str, ...], environment: Mapping[str, str]
) -> None:
    """Prints the probes and the experiments of some questions, and sends nothing.

    Raises:
        StartupError: A file is not as it must be, or a rule leaves nothing open.
    """
    console = Terminal(highlight=False)
    questions = open_rules(rules)
    deployment = open_deployment(where, environment)
    deployment.close()
    target, total, again = deployment.target, 0, 0
    document = deployment.document or bundled("service.yaml")
    for probe, reason in chosen(deployment, document, tuple(questions)):
        total += 0 if reason else probe.cost
        again += probe.cost if reason is None and is_repeatable(probe) else 0
        _print(console, probe.cost, f"probe {probe.name}", reason)
    for each in planned_experiments(questions, target, deployment.time):
        total += 0 if each.reason else each.requests
        again += 0 if each.reason else each.repetition
        _print(console, each.requests, _described(each), each.reason)
    for line in described(target):
        print_line(console, line, hanging=2)
    print_line(console, f"at most {total} requests to {target.base_url}", hanging=2)
    line = f"and, within the budget, at most {again} to see again what was seen only once"
    print_line(console, line, hanging=2)


def _described(experiment: PlannedExperiment) -> str:
    sizes = f", at most {experiment.bytes // MEGABYTE} MB" if experiment.bytes else ""
    undo = f"; {experiment.undo}" if experiment.undo else ""
    return f"{experiment.name} ({experiment.rule}{sizes}){undo}"


def _print(console: Console, count: int, text: str, reason: str | None) -> None:
    if reason is not None:
        text = f"not sent  {text}: {reason}"
        print_line(console, text, "dim", indent=4, hanging=INDENT - 3)
        return
    noun = "request " if count == 1 else "requests"
    print_line(console, f"{count:4} {noun}  {text}", indent=1, hanging=INDENT)

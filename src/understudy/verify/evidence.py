"""Completes the steps of a finding, so that a judge that knows nothing else finds it by them alone.

A check names the exchanges that it compares, but its conditions read more of the history. What they
rest on is found by judging again: without an exchange that matters, the finding is not seen.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from understudy.exchange.messages import Exchange
from understudy.verify.checks import CheckResult, checks_for, judged
from understudy.verify.findings import steps_of
from understudy.verify.history import History


def showing(
    rule: str, exchange: Exchange, evidence: Iterable[Exchange], history: History
) -> tuple[Exchange, ...]:
    """Returns the evidence of a broken rule, with the fewest earlier exchanges that it lacks.

    Args:
        rule: The rule's id.
        exchange: The decisive exchange.
        evidence: The exchanges that the check names.
        history: What was exchanged before.

    Returns:
        The steps in order, the decisive one last; just the evidence where no check of the rule
        finds it in the whole history either, as where a scenario's model differs.
    """

    def complete(more: Iterable[Exchange]) -> tuple[Exchange, ...]:
        return steps_of(exchange, history.with_origins((*more, exchange)))

    earlier, steps = history.exchanges, complete(evidence)
    if not is_shown(rule, (*earlier, exchange), history):
        return steps
    while not is_shown(rule, steps, history):
        low, high = 0, len(earlier)  # with all from `low` on it is shown, from `high` on it is not
        while high - low > 1:
            middle = (low + high) // 2
            is_enough = is_shown(rule, complete((*earlier[middle:], *steps)), history)
            low, high = (middle, high) if is_enough else (low, middle)
        if earlier[low] in steps:
            break
        steps = complete((earlier[low], *steps))
    return steps


def is_shown(rule: str, steps: Sequence[Exchange], history: History) -> bool:
    """Tells whether the last of some exchanges breaks a rule, for a judge that sees no others.

    Args:
        rule: The rule's id.
        steps: The exchanges, in order.
        history: A history of the same deployment.
    """
    *earlier, exchange = steps
    alone = history.emptied()
    for step in earlier:
        alone.add(step)
    results = (
        judged(check, exchange, alone) for check in checks_for(exchange) if rule in check.rules
    )
    return any(isinstance(result, CheckResult) and not result.holds for result in results)


def needs_time(rule: str, steps: Sequence[Exchange], history: History) -> bool:
    """Tells whether a finding is seen only because of the time that passed between its steps.

    Args:
        rule: The rule's id.
        steps: The steps of the finding.
        history: A history of the same deployment.
    """
    at_once = [replace(step, at=steps[-1].at) for step in steps]
    return is_shown(rule, steps, history) and not is_shown(rule, at_once, history)

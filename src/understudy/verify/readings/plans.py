"""Lists the experiments of ``learn`` with their cost and how they are undone, before any is sent."""

from collections.abc import Container, Iterator
from typing import Final, NamedTuple

from understudy.deployments.clock import Time
from understudy.deployments.target import Target
from understudy.verify.needs import lacking
from understudy.verify.readings.experiments import EXPERIMENTS
from understudy.verify.readings.number_experiments import NUMBER_EXPERIMENTS
from understudy.verify.readings.number_readings import range_of
from understudy.verify.readings.searching import most_trials

NEIGHBOURS: Final = 2
"""Numbers beside an answer, the one accepted and the other refused, that are tried again."""


class PlannedExperiment(NamedTuple):
    """An experiment that may be sent.

    Attributes:
        rule: Id of the rule whose question it settles.
        name: Its name in reports.
        requests: How many it sends at most.
        repetition: How many it sends at most to see the answer again.
        bytes: How many bytes of files it uploads at most.
        undo: How what it changes is undone; empty where nothing is changed.
        reason: Why it cannot be sent; None if it can.
    """

    rule: str
    name: str
    requests: int
    repetition: int
    bytes: int
    undo: str
    reason: str | None


def planned_experiments(
    wanted: Container[str], target: Target, time: Time
) -> Iterator[PlannedExperiment]:
    """Yields the experiments of some rules; those are not sent whose answer the probes show.

    Args:
        wanted: Ids of the rules.
        target: What is permitted.
        time: Whether the deployment's time can be moved.
    """
    for each in EXPERIMENTS:
        if each.rule in wanted:
            reason = lacking(each.needs, target, time)
            yield PlannedExperiment(
                each.rule, each.name, each.requests, each.requests, 0, each.undo, reason
            )
    for search in NUMBER_EXPERIMENTS:
        if search.rule in wanted:
            numbers = range_of(search.rule)
            trials = _counted_up(search.uploads) or most_trials(numbers, search.likely)
            yield PlannedExperiment(
                search.rule,
                search.name,
                trials * search.requests,
                NEIGHBOURS * search.requests,
                trials * numbers.most * search.sends_bytes,
                search.undo,
                lacking(search.needs, target, time),
            )


def _counted_up(uploads: int) -> int:
    """Returns the trials of a search that counts up: two lists make one, and one upload is repeated."""
    return uploads + 2 if uploads else 0

"""Lists the experiments of ``learn`` with their cost and how they are undone, before any is sent."""

from collections.abc import Container, Iterator
from typing import Final, NamedTuple

from understudy.verify.clock import Time
from understudy.verify.probing import lacking
from understudy.verify.readings.experiments import EXPERIMENTS
from understudy.verify.readings.number_experiments import NUMBER_EXPERIMENTS, NumberExperiment
from understudy.verify.readings.number_readings import range_of
from understudy.verify.readings.searching import most_trials
from understudy.verify.target import Target

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
            trials = _most_trials(search)
            yield PlannedExperiment(
                search.rule,
                search.name,
                trials * search.requests,
                NEIGHBOURS * search.requests,
                trials * numbers.most * search.sends_bytes,
                search.undo,
                lacking(search.needs, target, time),
            )


def _most_trials(search: NumberExperiment) -> int:
    """Returns how many trials a search takes at most."""
    if search.uploads:
        return search.uploads + 2  # two lists are as one trial, and an upload is tried again
    expected = NEIGHBOURS if search.alike else 0  # the number of a rule alike, and the next
    return expected + most_trials(range_of(search.rule), search.likely)

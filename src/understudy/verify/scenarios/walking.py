"""Walks through the scenarios at random from a seed, so that deployments can be compared by them.

Nothing is shrunk and no broken rule ends a walk: each deployment gets the same requests, as long as
its responses allow them.
"""

from itertools import count
from typing import Final

from hypothesis import Phase, seed, settings

from understudy.verify.permits import NotPermitted
from understudy.verify.probing import lacking
from understudy.verify.run import Phase as RunPhase
from understudy.verify.run import Run
from understudy.verify.scenarios import SCENARIOS, play_machine, scenario_settings
from understudy.verify.scenarios.machine import Machine

STEPS: Final = 10
"""The most requests of a walk, beside those that begin and end it."""


def walks(number: int, begin: int = 0) -> RunPhase:
    """Returns the phase that walks through every scenario that a target permits.

    Args:
        number: Walks through each scenario; the first of them is the simplest.
        begin: Seed of the walks.
    """

    def phase(run: Run) -> None:
        for name in SCENARIOS if run.has_interface else ():
            if lacking(SCENARIOS[name].needs, run.deployment.target, run.deployment.time) is None:
                _walk(run, name, number, begin)

    return phase


def _walk(run: Run, name: str, number: int, begin: int) -> None:
    """Walks through a scenario; one that is not permitted on the way ends there.

    Raises:
        Refusal: The budget or the time is used up.
    """
    numbers = count(1)

    def machine() -> Machine:
        return SCENARIOS[name](run, f"{name} {next(numbers)}", goes_on=True)

    factory = seed(begin)(machine)
    chosen = settings(scenario_settings(number, STEPS), phases=(Phase.generate,), derandomize=False)
    try:
        play_machine(run, factory, chosen)
    except NotPermitted as refusal:
        run.not_run.append(f"the rest of the walks through {name}: {refusal}")

"""What edge cases find of a mutant by themselves: ``generate --send``, and no probe of verify."""

from collections.abc import Iterator

from tests.mutants.edge import Edge, Mutant
from tests.mutants.verifying import BEGINNING, INNER, MOCK, PATIENT

from understudy.cli import in_process
from understudy.contract.edge_cases import selection
from understudy.contract.edge_cases.case import Case
from understudy.contract.edge_cases.covering_sets import choose
from understudy.contract.edge_cases.firing import Firing, Heard, subjects_of
from understudy.contract.runner import Plan, start
from understudy.engine.clock import machine_time

POOL = 150
"""Cases of each operation that the set is chosen from."""


def caught_by_cases(mutant: Mutant | None, count: int) -> str:
    """Returns what the first failing case of a covering set finds; nothing where none fails.

    Args:
        mutant: None for the unbroken mock.
        count: Cases in the set.
    """
    MOCK.world.become(BEGINNING)
    wire = Edge(INNER, mutant.make()) if mutant else INNER
    heard = Heard()
    plan = Plan(
        target=in_process.TARGET,
        transport=wire,
        time=in_process.time_of(MOCK),
        machine_time=machine_time,
        allowance=PATIENT,
        listen=heard.listen,
    )
    firing = Firing(start(plan), heard, subjects_of(in_process.TARGET))
    firing.prepare()
    failing = (case for case in firing.fire(covering(firing, count)) if case.has_failed)
    found = next(failing, None)
    return "" if found is None else f"{found.id}: {found.description}: {found.outcome}"


def covering(firing: Firing, count: int) -> Iterator[Case]:
    """Yields a covering set of cases."""
    plans = selection.plans(selection.planners(None, firing.subjects))
    wanted = (POOL, 0, selection.WORDS["all"])
    chosen = set(choose(selection.generate(plans, *wanted), count).chosen)
    for place, case in enumerate(selection.generate(plans, *wanted)):
        if place in chosen:
            yield case

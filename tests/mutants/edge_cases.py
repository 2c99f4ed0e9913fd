"""What edge cases find of a mutant by themselves: ``generate --send``, and no probe of verify."""

from dataclasses import replace
from functools import cache

from tests.mutants.edge import Edge, Mutant
from tests.mutants.verifying import BEGINNING, INNER, MOCK, PATIENT

from understudy.cli import in_process
from understudy.contract.edge_cases import selection
from understudy.contract.edge_cases.case import Case
from understudy.contract.edge_cases.firing import Firing, Heard, subjects_of
from understudy.contract.runs import Plan, start
from understudy.engine.clock import machine_time


def caught_by_cases(mutant: Mutant | None, count: int) -> str:
    """Returns what the first failing case finds; nothing where none fails.

    Args:
        mutant: None for the unbroken mock.
        count: Cases of each operation.
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
    image_id = firing.prepare().image_id
    fired = firing.fire(some(image_id, count))
    failing = (case for case in fired if case.has_failed)
    found = next(failing, None)
    return "" if found is None else f"{found.id}: {found.description}: {found.outcome}"


@cache
def some(image_id: str, count: int) -> tuple[Case, ...]:
    """Returns so many cases of each operation, about this avatar."""
    subjects = replace(subjects_of(in_process.TARGET), image_id=image_id)
    plans = selection.plans(selection.planners(None, subjects))
    return tuple(selection.generate(plans, count, 0, selection.WORDS["all"]))

"""What edge cases find of a mutant by themselves: ``generate --send``, and no probe of verify.

``python -m tests.mutants.edge_cases 200`` prints what 200 cases of each operation find, mutant by
mutant, of those that somebody thought up: mechanical ones are about answers and no requests.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import httpx
from rich.console import Console
from tests.mutants.edge import MUTANTS, Mutant
from tests.mutants.verifying import MOCK, PATIENT, deployed

from understudy.cli import in_process
from understudy.contract.edge_cases import selection
from understudy.contract.edge_cases.case import Case
from understudy.contract.edge_cases.firing import Firing, subjects_of
from understudy.contract.runs import Plan, start
from understudy.engine.clock import machine_time


def caught_by_cases(mutant: Mutant | None, count: int) -> str:
    """Returns what the first failing case finds; nothing where none fails.

    Args:
        mutant: None for the unbroken mock.
        count: Cases of each operation.
    """
    with deployed(mutant) as wire:
        found = next((case for case in fired(wire, count) if case.has_failed), None)
    return "" if found is None else f"{found.id}: {found.description}: {found.outcome}"


def fired(wire: httpx.BaseTransport, count: int) -> Iterator[Case]:
    """Yields so many cases of each operation with what came of them on a wire to the mock."""
    plan = Plan(
        target=in_process.TARGET,
        transport=wire,
        time=in_process.time_of(MOCK),
        machine_time=machine_time,
        allowance=PATIENT,
    )
    firing = Firing(start(plan), subjects_of(in_process.TARGET))
    yield from firing.fire(some(firing.prepare().image_id, count))


@cache
def some(image_id: str, count: int) -> tuple[Case, ...]:
    """Returns so many cases of each operation, about this avatar."""
    subjects = replace(subjects_of(in_process.TARGET), image_id=image_id)
    plans = selection.plans(selection.planners(None, subjects))
    return tuple(selection.generate(plans, count, 0, selection.WORDS["all"]))


def main(count: int) -> None:
    """Prints what is caught, mutant by mutant, and how many."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"unbroken: {caught_by_cases(None, count) or 'nothing found'}", markup=False)
    meant = [mutant for mutant in MUTANTS if not mutant.is_mechanical]
    caught = 0
    for mutant in meant:
        found = caught_by_cases(mutant, count)
        caught += bool(found)
        console.print(f"{mutant.name}: {found or 'NOT CAUGHT'}", markup=False)
    console.print(f"caught by {count} cases of each operation: {caught} of {len(meant)}")


if __name__ == "__main__":
    main(int(sys.argv[1]))

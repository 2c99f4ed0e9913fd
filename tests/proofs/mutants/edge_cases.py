"""What edge cases find of a mutant by themselves: ``generate --send``, and no probe of verify.

``python -m tests.proofs.mutants.edge_cases 200`` prints what 200 cases of each operation find, mutant by
mutant, of those that somebody thought up: mechanical ones are about answers and no requests.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import httpx
from rich.console import Console
from tests.proofs.mutants.edge import MUTANTS, Mutant
from tests.proofs.mutants.generated import sighting
from tests.proofs.mutants.runner import chosen, side_by_side
from tests.proofs.mutants.verifying import MOCK, PATIENT, deployed

from understudy.api import in_process
from understudy.api.bundled_target import TARGET
from understudy.cases import selection
from understudy.cases.model import Case
from understudy.verify.case_sender import CaseSender
from understudy.verify.deployment import Deployment
from understudy.verify.run import RunOptions, start
from understudy.verify.target import data_for_target

UNBROKEN = "the unbroken mock"


@dataclass(frozen=True)
class Wish:
    """What is wanted of each mutant.

    Attributes:
        count: Cases of each operation.
        peer: As many requests Schemathesis may send to each of the two addresses, or None.
    """

    count: int
    peer: tuple[int, int] | None = None


@dataclass(frozen=True)
class Sight:
    """What is seen of a mutant.

    Attributes:
        mutant: Its name.
        found: The first case that failed, and how; nothing where none did.
        peer: After how many requests a check of Schemathesis failed, or None.
        crashed: What the mutant's own code failed on.
    """

    mutant: str
    found: str = ""
    peer: int | None = None
    crashed: str = ""

    def __str__(self) -> str:
        if self.crashed:
            return f"{self.mutant}: CRASHED: {self.crashed}"
        also = f"; Schemathesis: request {self.peer}" if self.peer else ""
        return f"{self.mutant}: {self.found or 'NOT CAUGHT'}{also}"


def seen(asked: tuple[str, Wish]) -> Sight:
    """Sends cases to the mutant of this name, or to the unbroken mock."""
    name, wish = asked
    mutant = next((mutant for mutant in MUTANTS if mutant.name == name), None)
    try:
        found = caught_by_cases(mutant, wish.count)
        peer = sighting(mutant, wish.peer) if mutant and wish.peer else None
    except Exception as crash:  # one of two hundred; the others are to be heard
        return Sight(name, crashed=f"{type(crash).__name__}: {crash}")
    return Sight(name, found, peer)


def caught_by_cases(mutant: Mutant | None, count: int) -> str:
    """Returns what the first failing case finds; nothing where none fails.

    Args:
        mutant: None for the unbroken mock.
        count: Cases of each operation.

    Raises:
        Crashed: The mutant's own code failed.
    """
    with deployed(mutant) as wire:
        found = next((case for case in fired(wire, count) if case.has_failed), None)
    return "" if found is None else f"{found.id}: {found.description}: {found.outcome}"


def fired(wire: httpx.BaseTransport, count: int) -> Iterator[Case]:
    """Yields so many cases of each operation with what came of them on a wire to the mock."""
    deployment = Deployment(TARGET, wire, in_process.time_of(MOCK), PATIENT)
    sender = CaseSender(start(deployment, RunOptions()), data_for_target(TARGET))
    yield from sender.send(some(sender.prepare().image_id, count))


@cache
def some(image_id: str, count: int) -> tuple[Case, ...]:
    """Returns so many cases of each operation, about this avatar."""
    test_data = replace(data_for_target(TARGET), image_id=image_id)
    plans = selection.plans(selection.planners(None, test_data))
    return tuple(selection.generate(plans, count, 0, selection.WORDS["all"]))


def sites(count: int) -> tuple[int, int]:
    """Returns how many of the cases go to the resource API, and to the authorization server."""
    counted = Counter(case.request.site for case in some(data_for_target(TARGET).image_id, count))
    return counted["resource"], counted["authorization"]


def main() -> int:
    """Prints what is caught, mutant by mutant; returns 2 where the unbroken mock fails a case."""
    asked = _options()
    console = Console(highlight=False, soft_wrap=True, markup=False)
    alarm = seen((UNBROKEN, Wish(asked.count)))
    if alarm.found or alarm.crashed:
        console.print(f"{alarm}\nSo a failure says nothing of a mutant; nothing was counted.")
        return 2
    wish = Wish(asked.count, sites(asked.count) if asked.schemathesis else None)
    meant = [mutant for mutant in chosen(asked.only, 1) if not mutant.is_mechanical]
    work = [(mutant.name, wish) for mutant in meant[:: asked.every]]
    sights = []
    for sight in side_by_side(seen, work, asked.jobs):
        sights.append(sight)
        console.print(str(sight))
    _sum(console, sights, wish)
    return 1 if any(sight.crashed for sight in sights) else 0


def _sum(console: Console, sights: Sequence[Sight], wish: Wish) -> None:
    ours = sum(bool(sight.found) for sight in sights)
    of = f"{sum(sites(wish.count))} cases, {wish.count} of each operation"
    console.print(f"\ncaught by {of}: {ours} of {len(sights)}")
    if wish.peer:
        theirs = sum(sight.peer is not None for sight in sights)
        to = " and ".join(map(str, wish.peer))
        console.print(f"caught by schemathesis run, {to} requests: {theirs} of {len(sights)}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.mutants.edge_cases", description=__doc__
    )
    add = parser.add_argument
    add("count", type=int, metavar="N", help="cases of each operation")
    add("--schemathesis", action="store_true", help="beside as many requests of its own")
    add("--jobs", type=int, default=2, metavar="N", help="processes")
    add("--only", default="", metavar="TEXT", help="mutants whose name holds it")
    add("--every", type=int, default=1, metavar="N", help="of these, one of N")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())

"""The few cases that together cover most: of operations, their parts, and keywords or rules."""

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from understudy.generate.cases import Case

Touch = tuple[str, str, str]
"""Operation, part, and keyword or rule."""


OPERATION = 5
"""Keywords that the first case of an operation is worth."""


class CoveringSet(NamedTuple):
    """What a set covers.

    Attributes:
        chosen: Places of the cases in the stream, ascending.
        touched: How many touches are in the set.
        all: How many there are in the stream.
        operations: How many operations have a case in the set.
        all_operations: How many have one in the stream.
    """

    chosen: tuple[int, ...]
    touched: int
    all: int
    operations: int
    all_operations: int

    def said(self) -> str:
        """Returns the coverage as a sentence."""
        share = self.touched / self.all if self.all else 1
        return (
            f"{len(self.chosen)} cases cover {self.touched} of {self.all} combinations of operation,"
            f" part and keyword or rule ({share:.0%}), and {self.operations} of"
            f" {self.all_operations} operations."
        )


def touches(case: Case) -> frozenset[Touch]:
    """Returns what a case covers."""
    plain: Touch = (case.operation, "all", "responses")
    return frozenset({plain, *((case.operation, slot, source) for slot, source in case.touched)})


def choose(stream: Iterable[Case], size: int) -> CoveringSet:
    """Chooses the cases one by one, each time the one that adds most (the earliest of equals).

    What a case adds only ever shrinks, so a case is looked at again only when it would be next.
    """
    known: dict[frozenset[Touch], frozenset[Touch]] = {}
    held = [known.setdefault(found, found) for found in map(touches, stream)]
    everything = frozenset[Touch]().union(*known)
    covered: set[Touch] = set()
    queue = [(-_worth(found), place) for place, found in enumerate(held)]
    heapify(queue)
    chosen: list[int] = []
    while queue and len(chosen) < size:
        promised, place = heappop(queue)
        adds = _worth(held[place] - covered)
        if adds < -promised:
            if adds:
                heappush(queue, (-adds, place))
            continue
        covered |= held[place]
        chosen.append(place)
    return CoveringSet(
        tuple(sorted(chosen)),
        len(covered),
        len(everything),
        len({operation for operation, *_ in covered}),
        len({operation for operation, *_ in everything}),
    )


def _worth(found: frozenset[Touch]) -> int:
    """Returns what touches count; an operation's first case counts more than its next keyword."""
    return sum(OPERATION if part == "all" else 1 for _, part, _ in found)

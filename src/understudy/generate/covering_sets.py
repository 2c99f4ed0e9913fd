"""Chooses the few cases that together cover most operations, parts, and keywords or rules."""

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from understudy.generate.cases import Case

Touch = tuple[str, str, str]
"""One thing that a case covers: an operation, a part, and a keyword or rule."""


OPERATION_WEIGHT = 5
"""Keywords that the first case of an operation is worth."""


class CoveringSet(NamedTuple):
    """A set of cases, and what it covers.

    Attributes:
        chosen: Positions of the cases in the stream, ascending.
        touched: Number of touches that the set covers.
        all: Number of touches in the stream.
        operations: Number of operations with a case in the set.
        all_operations: Number of operations in the stream.
    """

    chosen: tuple[int, ...]
    touched: int
    all: int
    operations: int
    all_operations: int

    def summary(self) -> str:
        """Returns the coverage as a sentence."""
        share = self.touched / self.all if self.all else 1
        return (
            f"{_counted(len(self.chosen), 'case', 'cover')} {self.touched} of {self.all} combinations of operation,"
            f" part and keyword or rule ({share:.0%}), and {self.operations} of"
            f" {_counted(self.all_operations, 'operation')}."
        )


def touches(case: Case) -> frozenset[Touch]:
    """Returns the touches of a case."""
    plain: Touch = (case.operation, "all", "responses")
    return frozenset({plain, *((case.operation, part, source) for part, source in case.touched)})


def choose(stream: Iterable[Case], size: int) -> CoveringSet:
    """Chooses cases greedily, each time the one that adds most (the earliest of equals).

    What a case adds only shrinks, so its worth is computed again only when it would be next.

    Args:
        stream: The cases to choose from.
        size: How many to choose at most.
    """
    shared: dict[frozenset[Touch], frozenset[Touch]] = {}
    touched = [shared.setdefault(each, each) for each in map(touches, stream)]
    everything = frozenset[Touch]().union(*shared)
    covered: set[Touch] = set()
    queue = [(-_worth(each), position) for position, each in enumerate(touched)]
    heapify(queue)
    chosen: list[int] = []
    while queue and len(chosen) < size:
        promised, position = heappop(queue)
        adds = _worth(touched[position] - covered)
        if adds < -promised:
            if adds:
                heappush(queue, (-adds, position))
            continue
        covered |= touched[position]
        chosen.append(position)
    return CoveringSet(
        tuple(sorted(chosen)),
        len(covered),
        len(everything),
        len({operation for operation, *_ in covered}),
        len({operation for operation, *_ in everything}),
    )


def _counted(number: int, noun: str, verb: str = "") -> str:
    """Returns a number with its noun and verb: ``1 case covers``, ``2 cases cover``."""
    words = f"{number} {noun}" if number == 1 else f"{number} {noun}s"
    return words if not verb else f"{words} {verb}s" if number == 1 else f"{words} {verb}"


def _worth(touched: frozenset[Touch]) -> int:
    """Returns the weight of touches; an operation's first case weighs more than a keyword."""
    return sum(OPERATION_WEIGHT if part == "all" else 1 for _, part, _ in touched)

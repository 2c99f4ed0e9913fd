"""Selects the operations that cases are made of, and the documents that describe them."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from understudy.cases.model import Case, CaseKind
from understudy.cases.plans import OperationPlan, Planner
from understudy.cases.stream import KINDS, cases
from understudy.cases.test_data import TestData
from understudy.errors import StartupError, nearest
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.loader import load

WORDS: dict[str, frozenset[CaseKind]] = {
    "valid": frozenset({"valid"}),
    "invalid": frozenset({"invalid"}),
    "all": KINDS,
}
"""The values of ``--kind``; cases that the contract leaves open are only in ``all``."""


def planners(
    document: Path | None, test_data: TestData, overlays: Sequence[Path] = ()
) -> tuple[Planner, ...]:
    """Returns the planners of a document, or of the two bundled documents.

    Args:
        document: The document; None for the bundled ones.
        test_data: The people, avatars and applications that the cases use.
        overlays: Overlay files that change the document, in their order.

    Raises:
        StartupError: The document cannot be read.
    """
    if document is not None:
        return (Planner(load(document, overlays), "resource", test_data),)
    directory = openapi_directory()
    return (
        Planner(load(directory / "service.yaml"), "resource", test_data),
        Planner(load(directory / "authorization.yaml"), "authorization", test_data),
    )


def plans(planners: Sequence[Planner], names: Sequence[str] = ()) -> list[OperationPlan]:
    """Returns the plans of the named operations, or of all.

    Raises:
        StartupError: There is no such operation; the text names the nearest one.
    """
    by_name = {o.operation_id: (planner, o) for planner in planners for o in planner.operations}
    for name in names:
        if name not in by_name:
            hint = nearest(name, list(by_name)) or "."
            msg = f"There is no operation {name!r}{hint} There are {', '.join(by_name)}."
            raise StartupError(msg)
    if not by_name:
        msg = "The document has no operations, so there is nothing to make cases of."
        raise StartupError(msg)
    chosen = dict.fromkeys(names or by_name)
    return [planner.plan(operation) for planner, operation in map(by_name.__getitem__, chosen)]


def generate(
    plans: Sequence[OperationPlan], count: int, seed: int, kinds: frozenset[CaseKind]
) -> Iterator[Case]:
    """Yields ``count`` cases of each operation, or as many as it has.

    Cases that use up what others need come last.
    """
    for plan in plans:
        stream = islice(cases(plan, seed, kinds), count)
        if not plan.is_valid_first:
            yield from stream
            continue
        yield from (case for case in stream if case.kind == "valid")
        # The same cases again, because a million of them must not be kept in memory.
        again = islice(cases(plan, seed, kinds), count)
        yield from (case for case in again if case.kind != "valid")


COUNT = 50


def edge_cases(
    *operations: str,
    kind: str = "all",
    count: int = COUNT,
    seed: int = 0,
    document: Path | None = None,
    test_data: TestData | None = None,
) -> Iterator[Case]:
    """Yields edge cases, operation by operation.

    Args:
        operations: The operationIds of the document; all operations if none is named.
        kind: ``valid``, ``invalid``, or ``all``, which includes what the contract leaves open.
        count: The number of cases of each operation.
        seed: The same seed and document give the same cases.
        document: The OpenAPI document to use instead of the bundled ones.
        test_data: The people, avatars and applications that the cases use; the mock's by default.

    Examples:
        >>> import understudy
        >>> [case.kind for case in understudy.edge_cases("getProfile", kind="valid", count=2)]
        ['valid', 'valid']

    Raises:
        StartupError: There is no such operation or kind, or the document cannot be read.
    """
    if kind not in WORDS:
        hint = nearest(kind, list(WORDS)) or "."
        msg = f"There is no kind {kind!r}{hint} There are {', '.join(WORDS)}."
        raise StartupError(msg)
    chosen = plans(planners(document, test_data or TestData()), operations)
    return generate(chosen, count, seed, WORDS[kind])


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

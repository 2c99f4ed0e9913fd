"""Which operations cases are wanted of, out of which documents."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from understudy.errors import StartupError, nearest
from understudy.generate.cases import Case, CaseKind
from understudy.generate.plans import OperationPlan, Planner
from understudy.generate.stream import KINDS, cases
from understudy.generate.test_data import TestData
from understudy.openapi.bundled import openapi_directory
from understudy.openapi.loader import load

WORDS: dict[str, frozenset[CaseKind]] = {
    "valid": frozenset({"valid"}),
    "invalid": frozenset({"invalid"}),
    "all": KINDS,
}
"""What ``--kind`` calls them; what the contract leaves open is only in ``all``."""


def planners(document: Path | None, known: TestData) -> tuple[Planner, ...]:
    """Returns the planners of a document, or of both bundled ones.

    Raises:
        StartupError: A document is not as it must be.
    """
    if document is not None:
        return (Planner(load(document), "resource", known),)
    directory = openapi_directory()
    return (
        Planner(load(directory / "service.yaml"), "resource", known),
        Planner(load(directory / "authorization.yaml"), "authorization", known),
    )


def plans(found: Sequence[Planner], names: Sequence[str] = ()) -> list[OperationPlan]:
    """Returns the plans of operations by their ids, or of all.

    Raises:
        StartupError: There is no such operation; the text names the nearest one.
    """
    by_name = {o.operation_id: (planner, o) for planner in found for o in planner.operations}
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
    found: Sequence[OperationPlan], count: int, seed: int, kinds: frozenset[CaseKind]
) -> Iterator[Case]:
    """Yields so many cases of each operation, or as many as it has."""
    for plan in found:
        yield from islice(cases(plan, seed, kinds), count)

"""Selects the operations that cases are made of, and the documents that describe them."""

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

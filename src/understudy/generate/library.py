"""Edge cases from inside other code: as an iterator, and as one pytest test a case."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from understudy.errors import StartupError, nearest
from understudy.generate import selection
from understudy.generate.cases import Case
from understudy.generate.test_data import TestData

COUNT = 50


def edge_cases(
    *operations: str,
    kind: str = "all",
    count: int = COUNT,
    seed: int = 0,
    document: Path | None = None,
    subjects: TestData | None = None,
) -> Iterator[Case]:
    """Yields edge cases, operation by operation.

    Args:
        operations: The documents' operationIds; every operation, if none is named.
        kind: ``valid``, ``invalid``, or ``all``, which has what the contract leaves open too.
        count: Cases of each operation.
        seed: Same seed and document, same cases.
        document: An OpenAPI document instead of the bundled ones.
        subjects: What the cases are about; the mock's people and applications, if left out.

    Raises:
        StartupError: There is no such operation or kind, or the document is not as it must be.
    """
    if kind not in selection.WORDS:
        hint = nearest(kind, list(selection.WORDS)) or "."
        msg = f"There is no kind {kind!r}{hint} There are {', '.join(selection.WORDS)}."
        raise StartupError(msg)
    planners = selection.planners(document, subjects or TestData())
    plans = selection.plans(planners, operations)
    return selection.generate(plans, count, seed, selection.WORDS[kind])


def parametrize(
    *operations: str,
    kind: str = "all",
    count: int = COUNT,
    seed: int = 0,
    document: Path | None = None,
) -> pytest.MarkDecorator:
    """Returns a mark that runs a test once for each case, under the case's id.

    The test takes the case as ``case``. The arguments are those of ``edge_cases``.
    """
    found = list(edge_cases(*operations, kind=kind, count=count, seed=seed, document=document))
    return pytest.mark.parametrize("case", found, ids=[case.id for case in found])

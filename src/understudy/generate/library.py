"""Edge cases for use in other code: as an iterator, and as one pytest test per case."""

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

    Raises:
        StartupError: There is no such operation or kind, or the document cannot be read.
    """
    if kind not in selection.WORDS:
        hint = nearest(kind, list(selection.WORDS)) or "."
        msg = f"There is no kind {kind!r}{hint} There are {', '.join(selection.WORDS)}."
        raise StartupError(msg)
    planners = selection.planners(document, test_data or TestData())
    plans = selection.plans(planners, operations)
    return selection.generate(plans, count, seed, selection.WORDS[kind])


def parametrize(
    *operations: str,
    kind: str = "all",
    count: int = COUNT,
    seed: int = 0,
    document: Path | None = None,
) -> pytest.MarkDecorator:
    """Returns a pytest mark that runs a test once for each case, with the case's id as its id.

    The test takes the case as its argument ``case``. The arguments are those of ``edge_cases``.
    """
    cases = list(edge_cases(*operations, kind=kind, count=count, seed=seed, document=document))
    return pytest.mark.parametrize("case", cases, ids=[case.id for case in cases])

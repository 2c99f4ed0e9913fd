"""Edge cases as pytest tests: one test for each case."""

from pathlib import Path

import pytest

from understudy.cases.selection import COUNT, edge_cases


def parametrize(
    *operations: str,
    kind: str = "all",
    count: int = COUNT,
    seed: int = 0,
    document: Path | None = None,
) -> pytest.MarkDecorator:
    """Returns a pytest mark that runs a test once for each case, with the case's title as its id.

    The test takes the case as its argument ``case``. The arguments are those of ``edge_cases``.
    """
    cases = list(edge_cases(*operations, kind=kind, count=count, seed=seed, document=document))
    return pytest.mark.parametrize("case", cases, ids=[case.title for case in cases])

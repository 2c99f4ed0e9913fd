"""Edge cases as an iterator, for use in other code."""

from collections.abc import Iterator
from pathlib import Path

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

    Examples:
        >>> import understudy
        >>> [case.kind for case in understudy.edge_cases("getProfile", kind="valid", count=2)]
        ['valid', 'valid']

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

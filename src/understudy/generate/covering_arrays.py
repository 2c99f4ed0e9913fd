"""Covers every pair of options in few requests: a covering array of strength two, made greedily."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random  # noqa: TID251 - seeded by whoever asks

from understudy.generate.mutations.mutation import Mutation

CANDIDATES = 12
"""Rows to choose the best of: more take longer and hardly cover more."""


def covering(options: Sequence[Mutation], chance: Random) -> Iterator[Sequence[Mutation]]:
    """Yields rows of options, at most one per part, until every possible pair was in a row.

    Args:
        options: The options of all parts.
        chance: Decides between rows that cover the same number of pairs.
    """
    uncovered = {
        (a, b) for a, b in combinations(range(len(options)), 2) if options[a].fits(options[b])
    }
    order = sorted(uncovered)
    for start in order:
        if start not in uncovered:
            continue
        rows = [_row(options, start, chance) for _ in range(CANDIDATES)]
        best = max(rows, key=lambda row: len(_pairs_of(row) & uncovered))
        uncovered -= _pairs_of(best)
        yield [options[place] for place in best]


def _row(options: Sequence[Mutation], start: tuple[int, int], chance: Random) -> list[int]:
    row = list(start)
    others = list(range(len(options)))
    chance.shuffle(others)
    for place in others:
        if all(options[place].fits(options[other]) for other in row):
            row.append(place)
    return sorted(row)


def _pairs_of(row: Sequence[int]) -> set[tuple[int, int]]:
    return set(combinations(row, 2))

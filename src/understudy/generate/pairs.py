"""Every pair of options in few requests (a covering array of strength two), greedily and seeded."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random  # noqa: TID251 - seeded by whoever asks

from understudy.generate.mutations.mutation import Mutation

CANDIDATES = 12
"""Rows that are tried for the one that covers most: more cover little better, and take longer."""


def covering(options: Sequence[Mutation], chance: Random) -> Iterator[Sequence[Mutation]]:
    """Yields rows of options, one a slot, until every pair that fits together was in one.

    Args:
        options: All of them, of all slots.
        chance: Decides between rows that cover as much.
    """
    open_pairs = {
        (a, b) for a, b in combinations(range(len(options)), 2) if options[a].fits(options[b])
    }
    order = sorted(open_pairs)
    for start in order:
        if start not in open_pairs:
            continue
        rows = [_row(options, start, chance) for _ in range(CANDIDATES)]
        best = max(rows, key=lambda row: len(_pairs_of(row) & open_pairs))
        open_pairs -= _pairs_of(best)
        yield [options[place] for place in best]


def _row(options: Sequence[Mutation], start: tuple[int, int], chance: Random) -> list[int]:
    row = list(start)
    others = list(range(len(options)))
    chance.shuffle(others)
    for place in others:
        if all(options[place].fits(options[held]) for held in row):
            row.append(place)
    return sorted(row)


def _pairs_of(row: Sequence[int]) -> set[tuple[int, int]]:
    return set(combinations(row, 2))

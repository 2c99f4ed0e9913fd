"""Reads replies of the store in which names and values take turns."""

from collections import Counter
from collections.abc import Iterator, Sequence

from understudy.mock.server.journal import Exercised


def exercised_row(exercised: Exercised | None) -> str:
    """Returns the part of the contract that a request used, as the store counts it."""
    return "" if exercised is None else "\0".join(map(str, exercised))


def exercised_counts(flat: Sequence[bytes]) -> Counter[Exercised]:
    """Returns parts of the contract with how often they were used, as the store counts them."""
    return Counter({_exercised(part): int(count) for part, count in pairs(flat)})


def _exercised(row: bytes) -> Exercised:
    operation, status, identity = row.decode().split("\0")
    return Exercised(operation, int(status), identity)


def pairs(flat: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yields each name with the value behind it."""
    return zip(flat[::2], flat[1::2], strict=True)

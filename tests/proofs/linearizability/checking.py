"""Decides whether a history of concurrent requests could have happened one after another.

The search is that of Wing and Gong, with Lowe's memory of what was tried: at each step one of the
requests that began before any other ended is put next, if the register then has what it read.
"""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple


class Operation(NamedTuple):
    """One request to a register.

    Attributes:
        begun: When it was sent.
        ended: When its response came; infinite where nobody knows what became of it.
        value: The value that it wrote, or read.
        is_write: Whether it wrote.
    """

    begun: float
    ended: float
    value: str
    is_write: bool

    @property
    def is_certain(self) -> bool:
        """True if its response said what became of it."""
        return self.ended != inf


def is_linearizable(history: Sequence[Operation], initial: str) -> bool:
    """Tells whether a history of one register has an order in which it could have happened.

    Args:
        history: Its requests; reads without a response are left out of it.
        initial: The value at its beginning.
    """
    tried: set[tuple[frozenset[int], str]] = set()
    open_states = [(frozenset(range(len(history))), initial)]
    while open_states:
        left, value = state = open_states.pop()
        if state in tried:
            continue
        tried.add(state)
        if not any(history[place].is_certain for place in left):
            return True
        first_end = min(history[place].ended for place in left)
        for place in left:
            operation = history[place]
            if operation.begun > first_end:
                continue  # another one had ended before it began
            if operation.is_write or operation.value == value:
                open_states.append((left - {place}, operation.value))
    return False

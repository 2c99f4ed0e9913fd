"""Tells which worlds had no request for too long, without a look at those that may go on."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush
from itertools import count, islice
from typing import NamedTuple

_ENDED_AT_ONCE = 100
"""Worlds that end together at most, so that no request waits for the end of thousands."""


@dataclass(slots=True)
class _Lifetime:
    """The life of one world.

    Attributes:
        idle: How long it lives without a request.
        touched: The time of its last request.
    """

    idle: timedelta
    touched: datetime

    @property
    def end(self) -> datetime:
        """When it ends if no further request comes."""
        return self.touched + self.idle


class _Due(NamedTuple):
    """The earliest time at which a world can end; requests may have put it off."""

    end: datetime
    number: int  # differs for each, so that names and lifetimes are not compared
    name: str
    lifetime: _Lifetime


class Lifetimes:
    """The lifetimes of the worlds that end by themselves."""

    def __init__(self) -> None:
        self._lifetimes: dict[str, _Lifetime] = {}
        self._due: list[_Due] = []  # a heap
        self._numbers = count()

    def begin(self, name: str, idle: timedelta, now: datetime) -> None:
        """Begins the lifetime of a world, at its first request."""
        lifetime = _Lifetime(idle, now)
        self._lifetimes[name] = lifetime
        heappush(self._due, _Due(lifetime.end, next(self._numbers), name, lifetime))

    def __contains__(self, name: str) -> bool:
        """Tells whether a world ends by itself; most do not, and need no look at the time."""
        return name in self._lifetimes

    def touch(self, name: str, now: datetime) -> None:
        """Puts off the end of a world that ends by itself, as a request for it has come."""
        self._lifetimes[name].touched = now

    def end(self, name: str) -> None:
        """Ends the lifetime of a world."""
        if self._lifetimes.pop(name, None) is not None and len(self._due) > self._most_due:
            self._due = [due for due in self._due if self._lifetimes.get(due.name) is due.lifetime]
            heapify(self._due)

    @property
    def _most_due(self) -> int:
        """The length of the heap above which those that have ended are taken out of it."""
        return 2 * len(self._lifetimes) + _ENDED_AT_ONCE

    def idle(self, name: str) -> timedelta | None:
        """Returns how long a world lives without a request; None: until it is deleted."""
        lifetime = self._lifetimes.get(name)
        return None if lifetime is None else lifetime.idle

    def is_over(self, name: str, now: datetime) -> bool:
        """Tells whether the last request for a world was too long ago."""
        lifetime = self._lifetimes.get(name)
        return lifetime is not None and now >= lifetime.end

    def over(self, now: datetime) -> list[str]:
        """Returns the names of worlds whose last request was too long ago: a hundred at most.

        Each is returned once; the caller ends it.
        """
        return list(islice(self._over(now), _ENDED_AT_ONCE))

    def _over(self, now: datetime) -> Iterator[str]:
        while self._due and self._due[0].end <= now:
            due = heappop(self._due)
            if self._lifetimes.get(due.name) is not due.lifetime:
                continue  # it was deleted
            if due.lifetime.end <= now:
                yield due.name
            else:
                put_off = due._replace(end=due.lifetime.end)
                heappush(self._due, put_off)

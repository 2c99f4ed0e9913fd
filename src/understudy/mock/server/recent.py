"""Keeps a bounded number of results, for those who ask whether there is one before they work."""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


class Recent(Generic[Key, Result]):
    """Keeps the newest results, and forgets the oldest.

    Unlike ``functools.lru_cache`` it says whether it has a result, so that the caller can return that
    at once, and leave other work to a thread.

    Args:
        most: How many it keeps.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._results: dict[Key, Result] = {}
        self.get: Callable[[Key], Result | None] = self._results.get
        """Returns a result, or None if absent."""

    def put(self, key: Key, result: Result) -> Result:
        """Keeps a result, and returns it."""
        if len(self._results) >= self._most and key not in self._results:
            # a thread may have taken the oldest meanwhile
            self._results.pop(next(iter(self._results)), None)
        self._results[key] = result
        return result


class RecentWithin(Recent[Key, Result]):
    """Keeps the newest results within a bound of bytes; threads may share it.

    Args:
        most: The bytes of all results together; one that has more than an eighth of it is not kept.
        size: Returns the bytes of a result.
    """

    def __init__(self, most: int, size: Callable[[Result], int]) -> None:
        super().__init__(most)
        self._size = size
        self._bytes = 0
        self._lock = threading.Lock()

    def put(self, key: Key, result: Result) -> Result:
        """Keeps a result, and returns it."""
        size = self._size(result)
        with self._lock:
            if size * 8 <= self._most and key not in self._results:
                self._results[key] = result
                self._bytes += size
                while self._bytes > self._most:
                    self._bytes -= self._size(self._results.pop(next(iter(self._results))))
        return result


class Recurring(Recent[Key, Result]):
    """Keeps results from the second time that they are put, as most of many come only once.

    What is kept long is not in the processor's caches any more when it makes room: for that alone
    people who are looked up at random cost a quarter more.
    """

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._once: set[int] = set()
        """The hashes of keys that came once; of two keys with one hash the first is kept at once."""

    def put(self, key: Key, result: Result) -> Result:
        """Keeps a result whose key came before, and returns it."""
        number, once = hash(key), self._once
        if number in once or key in self._results:
            once.discard(number)
            return super().put(key, result)
        if len(once) >= self._most:
            once.clear()
        once.add(number)
        return result

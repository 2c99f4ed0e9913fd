"""Bounded caches that callers ask for a result before they compute one."""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


class Recent(Generic[Key, Result]):
    """A cache of the newest results, which drops the oldest.

    Unlike ``functools.lru_cache`` it tells whether it has a result, so that the caller can return a
    cached one at once and compute others in a thread.

    Args:
        most: Number of results to keep.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._results: dict[Key, Result] = {}
        self.get: Callable[[Key], Result | None] = self._results.get
        """Returns the cached result of a key; None if absent. Bound here to save a call."""

    def put(self, key: Key, result: Result) -> Result:
        """Caches a result, and returns it."""
        if len(self._results) >= self._most and key not in self._results:
            # another thread may have dropped the oldest meanwhile, hence the default
            self._results.pop(next(iter(self._results)), None)
        self._results[key] = result
        return result


class RecentWithin(Recent[Key, Result]):
    """A thread-safe cache of the newest results, bounded by their bytes.

    Args:
        most: Bytes of all results together; a result larger than an eighth of them is not cached.
        size: Returns the number of bytes of a result.
    """

    def __init__(self, most: int, size: Callable[[Result], int]) -> None:
        super().__init__(most)
        self._size = size
        self._bytes = 0
        self._lock = threading.Lock()

    def put(self, key: Key, result: Result) -> Result:
        """Caches a result unless it is too large, and returns it."""
        size = self._size(result)
        with self._lock:
            if size * 8 <= self._most and key not in self._results:
                self._results[key] = result
                self._bytes += size
                while self._bytes > self._most:
                    self._bytes -= self._size(self._results.pop(next(iter(self._results))))
        return result


class Recurring(Recent[Key, Result]):
    """A cache that stores a result from its key's second time on, as most of many keys come only once.

    Without this, random lookups took a quarter longer: every new result drops an old one, whose
    memory has left the processor's caches by then.
    """

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._once: set[int] = set()
        """Hashes of keys that came once; a collision only caches a result one time too early."""

    def put(self, key: Key, result: Result) -> Result:
        """Caches a result if its key came before, and returns it."""
        number, once = hash(key), self._once
        if number in once or key in self._results:
            once.discard(number)
            return super().put(key, result)
        if len(once) >= self._most:
            once.clear()
        once.add(number)
        return result

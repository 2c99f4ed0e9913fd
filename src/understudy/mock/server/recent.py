"""Keeps a bounded number of results, for those who ask whether there is one before they work."""

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
        """Returns a result, or None where there is none."""

    def put(self, key: Key, result: Result) -> Result:
        """Keeps a result, and returns it."""
        if len(self._results) >= self._most and key not in self._results:
            # a thread may have taken the oldest meanwhile
            self._results.pop(next(iter(self._results)), None)
        self._results[key] = result
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

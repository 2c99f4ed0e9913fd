"""Locks the copies of worlds that a request works with, so that no other one of this process changes them."""

import asyncio
from collections.abc import Iterable
from weakref import WeakValueDictionary


class Locks:
    """The locks of the running event loop, by the names of what they lock."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._loop: asyncio.AbstractEventLoop | None = None

    def of(self, name: str) -> asyncio.Lock:
        """Returns the lock of this name."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._locks = WeakValueDictionary()  # those of another loop cannot be waited for here
        return self._locks.setdefault(name, asyncio.Lock())

    async def acquire(self, names: Iterable[str]) -> list[asyncio.Lock]:
        """Acquires the locks of these names, all or none; returns them."""
        acquired: list[asyncio.Lock] = []
        try:
            for name in sorted(names):  # in one order, so that no two wait for each other
                lock = self.of(name)
                await lock.acquire()
                acquired.append(lock)
        except asyncio.CancelledError:
            for lock in acquired:
                lock.release()
            raise
        return acquired

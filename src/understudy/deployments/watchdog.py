"""Cuts responses that take too long: one thread for all the responses of a transport.

A timer for each request would be a thread of the operating system for each request.
"""

import threading
from collections.abc import Callable
from time import monotonic

import httpx


class Watch:
    """One response that is watched.

    Args:
        seconds: How long it may take.

    Attributes:
        deadline: When it is cut, on the clock of ``time.monotonic``.
        is_cut: True once it was cut.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.deadline = monotonic() + seconds
        self.is_cut = False

    def reason(self, error: httpx.HTTPError) -> httpx.HTTPError:
        """Returns the error that explains a broken connection."""
        return self.slowness if self.is_cut else error

    @property
    def slowness(self) -> httpx.ReadTimeout:
        """The error of a response that was cut."""
        return httpx.ReadTimeout(f"the response took longer than {self._seconds:g} s and was cut")


class Watchdog:
    """Watches responses; its thread ends with `close`, or when it had nothing to watch for a while.

    Args:
        seconds: How long each response may take.
        cut: Shuts down every connection; called when a response is too late.
    """

    def __init__(self, seconds: float, cut: Callable[[], None]) -> None:
        self._seconds = seconds
        self._cut = cut
        self._watches: set[Watch] = set()
        self._condition = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def begin(self) -> Watch:
        """Watches a response from now on."""
        watch = Watch(self._seconds)
        with self._condition:
            self._watches.add(watch)
            if self._thread is None:
                self._is_closed = False
                self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
                self._thread.start()
        return watch

    def end(self, watch: Watch) -> None:
        """Watches a response no longer."""
        with self._condition:
            self._watches.discard(watch)

    def close(self) -> None:
        """Ends the thread."""
        with self._condition:
            self._is_closed = True
            self._condition.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        with self._condition:
            is_idle = False
            while not self._is_closed and not (is_idle and not self._watches):
                is_idle = not self._watches
                # Nobody wakes the thread for a new watch: its deadline is later than this wait's end.
                self._condition.wait(self._until_next())
                self._cut_late()
            self._thread = None

    def _until_next(self) -> float:
        """Returns the seconds until the next deadline that there is or can be."""
        earliest = min((watch.deadline for watch in self._watches), default=None)
        return self._seconds if earliest is None else max(0.0, earliest - monotonic())

    def _cut_late(self) -> None:
        now = monotonic()
        late = {watch for watch in self._watches if watch.deadline <= now}
        if not late:
            return
        self._watches -= late
        for watch in late:
            watch.is_cut = True
        self._cut()

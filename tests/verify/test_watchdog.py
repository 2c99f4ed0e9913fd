"""A response is cut when its own time is over, and not by the time of one before it."""

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from understudy.verify import transport
from understudy.verify.transport import Watchdog


class Watched:
    """A watchdog whose clock moves only when told, and how often it cut.

    Args:
        monkeypatch: Stops the clock.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.cuts = 0
        monkeypatch.setattr(transport, "monotonic", lambda: self.now)
        self.dog = Watchdog(5, self._cut)

    def _cut(self) -> None:
        self.cuts += 1

    def at(self, now: float) -> int:
        """Returns how often it cut by then."""
        self.now = now
        with self.dog._condition:
            self.dog._cut_late()
        return self.cuts


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    watched = Watched(monkeypatch)
    yield watched
    watched.dog.close()


def test_a_response_is_cut_once_when_its_time_is_over(watched: Watched) -> None:
    watch = watched.dog.begin()
    assert [watched.at(4.9), watched.at(5), watched.at(60)] == [0, 1, 1]
    assert watch.is_cut


def test_the_next_response_has_the_whole_time_for_itself(watched: Watched) -> None:
    watched.dog.end(watched.dog.begin())
    watched.now = 3
    watched.dog.begin()
    assert [watched.at(7.9), watched.at(8)] == [0, 1]


class InterruptsAt:
    """Interrupts this thread at one call or return of a Python function, as a signal can.

    Args:
        number: Which of them, from 0.
    """

    def __init__(self, number: int) -> None:
        self._left = number

    def __enter__(self) -> None:
        sys.settrace(self._traced)

    def __exit__(self, *_error: object) -> None:
        sys.settrace(None)

    @property
    def is_over(self) -> bool:
        """True once it has interrupted."""
        return self._left < 0

    def _traced(self, _frame: FrameType, event: str, _argument: object) -> Any:
        if event in {"call", "return"}:
            self._left -= 1
            if self._left == -1:
                raise KeyboardInterrupt
        return self._traced


def test_an_interrupt_at_any_function_leaves_the_watchdog_free(watched: Watched) -> None:
    watched.dog.end(watched.dog.begin())  # starts the thread, which then stands
    for number in range(100):
        interrupt = InterruptsAt(number)
        try:
            with interrupt:
                watched.dog.end(watched.dog.begin())
        except KeyboardInterrupt:
            pass
        assert watched.dog._lock.acquire(timeout=60)
        watched.dog._lock.release()
        if not interrupt.is_over:
            return
    pytest.fail("the watchdog calls more functions than were interrupted")

"""Ends a run early by Ctrl-C or SIGTERM, so that its changes are still undone."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Interruption:
    """Remembers Ctrl-C and SIGTERM until the run has noticed them.

    Python raises ``KeyboardInterrupt`` at any point of the program. In a destructor or in the
    callback of a weak reference it is printed and lost, and the run would go on.
    """

    def __init__(self) -> None:
        self._is_pending = False

    def interrupt(self, _number: int, _frame: Any) -> None:
        """Handles a signal.

        Raises:
            KeyboardInterrupt: Always.
        """
        self._is_pending = True
        raise KeyboardInterrupt

    def raise_lost(self) -> None:
        """Raises an interruption again that was lost.

        Raises:
            KeyboardInterrupt: A signal was received and not noticed.
        """
        if self._is_pending:
            self._is_pending = False
            raise KeyboardInterrupt

    def forget(self) -> None:
        """Marks the interruption as noticed."""
        self._is_pending = False


@contextmanager
def ended_by_sigterm() -> Iterator[Interruption]:
    """Handles SIGTERM like Ctrl-C, so that every change is undone and reported."""
    interruption = Interruption()
    with _handled_by(interruption.interrupt):
        yield interruption


@contextmanager
def noted() -> Iterator[threading.Event]:
    """Yields an event that the first Ctrl-C or SIGTERM sets; the second raises KeyboardInterrupt."""
    interrupted = threading.Event()

    def note(_number: int, _frame: Any) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()

    with _handled_by(note):
        yield interrupted


@contextmanager
def _handled_by(handler: Callable[[int, Any], None]) -> Iterator[None]:
    """Handles Ctrl-C and SIGTERM by a function; does nothing outside the main thread.

    Python allows only the main thread to set signal handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)

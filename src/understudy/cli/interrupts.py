"""Ends a run early by Ctrl-C or SIGTERM, without losing what it has to undo."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Makes SIGTERM do what Ctrl-C does, so that every change is undone and reported."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python hands signals to the main thread alone
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def noted() -> Iterator[threading.Event]:
    """Notes a first Ctrl-C or SIGTERM and lets the work under way finish; a second one ends it.

    Yields:
        The event that the first signal sets.
    """
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked  # as above
        return

    def note(number: int, frame: Any) -> None:
        if asked.is_set():
            _interrupt(number, frame)
        asked.set()

    before = {one: signal.signal(one, note) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _interrupt(_number: int, _frame: Any) -> None:
    raise KeyboardInterrupt

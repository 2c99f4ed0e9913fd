"""The progress line of a run on a terminal."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.status import Status

from understudy.verify.events import Event, Found, PhaseStarted

EVERY = 5
"""Requests between two updates."""


class Progress:
    """Shows the phase, the rules settled, the requests sent and the budget left.

    Args:
        console: The console to write to.
        is_shown: Whether to show anything.
    """

    def __init__(self, console: Console, *, is_shown: bool) -> None:
        self._status = Status("", console=console) if is_shown else None
        self._phase = ""
        self._findings = 0

    def __enter__(self) -> Self:
        """Starts to show progress."""
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Removes the line."""
        if self._status is not None:
            self._status.stop()

    def listen(self, event: Event) -> None:
        """Updates the line by an event."""
        if self._status is None:
            return
        if isinstance(event, PhaseStarted):
            self._phase = event.name
        elif isinstance(event, Found):
            self._findings += 1
        elif event.exchange.number % EVERY == 0:
            left = f"{event.left} anonymous requests left this hour"
            if event.allowed is not None:
                left = f"{event.allowed} requests left"
            self._status.update(
                f"{self._phase}: {event.settled * 100 // event.rules}% of the rules judged, "
                f"{self._findings} findings, {event.exchange.number} requests, {left}"
            )

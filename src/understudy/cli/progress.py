"""Runs what sends many requests: shows its progress, and lets a signal end it in order."""

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from rich.console import Console
from rich.status import Status

from understudy.cli.interrupts import ended_by_sigterm
from understudy.errors import StartupError
from understudy.verify.findings import Event, Found, Listener, PhaseStarted

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


Result = TypeVar("Result")


def shown(
    console: Console,
    journal: Path | None,
    carry_out: Callable[[Listener], Result],
    *,
    is_quiet: bool,
) -> Result:
    """Returns the result of a run, which shows its progress on a terminal.

    Args:
        console: The console to write to.
        journal: The undo journal of the run; None without one.
        carry_out: Carries the run out, and tells the listener of every event.
        is_quiet: True for no progress.

    Raises:
        StartupError: A second signal ended the run while its changes were undone.
    """
    is_shown = console.is_terminal and not is_quiet
    with ended_by_sigterm() as interruption, Progress(console, is_shown=is_shown) as progress:

        def listen(event: Event) -> None:
            if isinstance(event, PhaseStarted) and event.name == "undo":
                interruption.forget()  # the run has ended, by a signal or not
            interruption.raise_lost()
            progress.listen(event)

        try:
            return carry_out(listen)
        except KeyboardInterrupt as error:  # a second time, while things were put back
            rest = f"; `understudy cleanup {journal}` does the rest" if journal else ""
            msg = f"Stopped before everything was put back{rest}."
            raise StartupError(msg) from error

"""Carries out a run with many requests: shows its progress, and ends it in order at a signal."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.status import Status

from understudy.cli.interrupts import ended_by_sigterm
from understudy.errors import StartupError
from understudy.verify.findings import Event, Found, Listener, PhaseStarted

EVERY = 5
"""Requests between two updates of the progress."""


class Progress:
    """Shows the phase, the rules settled, the requests sent and the budget left."""

    def __init__(self, status: Status) -> None:
        self._status = status
        self._phase = ""
        self._findings = 0

    def listen(self, event: Event) -> None:
        """Updates the line after an event."""
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


def with_progress(
    console: Console,
    journal: Path | None,
    carry_out: Callable[[Listener], Result],
    *,
    is_quiet: bool,
) -> Result:
    """Carries out a run with its progress on a terminal, and returns the result.

    Args:
        console: The console to write to.
        journal: The undo journal of the run; None without one.
        carry_out: Carries out the run, and passes every event to the listener.
        is_quiet: True for no progress.

    Raises:
        StartupError: A second signal ended the run while its changes were undone.
    """
    status = Status("", console=console)
    is_shown = console.is_terminal and not is_quiet
    progress = Progress(status)
    with ended_by_sigterm() as interruption, status if is_shown else nullcontext():

        def listen(event: Event) -> None:
            if isinstance(event, PhaseStarted) and event.name == "undo":
                interruption.forget()  # a signal that ended the run must not stop the undoing
            interruption.raise_lost()
            if is_shown:
                progress.listen(event)

        try:
            return carry_out(listen)
        except KeyboardInterrupt as error:  # a second signal, while changes were undone
            rest = f"; `understudy cleanup {journal}` does the rest" if journal else ""
            msg = f"Stopped before everything was put back{rest}."
            raise StartupError(msg) from error

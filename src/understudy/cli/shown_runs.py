"""Runs what sends many requests: shows its progress, and lets a signal end it in order."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from understudy.cli.interrupts import ended_by_sigterm
from understudy.cli.progress import Progress
from understudy.errors import StartupError
from understudy.verify.events import Event, Listener, PhaseStarted

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

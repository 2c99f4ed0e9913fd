"""Undoes what an earlier run left changed, before a new run begins."""

from pathlib import Path

from understudy.errors import StartupError
from understudy.verify.gateway import Gateway
from understudy.verify.undo import Undo
from understudy.verify.undo_journal import read_journal


def undo_earlier_run(gateway: Gateway, path: Path | None) -> None:
    """Undoes what an earlier run left changed, before a new run begins.

    Args:
        gateway: Sends the requests.
        path: The journal's file, which need not exist.

    Raises:
        StartupError: It cannot be undone, or not with this target.
    """
    if path is None or not path.exists():
        return
    journal = read_journal(path)
    if journal.is_empty:
        path.unlink()
        return
    target = gateway.target
    remedy = f"Run `understudy cleanup {path}` first"
    if journal.base_url != target.base_url:
        msg = (
            f"{path}: an earlier run left changes at {journal.base_url}, and the target is "
            f"{target.base_url}. {remedy}, with that run's file as --target."
        )
        raise StartupError(msg)
    if target.writes == "observe":
        msg = f"{path}: an earlier run left changes, and the mode is observe. {remedy}."
        raise StartupError(msg)
    if journal.clock is not None and gateway.time.resume is None:
        msg = f"{path}: an earlier run moved the clock, and [permit] clock is not true. {remedy}."
        raise StartupError(msg)
    if journal.clock is not None and gateway.time.resume is not None:
        gateway.time.resume(journal.clock)
    lines = Undo(gateway, path, journal).restore_changes()
    if lines:
        more = f" and {len(lines) - 1} more" if lines[1:] else ""
        msg = (
            f"{path}: changes of an earlier run could not be undone: {lines[0]}{more}. "
            f"{remedy}; delete the file only if the account may stay as it is."
        )
        raise StartupError(msg)
    gateway.listeners.clear()
    path.unlink()

"""The undo journal: the file that tells what a run has changed, for a later run or a cleanup."""

from pathlib import Path

import orjson
from msgspec import Struct, ValidationError, field, json

from understudy.deployments.clock import ClockState
from understudy.deployments.refusals import NotPermitted
from understudy.errors import StartupError
from understudy.verify.account_state import AccountBefore


class UndoJournal(Struct):
    """Everything that a run has to undo.

    Attributes:
        base_url: The deployment's resource API.
        accounts: Account to the state before the run of what the run has changed there.
        uploads: Account to the ids of the avatars that the run uploaded.
        pending: Account to the number of uploads whose avatar is not known yet.
        clock: State of the deployment's clock before the run; None where it cannot be moved.
    """

    base_url: str
    accounts: dict[str, AccountBefore] = field(default_factory=dict)
    uploads: dict[str, list[str]] = field(default_factory=dict)
    pending: dict[str, int] = field(default_factory=dict)
    clock: ClockState | None = None

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to undo."""
        is_changed = any(
            before.profile is not None or before.avatars is not None
            for before in self.accounts.values()
        )
        is_uploaded = any(self.uploads.values()) or any(self.pending.values())
        return not (is_changed or is_uploaded or self.clock)

    def clear_accounts(self) -> None:
        """Drops what was restored; the clock stays, as a run that goes on may move it again."""
        self.accounts.clear()
        self.uploads.clear()
        self.pending.clear()


def write_journal(path: Path, journal: UndoJournal) -> None:
    """Replaces the file at once, so that a kill leaves the old or the new one.

    Raises:
        NotPermitted: It cannot be written.
    """
    draft = path.with_name(f"{path.name}.draft")
    try:
        draft.write_bytes(json.encode(journal))
        draft.replace(path)
    except OSError as error:
        msg = f"{path} cannot be written ({error.strerror}), so no write is sent"
        raise NotPermitted(msg) from error


def read_journal(path: Path) -> UndoJournal:
    """Reads the undo journal of an earlier run.

    Raises:
        StartupError: The file cannot be read, or is not an undo journal.
    """
    try:
        return json.decode(path.read_bytes(), type=UndoJournal)
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}."
        raise StartupError(msg) from error
    except (ValidationError, orjson.JSONDecodeError, ValueError) as error:
        msg = (
            f"{path} is not an undo journal of understudy verify: {error}. "
            "If an earlier run changed nothing that has to be undone, delete the file."
        )
        raise StartupError(msg) from error

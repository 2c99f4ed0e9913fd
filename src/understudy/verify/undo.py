"""Undoes what a run changed, and verifies it: fields, avatars, items of other services, the clock.

The state before the first change is written to a journal first, so that the next run or ``understudy
cleanup`` can undo the changes of a killed run. The time of the last profile edit and issued tokens
cannot be restored by any client; the outcome names them.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from understudy.deployments.refusals import NotPermitted, Refusal
from understudy.exchange.messages import GRANTEE, Exchange, Identity, Request
from understudy.interface.operations import (
    DELETE_AVATAR,
    OWN_PROFILE,
    SET_AVATAR,
    UPDATE_AVATAR,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
    Place,
)
from understudy.verify import account_state
from understudy.verify.account_state import AccountBefore
from understudy.verify.gateway import STATE, UNDO, Gateway
from understudy.verify.item_undo import ItemUndo
from understudy.verify.probe_client import ProbeClient
from understudy.verify.request_budget import TOO_MANY
from understudy.verify.restoring import UnrestoredField, restore_avatars, restore_profile
from understudy.verify.undo_journal import JournalFile, UndoJournal

AVATARS: Final = frozenset({UPLOAD_AVATAR, DELETE_AVATAR, UPDATE_AVATAR, SET_AVATAR})
ACCOUNTS: Final = {"own": "own", "other": "other", GRANTEE: "own"}
"""The account that each identity's account belongs to: issued tokens are of the test account."""

WRITERS: Final = {"own": "owner", "other": "other"}
"""The credential that restores each account."""


Restore = Callable[[str, AccountBefore], list[str]]


class Undo:
    """Records the state before each change, and restores it.

    Args:
        gateway: Sends the requests, and announces every write before it is sent.
        path: The file of the journal; None where none is needed.
        journal: The journal of an earlier run; None for a new run.
    """

    def __init__(
        self, gateway: Gateway, path: Path | None, journal: UndoJournal | None = None
    ) -> None:
        self._client = ProbeClient(gateway, UNDO)
        self._reader = ProbeClient(gateway, STATE)
        self._path = path
        self._file = None if path is None else JournalFile(path)
        self._known: dict[str, AccountBefore] = {}
        stood = gateway.time.stood and gateway.time.stood()
        self.journal = journal or UndoJournal(gateway.target.base_url, clock=stood)
        self.unrestored: list[UnrestoredField] = []
        self.has_changed = False
        self._first_update: str | None = None
        self._doubtful: set[str] = set()
        self.items = ItemUndo(self._client, self.journal, self._write)
        gateway.made.update(*self.journal.uploads.values())
        if self.journal.clock is not None:
            self._write()
        gateway.undo = self
        gateway.listeners.append(self._observe)

    def before_write(self, identity: Identity, place: Place, request: Request) -> None:
        """Reads the state of an account before a write is sent there.

        Raises:
            Refusal: It cannot be read, so the write must not be sent either.
            NotPermitted: The change could not be undone.
        """
        account = self._restorable(identity)
        if account is None:
            return
        writer = WRITERS[account]
        known = self._known.setdefault(account, AccountBefore())
        if place.operation == UPDATE_PROFILE:
            if known.profile is None:
                known.profile = account_state.profile(self._reader, writer)
            account_state.expect_known(request, known.profile)
        if place.operation in AVATARS:
            if known.avatars is None:
                self._read_avatars(account, known, writer)
            _expect_restorable(place, known.avatars or {})

    def on_write(self, identity: Identity, place: Place) -> None:
        """Records in the journal that a write has to be undone, right before it is sent.

        Raises:
            NotPermitted: The journal cannot be written.
        """
        account = self._restorable(identity)
        if account is None or place.operation not in AVATARS | {UPDATE_PROFILE}:
            return
        self.has_changed = True
        known = self._known[account]
        changed = self.journal.accounts.setdefault(account, AccountBefore())
        if place.operation == UPDATE_PROFILE:
            self._first_update = account if changed.profile is None else None
            self._doubtful.discard(account)
            changed.profile = known.profile
        else:
            changed.avatars, changed.selected = known.avatars, known.selected
        if place.operation == UPLOAD_AVATAR:
            self.journal.pending[account] = self.journal.pending.get(account, 0) + 1
        self._write()

    def restoring_requests(self, identity: Identity | None, place: Place | None) -> int:
        """Returns the number of requests that undoing takes, after one more write if one is named."""
        account = self._restorable(identity) if identity is not None else None
        operation = place.operation if place is not None and account is not None else ""
        total = self.items.requests
        for name in {*self.journal.accounts, *([account] if account is not None else [])}:
            changed = self.journal.accounts.get(name, AccountBefore())
            is_named = name == account
            if changed.profile is not None or (is_named and operation == UPDATE_PROFILE):
                total += 2  # the update, and a look at the outcome
            if changed.avatars is not None or (is_named and operation in AVATARS):
                uploads = len(self.journal.uploads.get(name, ())) + self.journal.pending.get(
                    name, 0
                )
                uploads += is_named and operation == UPLOAD_AVATAR
                hashes = len(self._known.get(name, changed).selected)
                total += 3 + uploads + 3 * hashes  # three lists, and for each address as many
        return total

    def covers(self, place: Place) -> bool:
        """Tells whether a write changes only what this run created or can restore."""
        return self.items.covers(place)

    def restore(self) -> list[str]:
        """Undoes every change, and refuses every further request of the run.

        Returns:
            One line for each thing that could not be restored; none where all is verified.
        """
        self._client.gateway.end()
        lines = self.restore_changes()
        if not lines and self._path is not None:
            self._path.unlink(missing_ok=True)
        return lines

    def restore_changes(self) -> list[str]:
        """Undoes every change so far; the run may go on.

        Returns:
            One line for each thing that could not be restored; none where all is verified.
        """
        gateway = self._client.gateway
        self.unrestored.clear()
        gateway.put_time_back()  # first: edits get their time from it, and a token may have expired
        lines = [
            line
            for account, before in self.journal.accounts.items()
            for restore in (self._restore_avatars, self._restore_profile)
            for line in self._attempted(restore, account, before)
        ]
        lines += self.items.restore()
        lines += gateway.put_time_back()  # again: waiting for the hour's limit moves it
        if not lines:
            self.journal.clear_accounts()
            if self._path is not None and self._path.exists():
                self._write()
        return lines

    def _attempted(self, restore: Restore, account: str, before: AccountBefore) -> list[str]:
        try:
            return restore(account, before)
        except Refusal as refusal:
            return [f"{WRITERS[account]}: {refusal}"]
        except Exception as error:  # the other account must be restored all the same
            return [f"{WRITERS[account]}: {type(error).__name__}: {error}"]

    def _restore_profile(self, account: str, before: AccountBefore) -> list[str]:
        differences = restore_profile(self._client, before, WRITERS[account])
        self.unrestored += [one for one in differences if isinstance(one, UnrestoredField)]
        return [str(one) for one in differences]

    def _restore_avatars(self, account: str, before: AccountBefore) -> list[str]:
        if self.journal.pending.get(account) and before.avatars is not None:
            self._find_lost(account, before.avatars)
        uploads = self.journal.uploads.get(account, [])
        primary = self._hashes(account)[0]
        return restore_avatars(self._client, before, WRITERS[account], primary, uploads)

    def _find_lost(self, account: str, before: Mapping[str, object]) -> None:
        """Claims new avatars as the run's own, up to the number of uploads without a response."""
        made = self.journal.uploads.setdefault(account, [])
        now = account_state.avatars(self._client, WRITERS[account])
        new = [image for image in now if image not in before and image not in made]
        if len(new) <= self.journal.pending.pop(account, 0):
            made += new
            self._client.gateway.made.update(new)

    def _read_avatars(self, account: str, known: AccountBefore, writer: str) -> None:
        avatars = account_state.avatars(self._reader, writer)
        for hash_ in self._hashes(account):
            known.selected[hash_] = account_state.selected(self._reader, writer, hash_)
        known.avatars = avatars

    def _hashes(self, account: str) -> tuple[str, ...]:
        known = self._client.known
        hashes = known.own_hashes if account == "own" else known.others_hashes
        return hashes or ("",)

    def _restorable(self, identity: Identity) -> str | None:
        """Returns the account of an identity, if the target has a credential to restore it."""
        account = ACCOUNTS.get(identity.account or "")
        return account if account is not None and self._client.has(WRITERS[account]) else None

    def _observe(self, exchange: Exchange) -> None:
        """Notes which avatars an exchange made or deleted, and which profile it shows unchanged."""
        account = self._restorable(exchange.identity)
        if account is None:
            return
        if exchange.operation in {UPLOAD_AVATAR, DELETE_AVATAR}:
            self._note_avatar(account, exchange)
        if exchange.operation in {OWN_PROFILE, UPDATE_PROFILE}:
            self._note_profile(account, exchange)

    def _note_avatar(self, account: str, exchange: Exchange) -> None:
        made = self.journal.uploads.setdefault(account, [])
        image, is_upload = exchange.json_object.get("image_id"), exchange.operation == UPLOAD_AVATAR
        if is_upload and (isinstance(image, str) or exchange.response.is_refusal):
            self.journal.pending[account] = max(0, self.journal.pending.get(account, 0) - 1)
        if exchange.response.is_success and is_upload and isinstance(image, str):
            made.append(image)
        elif exchange.response.is_success and exchange.value in made:
            made.remove(exchange.value)
        self._write()

    def _note_profile(self, account: str, exchange: Exchange) -> None:
        """Drops a profile that certainly was not changed, so that undoing need not write it again.

        That is one whose first update was refused by the rate limit, or held no field and a read
        shows every value as before.
        """
        changed = self.journal.accounts.get(account)
        if exchange.source == UNDO or changed is None or changed.profile is None:
            return
        is_first = exchange.operation == UPDATE_PROFILE and self._first_update == account
        if is_first and exchange.request.json == {}:
            self._doubtful.add(account)
        is_same = all(exchange.json_object.get(n) == text for n, text in changed.profile.items())
        is_shown = account in self._doubtful and exchange.operation == OWN_PROFILE and is_same
        if is_shown or (is_first and exchange.status == TOO_MANY):
            changed.profile = None
            self._doubtful.discard(account)
            self._write()

    def _write(self) -> None:
        """Writes the journal, unless the file says the same already.

        Raises:
            NotPermitted: It cannot be written.
        """
        if self._file is not None:
            self._file.write(self.journal)


def _expect_restorable(place: Place, before: Mapping[str, Mapping[str, str]]) -> None:
    """Makes sure that a change of an existing avatar can be undone.

    Raises:
        NotPermitted: It cannot.
    """
    named = account_state.named_in(place, before)
    if named and place.operation == DELETE_AVATAR:
        msg = "deleting an avatar that existed before the run could not be undone"
        raise NotPermitted(msg)
    if place.operation == UPDATE_AVATAR and any(
        len(before[image]) < len(account_state.AVATAR_FIELDS) for image in named
    ):
        msg = "the avatar's current values are unknown, so the change could not be undone"
        raise NotPermitted(msg)

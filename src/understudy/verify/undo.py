"""Undoes and verifies the changes of a run: fields, avatars, items of other services, the clock.

The state before the first change is written to a journal first, so that the next run or ``understudy
cleanup`` can undo the changes of a killed run. The time of the last profile edit and issued tokens
cannot be restored by any client; the outcome names them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Final

from understudy.errors import StartupError
from understudy.exchange.messages import GRANTEE, Exchange, Identity, Request
from understudy.interface.operations import (
    DELETE_AVATAR,
    LIST_AVATARS,
    OWN_PROFILE,
    SET_AVATAR,
    UPDATE_AVATAR,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
    Place,
)
from understudy.verify import undo_journal
from understudy.verify.gateway import STATE, UNDO, Gateway
from understudy.verify.item_undo import ItemUndo
from understudy.verify.keepsakes import ATTEMPTS, Keepsakes, persistent, restore_avatars
from understudy.verify.permits import SAFE, NotPermitted, Refusal
from understudy.verify.probe_client import ProbeClient
from understudy.verify.shapes import AVATAR_FIELDS
from understudy.verify.undo_journal import (
    MOST_AT_STAKE,
    AccountBefore,
    JournalFile,
    UndoJournal,
    read_journal,
)


@dataclass(frozen=True, slots=True)
class UnrestoredField:
    """A profile field that the deployment did not restore.

    Attributes:
        writer: The name of the credential.
        name: The field.
        before: Its value before the run.
        now: Its value now.
        exchange: The exchange that shows the value now.
    """

    writer: str
    name: str
    before: str
    now: object
    exchange: Exchange

    def __str__(self) -> str:
        """Returns one line."""
        now = "missing" if self.now is None else f'"{self.now}"'
        return f'{self.writer}: {self.name} is {now} and was "{self.before}"'


def _differing_fields(
    client: ProbeClient, before: AccountBefore, writer: str
) -> list[UnrestoredField | str]:
    """Returns the fields of a profile that have changed, or a line if it cannot be read."""
    exchange = client.get("/me/profile", writer)
    if not exchange.response.is_success:
        return [f"{writer}: the profile cannot be read back: status {exchange.status}"]
    return [
        UnrestoredField(writer, name, text, exchange.json_object.get(name), exchange)
        for name, text in (before.profile or {}).items()
        if exchange.json_object.get(name) != text
    ]


OUTAGE: Final = (1, 2, 4, 8, 15)
"""Seconds before each further try to undo changes at a deployment that does not respond."""

AVATARS: Final = frozenset({UPLOAD_AVATAR, DELETE_AVATAR, UPDATE_AVATAR, SET_AVATAR})
CHANGES: Final = AVATARS | {UPDATE_PROFILE}
ACCOUNTS: Final = {"own": "own", "other": "other", GRANTEE: "own"}
"""The test account of each identity's account; tokens issued to a run are the own account's."""

WRITERS: Final = {"own": "owner", "other": "other"}
"""The credential that restores each account."""

Restore = Callable[[str, AccountBefore], list[str]]


class Undo:
    """Records the state before each change, and restores it.

    Args:
        gateway: Sends the requests, and announces every write before it is sent.
        path: The file of the journal; None to keep none.
        journal: The journal of an earlier run; None for a new run.
    """

    def __init__(
        self, gateway: Gateway, path: Path | None, journal: UndoJournal | None = None
    ) -> None:
        self._client = ProbeClient(gateway, UNDO)
        self._lists: list[Exchange] = []
        self._reader = ProbeClient(gateway, STATE, self._lists)
        self._path = path
        self._file = None if path is None else JournalFile(path)
        self._known: dict[str, AccountBefore] = {}
        original = gateway.time.mock.original if gateway.time.mock else None
        self.journal = journal or UndoJournal(gateway.target.base_url, clock=original)
        self.unrestored: list[UnrestoredField] = []
        self.has_changed = False
        self._first_update: str | None = None  # account of an update that is its first
        self._doubtful: set[str] = set()  # accounts whose only update had no field
        self._sent = {account: set(CHANGES) for account in self.journal.accounts}
        self._kept = Keepsakes(self._reader, path)
        self._urls: dict[str, dict[str, str]] = {}
        # By account: the items of each list in its profile, and a line for each that has lost some.
        self._counts: dict[str, dict[str, int]] = {}
        self._lost: dict[str, list[str]] = {}
        self.items = ItemUndo(self._client, self.journal, self._write)
        gateway.made.update(*self.journal.uploads.values())
        if self.journal.clock is not None:
            self._write()
        gateway.undo = self
        gateway.listeners.append(self._observe)

    def before_write(self, identity: Identity, place: Place, request: Request) -> None:
        """Reads the state of an account before a write is sent there.

        Raises:
            Refusal: The state cannot be read, so the write must not be sent either.
            NotPermitted: The change could not be undone.
        """
        account = self._restorable(identity)
        if account is None or place.operation not in CHANGES:
            return  # changes to other services are recorded in ``items``
        known = self._read_account(account, place.operation)
        if self._lost.get(account):  # as a response to an edit has it, which may leave out a part
            undo_journal.profile(self._reader, WRITERS[account])
        if self._lost.get(account):
            msg = f"{self._lost[account][0]}, so nothing more is changed"
            raise NotPermitted(msg)
        if place.operation == UPDATE_PROFILE:
            may_be_long = self._client.target.permit.long_texts
            undo_journal.expect_known(request, known.profile or {}, may_be_long=may_be_long)
        if place.operation in AVATARS:
            _expect_restorable(place, known.avatars or {})
        self._expect_nothing_lost(account, place.operation)

    def _expect_nothing_lost(self, account: str, operation: str) -> None:
        """Checks that no change so far has removed an avatar, and saves the avatars' pictures.

        Raises:
            Refusal: An avatar was removed, or a picture cannot be saved.
        """
        urls, made = self._urls.get(account), self.journal.uploads.setdefault(account, [])
        if urls is None:
            return
        sent, is_upload = self._sent.get(account, ()), operation == UPLOAD_AVATAR
        self._kept.before_change(WRITERS[account], urls, made, sent, is_upload=is_upload)
        try:
            self._kept.keep(urls)
        except NotPermitted:
            if operation in {UPLOAD_AVATAR, DELETE_AVATAR}:
                raise

    def _read_account(self, account: str, operation: str) -> AccountBefore:
        """Reads the whole restorable state of an account, as any change may affect all of it.

        Raises:
            Refusal: The state that the operation changes cannot be read.
        """
        is_first = account not in self._known
        known, writer = self._known.setdefault(account, AccountBefore()), WRITERS[account]
        if known.profile is None and (is_first or operation == UPDATE_PROFILE):
            try:
                known.profile = undo_journal.profile(self._reader, writer)
            except NotPermitted:
                if operation == UPDATE_PROFILE:
                    raise
        if known.avatars is None and (is_first or operation in AVATARS):
            try:
                self._read_avatars(account, known, writer)
            except NotPermitted:
                if operation in AVATARS:
                    raise
        return known

    def on_write(self, identity: Identity, place: Place) -> None:
        """Records in the journal that a write has to be undone, right before it is sent.

        Raises:
            NotPermitted: The journal cannot be written.
        """
        account = self._restorable(identity)
        if account is None or place.operation not in CHANGES:
            return
        self.has_changed = True
        known = self._known[account]
        changed = self.journal.accounts.setdefault(account, AccountBefore())
        sent = self._sent.setdefault(account, set())
        if place.operation == UPDATE_PROFILE:
            self._first_update = None if UPDATE_PROFILE in sent else account
            self._doubtful.discard(account)
        sent.add(place.operation)
        changed.profile, changed.avatars = known.profile, known.avatars
        changed.selected = known.selected
        if place.operation == UPLOAD_AVATAR:
            self.journal.pending[account] = self.journal.pending.get(account, 0) + 1
        self._write()

    def restoring_requests(self, identity: Identity | None, place: Place | None) -> int:
        """Returns the number of requests that undoing takes, after one more write if one is named."""
        account = self._restorable(identity) if identity is not None else None
        operation = place.operation if place is not None and account is not None else ""
        total = self.items.requests
        for name in {*self.journal.accounts, *([account] if account is not None else [])}:
            sent = set(self._sent.get(name, ())) | ({operation} if name == account else set())
            known = self._known.get(name) or self.journal.accounts.get(name, AccountBefore())
            if not sent & CHANGES:
                continue
            # an update and a read of its outcome; or a read alone, as it is seldom different
            total += 2 if UPDATE_PROFILE in sent else known.profile is not None
            if sent & AVATARS:
                pending = self.journal.pending.get(name, 0)
                uploads = len(self.journal.uploads.get(name, ())) + pending
                uploads += name == account and operation == UPLOAD_AVATAR
                total += 3 + uploads  # three lists, and as many for each address
                total += 3 * len(known.selected)
            else:
                total += known.avatars is not None
        return total

    def covers(self, place: Place) -> bool:
        """Tells whether a write changes only what this run created or can restore."""
        return self.items.covers(place)

    def restore(self) -> list[str]:
        """Undoes every change, and refuses every further request of the run.

        A deployment that does not respond is waited for, as after an outage.

        Returns:
            One line for each thing that could not be restored; none where all is verified.
        """
        gateway = self._client.gateway
        gateway.end()
        lines = self.restore_changes()
        for seconds in OUTAGE:
            if not lines or gateway.is_answered:
                break
            gateway.time.wait(timedelta(seconds=seconds))
            lines = self.restore_changes()
        if not lines:
            self.forget()
        lost = (line for each in self._lost.values() for line in each)
        return [*lines, *self._kept.moved, *lost]

    def forget(self) -> None:
        """Removes the journal and the pictures beside it, once everything is undone."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        self._kept.drop()

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
            for restore in (self._restore_profile, self._restore_avatars, self._look_at_profile)
            for line in self._attempted(restore, account, before)
        ]
        lines += self.items.restore()
        lines += gateway.put_time_back()  # again: waiting for the hour's limit moves it
        if not lines:
            self.journal.clear_accounts()
            self._sent.clear()
        if self._path is not None and self._path.exists():
            self._write()
        return lines

    def _attempted(self, restore: Restore, account: str, before: AccountBefore) -> list[str]:
        """Restores a part of an account, again if an accepted request had no effect."""
        lines = list[str]()
        try:
            for _attempt in range(ATTEMPTS):
                lines = restore(account, before)
                if not lines:
                    break
        except Refusal as refusal:
            return [*lines, f"{WRITERS[account]}: {refusal}"]
        except Exception as error:  # the other account must be restored all the same
            return [*lines, f"{WRITERS[account]}: {type(error).__name__}: {error}"]
        return lines

    def _restore_profile(self, account: str, before: AccountBefore) -> list[str]:
        """Restores the editable fields of a profile; long texts only if they have changed."""
        writer = WRITERS[account]
        is_edited = UPDATE_PROFILE in self._sent.get(account, ())
        if before.profile is None:
            return []
        if not is_edited and not _differing_fields(self._client, before, writer):
            return []
        short = {n: text for n, text in before.profile.items() if len(text) <= MOST_AT_STAKE}
        persistent(self._client, "PATCH", "/me/profile", writer, json=short)
        differing = _differing_fields(self._client, before, writer)
        for field in differing:  # one by one, as a refused value must not prevent the others
            if isinstance(field, UnrestoredField):
                alone = {field.name: field.before}
                persistent(self._client, "PATCH", "/me/profile", writer, json=alone)
        if differing:
            differing = _differing_fields(self._client, before, writer)
        self.unrestored[:] = [field for field in self.unrestored if field.writer != writer]
        self.unrestored += [field for field in differing if isinstance(field, UnrestoredField)]
        return [str(field) for field in differing]

    def _look_at_profile(self, account: str, before: AccountBefore) -> list[str]:
        """Restores a profile that a deployment changed when a picture was uploaded again."""
        self._sent.get(account, set()).discard(UPDATE_PROFILE)
        return self._restore_profile(account, before) if self._kept.moved else []

    def _restore_avatars(self, account: str, before: AccountBefore) -> list[str]:
        if before.avatars is None:
            return []
        if self.journal.pending.get(account):
            self._find_lost(account, before.avatars)
        uploads = self.journal.uploads.get(account, [])
        primary = self._hashes(account)[0]
        writer = WRITERS[account]
        is_edited = bool(AVATARS & self._sent.get(account, set()))
        if not is_edited and undo_journal.avatars(self._client, writer) == before.avatars:
            return []
        return restore_avatars(self._client, before, writer, primary, uploads, self._kept)

    def _find_lost(self, account: str, before: Mapping[str, object]) -> None:
        """Claims new avatars as the run's own, up to the number of uploads without a response."""
        made = self.journal.uploads.setdefault(account, [])
        now = undo_journal.avatars(self._client, WRITERS[account])
        new = [image for image in now if image not in before and image not in made]
        if len(new) <= self.journal.pending.pop(account, 0):
            made += new
            self._client.gateway.made.update(new)

    def _read_avatars(self, account: str, known: AccountBefore, writer: str) -> None:
        listed = undo_journal.listed(self._reader, writer)
        for hash_ in self._hashes(account):
            known.selected[hash_] = undo_journal.selected(self._reader, writer, hash_)
        known.avatars = undo_journal.by_image(listed)
        self._urls[account] = {it["image_id"]: str(it.get("image_url", "")) for it in listed}

    def _hashes(self, account: str) -> tuple[str, ...]:
        known = self._client.known
        hashes = known.own_hashes if account == "own" else known.others_hashes
        return hashes or ("",)

    def _restorable(self, identity: Identity) -> str | None:
        """Returns the account of an identity, if the target has a credential to restore it."""
        account = ACCOUNTS.get(identity.account or "")
        return account if account is not None and self._client.has(WRITERS[account]) else None

    def _observe(self, exchange: Exchange) -> None:
        """Records avatars that an exchange made or deleted, and a profile shown unchanged."""
        if exchange.site == "resource" and exchange.request.method not in SAFE:
            self._lists.clear()  # a list from before a write is out of date after it
        elif exchange.operation == LIST_AVATARS:
            self._lists.append(exchange)
        account = self._restorable(exchange.identity)
        is_upload = exchange.operation == UPLOAD_AVATAR and exchange.response.is_success
        if account is None and is_upload and "own" in self.journal.accounts:
            account = "own"  # the deployment accepted a near copy of the owner's credential
        if account is None:
            return
        if exchange.operation in {UPLOAD_AVATAR, DELETE_AVATAR}:
            self._note_avatar(account, exchange)
        if exchange.operation in {OWN_PROFILE, UPDATE_PROFILE}:
            self._note_lost(account, exchange)
            self._note_profile(account, exchange)

    def _note_avatar(self, account: str, exchange: Exchange) -> None:
        if exchange.source == UNDO and exchange.operation == UPLOAD_AVATAR:
            return  # an avatar that was put back is not the run's
        made = self.journal.uploads.setdefault(account, [])
        image, is_upload = exchange.json_object.get("image_id"), exchange.operation == UPLOAD_AVATAR
        if exchange.response.is_success and is_upload and isinstance(image, str):
            made.append(image)
        elif exchange.response.is_success and exchange.value in made:
            made.remove(exchange.value)
        # Last, as an interrupt before it must not leave an upload that is neither noted nor pending.
        if is_upload and (isinstance(image, str) or exchange.response.is_refusal):
            self.journal.pending[account] = max(0, self.journal.pending.get(account, 0) - 1)
        self._write()

    def _note_lost(self, account: str, exchange: Exchange) -> None:
        """Compares the lists in a profile with those before the run; no request can restore them."""
        is_read = exchange.operation == OWN_PROFILE and exchange.source in {STATE, UNDO}
        if not exchange.response.is_success or not (is_read or account in self._counts):
            return
        shown = exchange.json_object.items()
        counts = {name: len(it) for name, it in shown if isinstance(it, list)}
        before = self._counts.setdefault(account, counts)
        now = {name: counts.get(name, 0 if is_read else most) for name, most in before.items()}
        self._lost[account] = [
            f"{WRITERS[account]}: {name}: {now[name]} of {most} left after a change of the run; no "
            "request restores the rest"
            for name, most in before.items()
            if now[name] < most
        ]

    def _note_profile(self, account: str, exchange: Exchange) -> None:
        """Drops a profile that was certainly not changed, so that undoing need not write it again.

        Its first update was refused by the rate limit, or had no field and a read shows every value
        as before.
        """
        changed = self.journal.accounts.get(account)
        if exchange.source == UNDO or changed is None or changed.profile is None:
            return
        is_first = exchange.operation == UPDATE_PROFILE and self._first_update == account
        if is_first and exchange.request.json == {}:
            self._doubtful.add(account)
        is_same = all(exchange.json_object.get(n) == text for n, text in changed.profile.items())
        is_shown = account in self._doubtful and exchange.operation == OWN_PROFILE and is_same
        if is_shown or (is_first and exchange.status == HTTPStatus.TOO_MANY_REQUESTS):
            self._sent.get(account, set()).discard(UPDATE_PROFILE)
            self._doubtful.discard(account)
            if not self._sent.get(account):
                changed.profile = changed.avatars = None
            self._write()

    def _write(self) -> None:
        """Writes the journal, unless the file says the same already.

        Raises:
            NotPermitted: The file cannot be written.
        """
        if self._file is not None:
            self._file.write(self.journal)


def _expect_restorable(place: Place, before: Mapping[str, Mapping[str, str]]) -> None:
    """Checks that a change of an existing avatar can be undone.

    Raises:
        NotPermitted: The change could not be undone.
    """
    named = undo_journal.named_in(place, before)
    if named and place.operation == DELETE_AVATAR:
        msg = "deleting an avatar that existed before the run could not be undone"
        raise NotPermitted(msg)
    if place.operation == UPDATE_AVATAR and any(
        len(before[image]) < len(AVATAR_FIELDS) for image in named
    ):
        msg = "the avatar's current values are unknown, so the change could not be undone"
        raise NotPermitted(msg)


def undo_earlier_run(gateway: Gateway, path: Path | None) -> None:
    """Undoes the changes that an earlier run left, before a new run begins.

    Args:
        gateway: Sends the requests.
        path: The journal's file, which need not exist.

    Raises:
        StartupError: The changes cannot be undone, or not with this target.
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
    if journal.clock is not None:
        if gateway.time.mock is None:
            msg = (
                f"{path}: an earlier run moved the clock, and [permit] clock is not true. {remedy}."
            )
            raise StartupError(msg)
        gateway.time.mock.resume(journal.clock)
    undo = Undo(gateway, path, journal)
    lines = undo.restore_changes()
    if lines:
        more = f" and {len(lines) - 1} more" if lines[1:] else ""
        msg = (
            f"{path}: changes of an earlier run could not be undone: {lines[0]}{more}. "
            f"{remedy}; delete the file only if the account may stay as it is."
        )
        raise StartupError(msg)
    gateway.listeners.clear()
    undo.forget()

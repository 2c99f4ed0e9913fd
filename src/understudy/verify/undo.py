"""Undoes what a run changed, and verifies it: profile fields, selected avatars, uploads, the clock.

The state before the first change is written to a file first, so that ``understudy cleanup`` can undo
the changes of a killed run. The time of the last profile edit cannot be restored by any client.
"""

from collections.abc import Mapping
from pathlib import Path

import orjson
from msgspec import Struct, ValidationError, field, json

from understudy.deployments.clock import ClockState
from understudy.deployments.exchange import Exchange, Identity, Request
from understudy.deployments.refusals import NotPermitted, Refusal
from understudy.errors import StartupError
from understudy.interface.operations import (
    DELETE_AVATAR,
    SET_AVATAR,
    UPDATE_AVATAR,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
    Place,
)
from understudy.verify import account_state
from understudy.verify.account_state import AccountBefore
from understudy.verify.gateway import UNDO, Gateway
from understudy.verify.probe_client import ProbeClient

AVATARS = frozenset({UPLOAD_AVATAR, DELETE_AVATAR, UPDATE_AVATAR, SET_AVATAR})
WRITERS = {"own": "owner", "other": "other"}
"""The credential that restores each account."""


class UndoJournal(Struct):
    """Everything that a run has to undo.

    Attributes:
        base_url: The deployment's resource API.
        accounts: Account to its state before the run.
        uploads: Account to the ids of the avatars that the run uploaded.
        pending: Account to the number of uploads whose avatar is not known yet.
        clock: State of the deployment's clock before the run; None where it cannot be moved.
    """

    base_url: str
    accounts: dict[str, AccountBefore] = field(default_factory=dict)
    uploads: dict[str, list[str]] = field(default_factory=dict)
    pending: dict[str, int] = field(default_factory=dict)
    clock: ClockState | None = None


class Undo:
    """Records the state before each change, and restores it.

    Args:
        gateway: Sends the requests, and announces every write before it is sent.
        journal: The file that a cleanup reads; None where none is needed.
        state: The journal of an earlier run; None for a new run.
    """

    def __init__(
        self, gateway: Gateway, journal: Path | None, state: UndoJournal | None = None
    ) -> None:
        self._client = ProbeClient(gateway, UNDO)
        self._journal = journal
        stood = gateway.time.stood and gateway.time.stood()
        self.state = state or UndoJournal(gateway.target.base_url, clock=stood)
        if self.state.clock is not None:
            self._write()
        gateway.before_write = self.remember
        gateway.on_write = self._note_sending
        gateway.listeners.append(self._note_upload)

    def remember(self, identity: Identity, place: Place, request: Request) -> None:
        """Records the state of an account before a write is sent there.

        Raises:
            Refusal: It cannot be read, so the write must not be sent either.
            NotPermitted: The change could not be undone.
        """
        account = identity.account
        who = WRITERS.get(account or "")
        if account is None or who is None or not self._client.has(who):
            return
        before = self.state.accounts.setdefault(account, AccountBefore())
        if place.operation == UPDATE_PROFILE:
            if before.profile is None:
                before.profile = account_state.profile(self._client, who)
                self._write()
            account_state.expect_known(request, before.profile)
        if place.operation in AVATARS:
            if before.avatars is None:
                self._remember_avatars(account, before, who)
                self._write()
            _expect_restorable(place, before.avatars or {})

    def restore(self) -> list[str]:
        """Undoes every change.

        Returns:
            One line for each thing that could not be restored; none where all is verified.
        """
        gateway = self._client.gateway
        gateway.end()
        gateway.put_time_back()  # first, as a token may have ended in the meantime
        left: list[str] = []
        for account, before in self.state.accounts.items():
            who = WRITERS[account]
            try:
                left += self._restore_avatars(account, before, who)
                left += self._restore_profile(before, who)
            except Refusal as refusal:
                left.append(f"{account}: {refusal}")
        left += gateway.put_time_back()  # again, as a wait for the hour's limit moves it
        if not left:
            self.state.accounts.clear()
            self.state.uploads.clear()
            if self._journal is not None:
                self._journal.unlink(missing_ok=True)
        return left

    def _restore_profile(self, before: AccountBefore, who: str) -> list[str]:
        if before.profile is None:
            return []
        self._client.send("PATCH", "/me/profile", who, json=before.profile)
        current = self._client.get("/me/profile", who).json_object
        return [
            f"{who}: {name} is {current.get(name)!r} and was {text!r}"
            for name, text in before.profile.items()
            if current.get(name) != text
        ]

    def _restore_avatars(self, account: str, before: AccountBefore, who: str) -> list[str]:
        if before.avatars is None:
            return []
        self._find_lost(account, before.avatars, who)
        for image in tuple(self.state.uploads.get(account, ())):
            self._client.send("DELETE", f"/me/avatars/{image}", who)
        now = account_state.avatars(self._client, who)
        for image, fields in before.avatars.items():
            if image in now and now[image] != fields:
                self._client.send("PATCH", f"/me/avatars/{image}", who, json=fields)
        for hash_, image_or_none in before.selected.items():
            selected = account_state.selected(self._client, who, hash_)
            if image_or_none is not None and selected != image_or_none:
                body = {"email_hash": hash_ or self._hashes(account)[0]}
                self._client.send("POST", f"/me/avatars/{image_or_none}/email", who, json=body)
        return self._differing(before, who)

    def _find_lost(self, account: str, before: Mapping[str, object], who: str) -> None:
        """Claims new avatars as the run's own, up to the number of uploads without a response."""
        made = self.state.uploads.setdefault(account, [])
        now = account_state.avatars(self._client, who)
        new = [image for image in now if image not in before and image not in made]
        if len(new) <= self.state.pending.pop(account, 0):
            made += new
            self._client.gateway.made.update(new)

    def _differing(self, before: AccountBefore, who: str) -> list[str]:
        now = account_state.avatars(self._client, who)
        left = [
            f"{who}: the avatar {image} was not removed"
            for image in now
            if image not in (before.avatars or {})
        ]
        left += [
            f"{who}: the avatar {image} is {now.get(image)} and was {fields}"
            for image, fields in (before.avatars or {}).items()
            if now.get(image) != fields
        ]
        for hash_, image_or_none in before.selected.items():
            selected = account_state.selected(self._client, who, hash_)
            if selected != image_or_none:
                left.append(f"{who}: {selected} is selected for {hash_ or 'the primary address'}")
        return left

    def _remember_avatars(self, account: str, before: AccountBefore, who: str) -> None:
        avatars = account_state.avatars(self._client, who)
        for hash_ in self._hashes(account):
            before.selected[hash_] = account_state.selected(self._client, who, hash_)
        before.avatars = avatars

    def _hashes(self, account: str) -> tuple[str, ...]:
        known = self._client.known
        hashes = known.own_hashes if account == "own" else known.others_hashes
        return hashes or ("",)

    def _note_sending(self, identity: Identity, place: Place) -> None:
        account = identity.account or ""
        if account in WRITERS and place.operation == UPLOAD_AVATAR:
            self.state.pending[account] = self.state.pending.get(account, 0) + 1
            self._write()

    def _note_upload(self, exchange: Exchange) -> None:
        account = exchange.identity.account
        if account not in WRITERS or exchange.operation not in {UPLOAD_AVATAR, DELETE_AVATAR}:
            return
        made = self.state.uploads.setdefault(account, [])
        image, is_upload = exchange.json_object.get("image_id"), exchange.operation == UPLOAD_AVATAR
        if is_upload and (isinstance(image, str) or exchange.response.is_refusal):
            self.state.pending[account] -= 1
        if exchange.response.is_success and is_upload and isinstance(image, str):
            made.append(image)
        elif exchange.response.is_success and exchange.value in made:
            made.remove(exchange.value)
        self._write()

    def _write(self) -> None:
        if self._journal is None:
            return
        draft = self._journal.with_name(f"{self._journal.name}.draft")
        try:
            draft.write_bytes(json.encode(self.state))
            draft.replace(self._journal)
        except OSError as error:
            msg = f"{self._journal} cannot be written ({error.strerror}), so no write is sent"
            raise NotPermitted(msg) from error


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
        msg = f"{path} is not an undo journal of understudy verify: {error}."
        raise StartupError(msg) from error

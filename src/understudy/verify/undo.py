"""Puts back what a run changed, and proves it: profile fields, selected avatars, uploads, time.

What stood there is written to a file before the first change is sent, so that a run that was killed
can be put back by ``understudy cleanup``. The time of the last edit cannot be put back by anyone.
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
from understudy.verify import account_state as standing
from understudy.verify.account_state import Before
from understudy.verify.gateway import UNDO, Gateway
from understudy.verify.probe_client import ProbeClient

AVATARS = frozenset({UPLOAD_AVATAR, DELETE_AVATAR, UPDATE_AVATAR, SET_AVATAR})
WRITERS = {"own": "owner", "other": "other"}
"""Who puts back what was changed in each account."""


class State(Struct):
    """What a run has to put back.

    Attributes:
        base_url: Where.
        accounts: Account to what stood there.
        uploads: Account to the avatars that were uploaded there.
        pending: Account to how many uploads were sent and told no avatar yet.
        clock: How the deployment's clock stood; None where it cannot be moved.
    """

    base_url: str
    accounts: dict[str, Before] = field(default_factory=dict)
    uploads: dict[str, list[str]] = field(default_factory=dict)
    pending: dict[str, int] = field(default_factory=dict)
    clock: ClockState | None = None


class Undo:
    """Remembers and restores.

    Args:
        gateway: The way onto the wire; it tells of every write before it is sent.
        journal: The file that a cleanup reads; None where nobody could need one.
        state: What an earlier run left to put back.
    """

    def __init__(self, gateway: Gateway, journal: Path | None, state: State | None = None) -> None:
        self._visit = ProbeClient(gateway, UNDO)
        self._journal = journal
        stood = gateway.time.stood and gateway.time.stood()
        self.state = state or State(gateway.target.base_url, clock=stood)
        if self.state.clock is not None:
            self._write()
        gateway.before_write = self.remember
        gateway.on_write = self._note_sending
        gateway.listeners.append(self._note_upload)

    def remember(self, identity: Identity, place: Place, request: Request) -> None:
        """Records what stands in an account, before a write is sent there.

        Raises:
            Refusal: It cannot be read, so the write must not be sent either.
            NotPermitted: It is a change that nobody could put back.
        """
        account = identity.account
        who = WRITERS.get(account or "")
        if account is None or who is None or not self._visit.has(who):
            return
        before = self.state.accounts.setdefault(account, Before())
        if place.operation == UPDATE_PROFILE:
            if before.profile is None:
                before.profile = standing.profile(self._visit, who)
                self._write()
            standing.expect_told(request, before.profile)
        if place.operation in AVATARS:
            if before.avatars is None:
                self._remember_avatars(account, before, who)
                self._write()
            _expect_restorable(place, before.avatars or {})

    def restore(self) -> list[str]:
        """Puts everything back.

        Returns:
            What could not be put back, one line each; none where all is proved equal.
        """
        gateway = self._visit.gateway
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

    def _restore_profile(self, before: Before, who: str) -> list[str]:
        if before.profile is None:
            return []
        self._visit.send("PATCH", "/me/profile", who, json=before.profile)
        said = self._visit.get("/me/profile", who).json_object
        return [
            f"{who}: {name} is {said.get(name)!r} and was {text!r}"
            for name, text in before.profile.items()
            if said.get(name) != text
        ]

    def _restore_avatars(self, account: str, before: Before, who: str) -> list[str]:
        if before.avatars is None:
            return []
        self._find_lost(account, before.avatars, who)
        for image in tuple(self.state.uploads.get(account, ())):
            self._visit.send("DELETE", f"/me/avatars/{image}", who)
        now = standing.avatars(self._visit, who)
        for image, said in before.avatars.items():
            if image in now and now[image] != said:
                self._visit.send("PATCH", f"/me/avatars/{image}", who, json=said)
        for hash_, image_or_none in before.selected.items():
            selected = standing.selected(self._visit, who, hash_)
            if image_or_none is not None and selected != image_or_none:
                given = {"email_hash": hash_ or self._hashes(account)[0]}
                self._visit.send("POST", f"/me/avatars/{image_or_none}/email", who, json=given)
        return self._differing(before, who)

    def _find_lost(self, account: str, before: Mapping[str, object], who: str) -> None:
        """Takes avatars for ours that came while as many uploads were sent and not answered."""
        made = self.state.uploads.setdefault(account, [])
        now = standing.avatars(self._visit, who)
        new = [image for image in now if image not in before and image not in made]
        if len(new) <= self.state.pending.pop(account, 0):
            made += new
            self._visit.gateway.made.update(new)

    def _differing(self, before: Before, who: str) -> list[str]:
        now = standing.avatars(self._visit, who)
        left = [
            f"{who}: the avatar {image} was not removed"
            for image in now
            if image not in (before.avatars or {})
        ]
        left += [
            f"{who}: the avatar {image} is {now.get(image)} and was {said}"
            for image, said in (before.avatars or {}).items()
            if now.get(image) != said
        ]
        for hash_, image_or_none in before.selected.items():
            selected = standing.selected(self._visit, who, hash_)
            if selected != image_or_none:
                left.append(f"{who}: {selected} is selected for {hash_ or 'the primary address'}")
        return left

    def _remember_avatars(self, account: str, before: Before, who: str) -> None:
        avatars = standing.avatars(self._visit, who)
        for hash_ in self._hashes(account):
            before.selected[hash_] = standing.selected(self._visit, who, hash_)
        before.avatars = avatars

    def _hashes(self, account: str) -> tuple[str, ...]:
        known = self._visit.known
        found = known.own_hashes if account == "own" else known.others_hashes
        return found or ("",)

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
            msg = f"{self._journal} cannot be written ({error.strerror}), so nothing is changed"
            raise NotPermitted(msg) from error


def _expect_restorable(place: Place, before: Mapping[str, Mapping[str, str]]) -> None:
    """Makes sure that what is done to an avatar which was there before can be put back.

    Raises:
        NotPermitted: It cannot.
    """
    named = standing.named_in(place, before)
    if named and place.operation == DELETE_AVATAR:
        msg = "an avatar that was there before could not be put back, so none is deleted"
        raise NotPermitted(msg)
    if place.operation == UPDATE_AVATAR and any(
        len(before[image]) < len(standing.SAID_OF_AVATAR) for image in named
    ):
        msg = "what stands of the avatar is not told, so it could not be put back"
        raise NotPermitted(msg)


def read_journal(path: Path) -> State:
    """Reads what an earlier run left to put back.

    Raises:
        StartupError: The file cannot be read, or is none of ours.
    """
    try:
        return json.decode(path.read_bytes(), type=State)
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}."
        raise StartupError(msg) from error
    except (ValidationError, orjson.JSONDecodeError, ValueError) as error:
        msg = f"{path} is no journal of understudy verify: {error}."
        raise StartupError(msg) from error

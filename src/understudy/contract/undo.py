"""Puts back what a run changed, and proves it: profile fields, selected avatars, uploads, time.

What stood there is written to a file before the first change is sent, so that a run that was killed
can be put back by ``understudy cleanup``. The time of the last edit cannot be put back by anyone.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct, ValidationError, field, json

from understudy.contract.clock import Stood
from understudy.contract.exchange import Exchange, Identity, Request
from understudy.contract.gateway import UNDO, Gateway
from understudy.contract.operations import (
    DELETE_AVATAR,
    SET_AVATAR,
    UPDATE_AVATAR,
    UPDATE_PROFILE,
    UPLOAD_AVATAR,
    Place,
)
from understudy.contract.refusals import NotPermitted, Refusal
from understudy.contract.shapes import EDITABLE
from understudy.contract.visit import Visit
from understudy.errors import StartupError

AVATARS = frozenset({UPLOAD_AVATAR, DELETE_AVATAR, UPDATE_AVATAR, SET_AVATAR})
WRITERS = {"own": "owner", "other": "other"}
"""Who puts back what was changed in each account."""


class Before(Struct):
    """What stood in an account before the run changed it.

    Attributes:
        profile: The seven fields; None while none was changed.
        avatars: Image id to rating and text alternative; None while none was changed.
        selected: E-mail hash, empty for the primary, to the image selected there.
    """

    profile: dict[str, str] | None = None
    avatars: dict[str, dict[str, str]] | None = None
    selected: dict[str, str | None] = field(default_factory=dict)


class State(Struct):
    """What a run has to put back.

    Attributes:
        base_url: Where.
        accounts: Account to what stood there.
        uploads: Uploads that were sent and whose answer may have been lost.
        clock: How the deployment's clock stood; None where it cannot be moved.
    """

    base_url: str
    accounts: dict[str, Before] = field(default_factory=dict)
    uploads: dict[str, list[str]] = field(default_factory=dict)
    clock: Stood | None = None


class Undo:
    """Remembers and restores.

    Args:
        gateway: The way onto the wire; it tells of every write before it is sent.
        journal: The file that a cleanup reads; None where nobody could need one.
        state: What an earlier run left to put back.
    """

    def __init__(self, gateway: Gateway, journal: Path | None, state: State | None = None) -> None:
        self._visit = Visit(gateway, UNDO)
        self._journal = journal
        stood = gateway.time.stood and gateway.time.stood()
        self.state = state or State(gateway.target.base_url, clock=stood)
        if self.state.clock is not None:
            self._write()
        gateway.before_write = self.remember
        gateway.listeners.append(self._note_upload)

    def remember(self, identity: Identity, place: Place, _request: Request) -> None:
        """Records what stands in an account, before a write is sent there.

        Raises:
            Refusal: It cannot be read, so the write must not be sent either.
            NotPermitted: It is a deletion that nobody could put back.
        """
        account = identity.account
        who = WRITERS.get(account or "")
        if account is None or who is None or not self._visit.has(who):
            return
        before = self.state.accounts.setdefault(account, Before())
        if place.operation == UPDATE_PROFILE and before.profile is None:
            said = _read(self._visit.get("/me/profile", who)).said
            before.profile = {name: str(said.get(name, "")) for name in EDITABLE}
            self._write()
        if place.operation in AVATARS and before.avatars is None:
            for hash_ in self._hashes(account):
                self._remember_avatars(before, who, hash_)
            self._write()
        if place.operation == DELETE_AVATAR and _names_one(place, before.avatars or {}):
            msg = "an avatar that was there before could not be put back, so none is deleted"
            raise NotPermitted(msg)

    def restore(self) -> list[str]:
        """Puts everything back.

        Returns:
            What could not be put back, one line each; none where all is proved equal.
        """
        gateway = self._visit.gateway
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
            if self._journal is not None:
                self._journal.unlink(missing_ok=True)
        return left

    def _restore_profile(self, before: Before, who: str) -> list[str]:
        if before.profile is None:
            return []
        self._visit.send("PATCH", "/me/profile", who, json=before.profile)
        said = self._visit.get("/me/profile", who).said
        return [
            f"{who}: {name} is {said.get(name)!r} and was {text!r}"
            for name, text in before.profile.items()
            if said.get(name) != text
        ]

    def _restore_avatars(self, account: str, before: Before, who: str) -> list[str]:
        if before.avatars is None:
            return []
        for image in tuple(self.state.uploads.get(account, ())):
            self._visit.send("DELETE", f"/me/avatars/{image}", who)
        now = self._listed(who, "")
        for image, said in before.avatars.items():
            if image in now and now[image] != said:
                self._visit.send("PATCH", f"/me/avatars/{image}", who, json=said)
        for hash_, image_or_none in before.selected.items():
            if image_or_none is not None and self._selected(who, hash_) != image_or_none:
                given = {"email_hash": hash_ or self._hashes(account)[0]}
                self._visit.send("POST", f"/me/avatars/{image_or_none}/email", who, json=given)
        return self._differing(before, who)

    def _differing(self, before: Before, who: str) -> list[str]:
        now = self._listed(who, "")
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
            selected = self._selected(who, hash_)
            if selected != image_or_none:
                left.append(f"{who}: {selected} is selected for {hash_ or 'the primary address'}")
        return left

    def _remember_avatars(self, before: Before, who: str, hash_: str) -> None:
        before.avatars = self._listed(who, "")
        before.selected[hash_] = self._selected(who, hash_)

    def _hashes(self, account: str) -> tuple[str, ...]:
        known = self._visit.known
        found = known.own_hashes if account == "own" else known.others_hashes
        return found or ("",)

    def _list(self, who: str, hash_: str) -> list[Mapping[str, Any]]:
        query = {"selected_email_hash": hash_} if hash_ else ()
        body = _read(self._visit.get("/me/avatars", who, query)).body
        return [item for item in body if isinstance(item, dict)] if isinstance(body, list) else []

    def _listed(self, who: str, hash_: str) -> dict[str, dict[str, str]]:
        return {
            str(item.get("image_id")): {
                "rating": str(item.get("rating")),
                "alt_text": str(item.get("alt_text")),
            }
            for item in self._list(who, hash_)
        }

    def _selected(self, who: str, hash_: str) -> str | None:
        chosen = [i.get("image_id") for i in self._list(who, hash_) if i.get("selected")]
        return str(chosen[0]) if chosen else None

    def _note_upload(self, exchange: Exchange) -> None:
        account = exchange.identity.account
        if account not in WRITERS or not exchange.answer.is_success:
            return
        made = self.state.uploads.setdefault(account, [])
        if exchange.operation == UPLOAD_AVATAR and "image_id" in exchange.said:
            made.append(str(exchange.said["image_id"]))
            self._write()
        elif exchange.operation == DELETE_AVATAR and exchange.value in made:
            made.remove(exchange.value)
            self._write()

    def _write(self) -> None:
        if self._journal is not None:
            draft = self._journal.with_name(f"{self._journal.name}.draft")
            draft.write_bytes(json.encode(self.state))
            draft.replace(self._journal)


def _read(exchange: Exchange) -> Exchange:
    """Returns an exchange that says what stands there.

    Raises:
        NotPermitted: It does not, so nothing can be changed that could be put back.
    """
    if not exchange.answer.is_success:
        msg = f"what stands there cannot be read first: status {exchange.status}"
        raise NotPermitted(msg)
    return exchange


def _names_one(place: Place, avatars: Mapping[str, object]) -> bool:
    return any(image.casefold() == value.casefold() for image in avatars for value in place.values)


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

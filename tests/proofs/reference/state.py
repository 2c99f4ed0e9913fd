"""People and their pictures, as they are now: frozen records behind one lock.

Every public method is one whole change or one whole look, so that no request sees half of
another's work; the server answers each request in a thread of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from threading import RLock
from typing import NamedTuple

from tests.proofs.reference.records import Account, Avatar, Rating, md5_hash

SHA256_DIGITS = 64


class Shown(NamedTuple):
    """A person, and the picture that stands for their primary e-mail."""

    account: Account
    avatar: Avatar | None


class State:
    """Accounts by user id, avatars by image id, and the picture selected for each e-mail hash."""

    def __init__(
        self, accounts: Sequence[Account], avatars: Sequence[Avatar], selected: Mapping[str, str]
    ) -> None:
        self._lock = RLock()
        self._accounts = {account.user_id: account for account in accounts}
        self._avatars = {avatar.image_id: avatar for avatar in avatars}
        self._selected = dict(selected)

    def named(self, identifier: str) -> Shown | None:
        """Finds a person by slug, or by the hash of any of their e-mails."""
        with self._lock:
            for account in self._accounts.values():
                if account.slug == identifier or folded(identifier) in account.hashes:
                    return self.shown(account.user_id)
            return None

    def with_md5(self, digits: str) -> Shown | None:
        """Finds a person by the MD5 hash of an e-mail, as old clients have it."""
        with self._lock:
            for account in self._accounts.values():
                if digits in {md5_hash(email) for email in account.emails}:
                    return self.shown(account.user_id)
            return None

    def shown(self, user_id: str) -> Shown:
        """Returns a person with the picture of their primary e-mail."""
        with self._lock:
            account = self._accounts[user_id]
            image_id = self._selected.get(account.hashes[0])
            return Shown(account, None if image_id is None else self._avatars[image_id])

    def edit(self, user_id: str, texts: Mapping[str, str], now: datetime) -> Shown:
        """Changes the fields given and leaves the others; giving none is not an edit."""
        with self._lock:
            account = self._accounts[user_id]
            if texts:
                changed = {**account.texts, **texts}
                self._accounts[user_id] = replace(account, texts=changed, edited=now)
            return self.shown(user_id)

    def owns_email(self, user_id: str, email_hash: str) -> bool:
        """Tells whether a hash is of one of the person's e-mails."""
        with self._lock:
            return folded(email_hash) in self._accounts[user_id].hashes

    def picture(self, image_id: str) -> Avatar | None:
        """Finds a picture, whoever owns it."""
        with self._lock:
            return self._avatars.get(image_id)

    def avatars(self, user_id: str) -> list[Avatar]:
        """Lists a person's pictures in the order of their arrival."""
        with self._lock:
            return [avatar for avatar in self._avatars.values() if avatar.owner == user_id]

    def selected(self, email_hash: str) -> str | None:
        """Returns the image id of the picture that stands for an e-mail."""
        with self._lock:
            return self._selected.get(folded(email_hash))

    def add(self, avatar: Avatar, email_hash: str | None, *, select: bool | None) -> None:
        """Adds a picture.

        Args:
            avatar: What was uploaded.
            email_hash: The e-mail it may be selected for; the owner's primary one if None.
            select: None selects it where that e-mail has no picture yet.
        """
        with self._lock:
            self._avatars[avatar.image_id] = avatar
            chosen = folded(email_hash or self._accounts[avatar.owner].hashes[0])
            if select or (select is None and chosen not in self._selected):
                self._selected[chosen] = avatar.image_id

    def update(
        self,
        user_id: str,
        image_id: str,
        changes: tuple[Rating | None, str | None],
        now: datetime,
    ) -> Avatar | None:
        """Changes rating and alternative text where given; None if the person has no such one."""
        with self._lock:
            avatar = self._owned(user_id, image_id)
            rating, alt_text = changes
            if avatar is None or changes == (None, None):
                return avatar
            changed = replace(
                avatar,
                rating=avatar.rating if rating is None else rating,
                alt_text=avatar.alt_text if alt_text is None else alt_text,
                updated=now,
            )
            self._avatars[image_id] = changed
            return changed

    def delete(self, user_id: str, image_id: str) -> bool:
        """Removes a picture, and its selections; False if the person has no such one."""
        with self._lock:
            if self._owned(user_id, image_id) is None:
                return False
            del self._avatars[image_id]
            self._selected = {k: v for k, v in self._selected.items() if v != image_id}
            return True

    def select(self, user_id: str, image_id: str, email_hash: str) -> bool:
        """Makes a picture stand for an e-mail; False if the person has no such picture."""
        with self._lock:
            if self._owned(user_id, image_id) is None:
                return False
            self._selected[folded(email_hash)] = image_id
            return True

    def _owned(self, user_id: str, image_id: str) -> Avatar | None:
        avatar = self._avatars.get(image_id)
        return avatar if avatar is not None and avatar.owner == user_id else None


def folded(identifier: str) -> str:
    """Returns a hash in lower case: hexadecimal digits have none; a slug stays as it is."""
    return identifier.lower() if len(identifier) == SHA256_DIGITS else identifier

"""Faults in how pictures are kept: whose they are, what stands for which e-mail, what ids they have."""

import hashlib
from dataclasses import replace
from http import HTTPStatus

from flask import request
from tests.proofs.reference import bearer, bodies
from tests.proofs.reference.faults.fault import in_state, in_view, pause
from tests.proofs.reference.records import Scope
from tests.proofs.reference.refusals import refuse_missing
from tests.proofs.reference.service import service
from tests.proofs.reference.state import Shown, State, folded

FOREIGN = "foreign-avatars-invisible"
LISTED = "avatar-list-of-caller"
PARTIAL = "avatar-patch-partial"
CARRIED_OUT = "avatar-patch-rating-and-alt-text"
ASSIGN = "avatar-email-assign"


@in_state(FOREIGN, PARTIAL)
class UpdatesBeforeItLooksWhose(State):
    """The picture is changed by its id, and only then its owner is compared."""

    def update(self, user_id, image_id, changes, now):
        found = self.picture(image_id)
        if found is not None:
            super().update(found.owner, image_id, changes, now)
        return super().update(user_id, image_id, changes, now)


@in_state(FOREIGN, LISTED)
class DeletesBeforeItLooksWhose(State):
    """``DELETE ... WHERE image_id`` comes before the question whose it was."""

    def delete(self, user_id, image_id):
        found = self.picture(image_id)
        if found is None:
            return False
        super().delete(found.owner, image_id)
        return found.owner == user_id


@in_state(FOREIGN)
class UpdatesAnybodysPicture(State):
    """The id alone decides which picture is updated."""

    def update(self, user_id, image_id, changes, now):
        found = self.picture(image_id)
        return super().update(found.owner if found else user_id, image_id, changes, now)


@in_state(FOREIGN)
class SelectsAnybodysPicture(State):
    """The e-mail is the caller's, so the picture must be, too."""

    def select(self, user_id, image_id, email_hash):
        found = self.picture(image_id)
        return super().select(found.owner if found else user_id, image_id, email_hash)


@in_state(FOREIGN, ASSIGN)
class SelectsBeforeItLooksWhose(State):
    """The refusal comes after the selection was stored."""

    def select(self, user_id, image_id, email_hash):
        found = self.picture(image_id)
        if found is not None:
            super().select(found.owner, image_id, email_hash)
        return super().select(user_id, image_id, email_hash)


@in_view("avatars.select", "avatar-email-unknown-hash")
def an_avatar_is_selected_for_anybodys_email(image_id):
    """The picture is the caller's, so the e-mail must be, too."""
    token = bearer.required(Scope.MANAGE)
    email_hash = bodies.strings({"email_hash"})["email_hash"]
    if not service().state.select(token.user_id, image_id, email_hash):
        refuse_missing("There is no such avatar.")
    return "", HTTPStatus.NO_CONTENT


@in_state("profile-by-hash-or-slug", "profile-lookup-statuses", "avatar-delete-no-content")
class DeletionLeavesTheSelection(State):
    """The foreign key has no ``ON DELETE``, and so the profile points at nothing."""

    def delete(self, user_id, image_id):
        selected = dict(self._selected)
        is_deleted = super().delete(user_id, image_id)
        self._selected = selected
        return is_deleted


@in_state(ASSIGN)
class DeletionUnselectsEverywhere(State):
    """All selections of the account are cleared, not only those of the deleted picture."""

    def delete(self, user_id, image_id):
        is_deleted = super().delete(user_id, image_id)
        if is_deleted:
            for email_hash in self.shown(user_id).account.hashes:
                self._selected.pop(email_hash, None)
        return is_deleted


@in_state(ASSIGN)
class APictureStandsForOneEmail(State):
    """A picture keeps a single ``email_hash`` column."""

    def select(self, user_id, image_id, email_hash):
        is_selected = super().select(user_id, image_id, email_hash)
        if is_selected:
            kept = folded(email_hash)
            self._selected = {k: v for k, v in self._selected.items() if v != image_id or k == kept}
        return is_selected


@in_state(ASSIGN)
class OneSelectionForAnAccount(State):
    """The selection belongs to the account and not to the e-mail."""

    def select(self, user_id, image_id, email_hash):
        is_selected = super().select(user_id, image_id, email_hash)
        if is_selected:
            self._selected |= dict.fromkeys(self.shown(user_id).account.hashes, image_id)
        return is_selected


@in_state(ASSIGN, "select-avatar")
class AnUploadIsSelectedForThePrimaryToo(State):
    """The e-mail that the query names is honoured, after the default was."""

    def add(self, avatar, email_hash, *, select):
        super().add(avatar, email_hash, select=select)
        if select:
            super().add(avatar, None, select=select)


@in_state(LISTED, FOREIGN, "avatar-upload-returns-avatar")
class IdsAreHashesOfTheContent(State):
    """Equal pictures are stored once, with the owner who came last; an upload gets no new avatar."""

    def add(self, avatar, email_hash, *, select):
        image_id = hashlib.md5(avatar.content, usedforsecurity=False).hexdigest()
        object.__setattr__(avatar, "image_id", image_id)
        super().add(avatar, email_hash, select=select)


@in_state(LISTED, "avatar-upload-returns-avatar")
class IdsAreCounted(State):
    """The next id is the number of pictures, which falls when one is deleted."""

    def add(self, avatar, email_hash, *, select):
        image_id = hashlib.md5(b"%d" % len(self._avatars), usedforsecurity=False).hexdigest()
        object.__setattr__(avatar, "image_id", image_id)
        super().add(avatar, email_hash, select=select)


@in_state(LISTED)
class TheOldestOfFourIsDropped(State):
    """A new picture makes room for itself."""

    def add(self, avatar, email_hash, *, select):
        super().add(avatar, email_hash, select=select)
        own = self.avatars(avatar.owner)
        if len(own) > 4:
            super().delete(avatar.owner, own[0].image_id)


@in_state(PARTIAL, CARRIED_OUT)
class AnUpdateWritesBothMembers(State):
    """What was not sent is an empty text in the form's model."""

    def update(self, user_id, image_id, changes, now):
        rating, alt_text = changes
        return super().update(user_id, image_id, (rating, alt_text or ""), now)


@in_state(PARTIAL)
class OfTwoUpdatesOfAnAvatarOneIsLost(State):
    """The whole record is read, changed and written back, without a lock."""

    def update(self, user_id, image_id, changes, now):
        before = self.picture(image_id)
        pause()
        if before is None or before.owner != user_id:
            return None
        rating, alt_text = changes
        changed = replace(
            before,
            rating=before.rating if rating is None else rating,
            alt_text=before.alt_text if alt_text is None else alt_text,
            updated=now,
        )
        self._avatars[image_id] = changed
        return changed


@in_state(CARRIED_OUT)
class AnUpdateThatChangesNothingFails(State):
    """No row was affected, and so there was no such picture."""

    def update(self, user_id, image_id, changes, now):
        before = self.picture(image_id)
        if before is not None and changes == (before.rating, before.alt_text):
            return None
        rating, alt_text = changes
        if before is not None and rating == before.rating and alt_text is None:
            return None
        if before is not None and alt_text == before.alt_text and rating is None:
            return None
        return super().update(user_id, image_id, changes, now)


@in_state(ASSIGN, "avatar-email-hash-required")
class SelectingAgainFails(State):
    """The selection is inserted, and its key is there already."""

    def select(self, user_id, image_id, email_hash):
        if self.selected(email_hash) == image_id:
            return False
        return super().select(user_id, image_id, email_hash)


@in_state("avatar-selected-for-email")
class TheProfileKeepsTheTextOfTheSelection(State):
    """The profile copies the text alternative when a picture is selected, and never again."""

    def __init__(self, accounts, avatars, selected):
        super().__init__(accounts, avatars, selected)
        self._copies = {h: self._avatars[image].alt_text for h, image in selected.items()}

    def select(self, user_id, image_id, email_hash):
        is_selected = super().select(user_id, image_id, email_hash)
        if is_selected:
            self._copies[folded(email_hash)] = self._avatars[image_id].alt_text
        return is_selected

    def shown(self, user_id):
        account, avatar = super().shown(user_id)
        copy = self._copies.get(account.hashes[0], "")
        return Shown(account, avatar and replace(avatar, alt_text=copy))


@in_state("avatar-selected-for-email")
class TheProfileShowsTheOldestPicture(State):
    """``LIMIT 1`` without a condition on what is selected."""

    def shown(self, user_id):
        account, avatar = super().shown(user_id)
        return Shown(account, avatar and self.avatars(user_id)[0])


@in_view("avatars.delete", "scope-per-operation")
def a_read_only_token_may_delete(image_id):
    """The check was copied from the list."""
    token = bearer.required(Scope.READ)
    if not service().state.delete(token.user_id, image_id):
        refuse_missing("There is no such avatar.")
    return "", HTTPStatus.NO_CONTENT


@in_view("avatars.select", "scope-per-operation", "avatar-email-unknown-hash")
def a_read_only_token_may_select(image_id):
    """The check was copied from the list."""
    token = bearer.required(Scope.READ)
    email_hash = str((request.get_json() or {}).get("email_hash"))
    is_own = service().state.owns_email(token.user_id, email_hash)
    if not is_own or not service().state.select(token.user_id, image_id, email_hash):
        refuse_missing("There is no such avatar.")
    return "", HTTPStatus.NO_CONTENT

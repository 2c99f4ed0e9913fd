"""The caller's avatars (interface, Authenticated avatar operations)."""

import asyncio
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from understudy.errors import BadRequest, Forbidden, NotFound
from understudy.interface.rules import upholds
from understudy.mock.engine.call import Call, HandlerResponse, Upload
from understudy.mock.service import representations
from understudy.mock.service.people import caller, own_hash
from understudy.mock.store.people import (
    IMAGES,
    PEOPLE,
    SLUGS_BY_IMAGE_ID,
    Avatar,
    Email,
    Image,
    Person,
)

IMAGE_ID_DIGITS = 32

UPLOAD_NAMES = ("data", "image")
"""The interface's name of the file field, and the one that newer documents give it."""


@upholds("avatar-list-of-caller")
def list_avatars(call: Call, *, selected_email_hash: str = "") -> HandlerResponse:
    """Answers ``GET /me/avatars``.

    Raises:
        Forbidden: The hash is not of one of the caller's e-mails.
    """
    person = caller(call)
    place = _chosen_email(call, person, selected_email_hash)
    return HandlerResponse([_said(call, person, avatar, place) for avatar in person.avatars])


@upholds("avatar-upload-returns-avatar", "avatar-upload-status")
async def upload_avatar(
    call: Call,
    *,
    selected_email_hash: str = "",
    select_avatar: bool | None = None,
    body: Mapping[str, Any],
) -> HandlerResponse:
    """Answers ``POST /me/avatars``.

    Raises:
        BadRequest: The file is missing, no picture, or not square.
        ContentTooLarge: It has too many bytes.
        Forbidden: The hash is not of one of the caller's e-mails.
    """
    place = _chosen_email(call, caller(call), selected_email_hash)
    image = await asyncio.to_thread(_judged, _file(body))
    person = caller(call)  # as it is now: others may have changed it while the picture was judged
    avatar = Avatar(
        image_id=call.world.identifiers.hexadecimal(IMAGE_ID_DIGITS),
        image="",
        updated_date=representations.timestamp(call.world.clock.now()),
    )
    avatar = replace(avatar, image=avatar.image_id)
    person = replace(person, avatars=(*person.avatars, avatar))
    if _is_to_be_selected(person.emails[place], select_avatar):
        person = _with_selected(person, place, avatar.image_id)
    call.world.put(IMAGES, avatar.image_id, image)
    call.world.put(SLUGS_BY_IMAGE_ID, avatar.image_id, person.slug)
    call.world.put(PEOPLE, person.slug, person)
    status = int(call.choices.get("avatar-upload-status", "200"))
    return HandlerResponse(_said(call, person, avatar, place), status)


@upholds("avatar-delete-no-content", "avatar-delete-status", "avatar-delete-unselects")
def delete_avatar(call: Call, image_hash: str) -> HandlerResponse:
    """Answers ``DELETE /me/avatars/{imageHash}``.

    Raises:
        NotFound: The caller has no such avatar.
    """
    person = caller(call)
    gone = _own_avatar(person, image_hash)
    avatars = tuple(avatar for avatar in person.avatars if avatar is not gone)
    emails = tuple(
        replace(email, avatar=None) if email.avatar == gone.image_id else email
        for email in person.emails
    )
    call.world.put(PEOPLE, person.slug, replace(person, avatars=avatars, emails=emails))
    call.world.remove(SLUGS_BY_IMAGE_ID, gone.image_id)
    if gone.image == gone.image_id:  # uploaded: no fixture image, and nobody else's
        call.world.remove(IMAGES, gone.image)
    return HandlerResponse(status=int(call.choices.get("avatar-delete-status", "204")))


@upholds("avatar-patch-rating-and-alt-text", "avatar-patch-partial")
def update_avatar(
    call: Call, image_hash: str, *, body: Mapping[str, Any] | None = None
) -> HandlerResponse:
    """Answers ``PATCH /me/avatars/{imageHash}``.

    Raises:
        NotFound: The caller has no such avatar.
    """
    person = caller(call)
    before = _own_avatar(person, image_hash)
    changes = {name: (body or {})[name] for name in ("rating", "alt_text") if name in (body or {})}
    avatar = replace(before, **changes)
    if avatar != before:
        now = representations.timestamp(call.world.clock.now())
        avatar = replace(avatar, updated_date=now)
        avatars = tuple(avatar if held is before else held for held in person.avatars)
        person = replace(person, avatars=avatars)
        call.world.put(PEOPLE, person.slug, person)
    return HandlerResponse(_said(call, person, avatar, 0))


@upholds("avatar-email-assign", "avatar-email-status", "avatar-email-unknown-hash")
def set_avatar_for_email(call: Call, image_id: str, *, body: Mapping[str, str]) -> HandlerResponse:
    """Answers ``POST /me/avatars/{imageId}/email``.

    Raises:
        NotFound: The caller has no such avatar.
        Forbidden: The hash is not of one of the caller's e-mails.
    """
    person = caller(call)
    avatar = _own_avatar(person, image_id)
    place = own_hash(person, body["email_hash"])
    if place is None:
        raise _foreign_email(body["email_hash"])
    call.world.put(PEOPLE, person.slug, _with_selected(person, place, avatar.image_id))
    return HandlerResponse(status=int(call.choices.get("avatar-email-status", "204")))


@upholds("upload-image-types", "upload-square", "upload-size-limit")
def _judged(upload: Upload) -> Image:
    from understudy.mock.service.pictures import judge  # noqa: PLC0415 - Pillow would slow every start

    return judge(upload.content)


def _file(body: Mapping[str, Any]) -> Upload:
    found = next((body[name] for name in UPLOAD_NAMES if name in body), None)
    if not isinstance(found, Upload):
        msg = f"{UPLOAD_NAMES[0]}: the picture is missing; send it as a file of that name."
        raise BadRequest(msg, code="missing_file")
    return found


@upholds("unknown-selected-email-hash")
def _chosen_email(call: Call, person: Person, given: str) -> int:
    """Returns which e-mail "selected" is about: the primary, unless another is named."""
    if not given:
        return 0
    place = own_hash(person, given)
    if place is not None:
        return place
    if call.choices.get("unknown-selected-email-hash") == "ignore":
        call.notes.append("selected_email_hash is not the caller's; read as left out")
        return 0
    raise _foreign_email(given)


def _foreign_email(given: str) -> Forbidden:
    msg = f"{given!r} is not the hash of an e-mail of this account."
    return Forbidden(msg, code="unknown_email")


@upholds("avatar-unknown-404", "foreign-avatars-invisible")
def _own_avatar(person: Person, image_id: str) -> Avatar:
    for avatar in person.avatars:
        if avatar.image_id == image_id.lower():
            return avatar
    msg = f"There is no avatar {image_id!r} in this account; GET /me/avatars lists them."
    raise NotFound(msg, code="avatar_not_found")


@upholds("select-avatar")
def _is_to_be_selected(email: Email, wish: bool | None) -> bool:  # noqa: FBT001 - as it is sent
    return email.avatar is None if wish is None else wish


def _with_selected(person: Person, place: int, image_id: str) -> Person:
    emails = list(person.emails)
    emails[place] = replace(emails[place], avatar=image_id)
    return replace(person, emails=tuple(emails))


@upholds("avatar-selected-for-email")
def _said(call: Call, person: Person, avatar: Avatar, place: int) -> dict[str, Any]:
    selected = person.emails[place].avatar == avatar.image_id
    return representations.avatar(avatar, call.site_url, selected=selected)

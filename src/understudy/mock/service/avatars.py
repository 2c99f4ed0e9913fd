"""Handles the avatars of the caller's account (interface, Authenticated avatar operations)."""

from collections.abc import Coroutine, Mapping
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from understudy.errors import BadRequest, Forbidden, NotFound
from understudy.interface.rules import upholds
from understudy.mock.server.api import Choices
from understudy.mock.server.call import Call, HandlerResponse, Principal, Upload
from understudy.mock.server.recent import Recent
from understudy.mock.server.worlds import World
from understudy.mock.service import representations
from understudy.mock.service.person_lookup import caller, own_email_index
from understudy.mock.service.picture_work import decoded_apart, in_turn
from understudy.mock.store.people import (
    IMAGES,
    PEOPLE,
    RATINGS,
    SLUGS_BY_IMAGE_ID,
    Avatar,
    Email,
    Image,
    Person,
    expect_room_for_picture,
)
from understudy.mock.store.vocabulary import vocabulary_of

IMAGE_ID_DIGITS = 32

UPLOAD_NAMES = ("data", "image")
"""Names of the file field: that of the interface, and that of newer documents."""


_CHECKED: Final[Recent[tuple[bytes, bool, int], Image]] = Recent(64)
"""Cache of small valid pictures; tests and load tests upload the same ones repeatedly."""

_SMALL = 64 * 1024
"""Bytes of the largest picture in the cache: less than any option of ``upload-largest``, which is
therefore no part of the key."""


@upholds("avatar-list-of-caller", "scope-of-avatar-list")
def list_avatars(call: Call, *, selected_email_hash: str = "") -> HandlerResponse:
    """Lists the caller's avatars (``GET /me/avatars``).

    Raises:
        Forbidden: The hash is not of an e-mail address of the caller.
    """
    person = caller(call)
    index = _email_index(call, person, selected_email_hash)
    return HandlerResponse(representations.shared_avatars(person, call.site_url, index))


@upholds("avatar-upload-returns-avatar", "avatar-upload-status")
def upload_avatar(
    call: Call,
    *,
    selected_email_hash: str = "",
    select_avatar: bool | int | None = None,
    body: Mapping[str, Any],
) -> HandlerResponse | Coroutine[Any, Any, HandlerResponse]:
    """Adds an uploaded avatar to the account (``POST /me/avatars``).

    Raises:
        BadRequest: The file is missing, not a picture, or not square, or the account is full.
        ContentTooLarge: The file has more bytes than the switch ``upload-largest`` allows.
        Forbidden: The hash is not of an e-mail address of the caller.
    """
    index = _email_index(call, caller(call), selected_email_hash)
    converts_newer = call.choices.get("upload-image-types") == "webp-heic-too"
    upload = _uploaded_file(call, body)
    adding = _Adding(call, index, select_avatar)
    image = _CHECKED.get((upload.content, converts_newer, _largest_side(call)))
    return adding.checked(upload, converts_newer) if image is None else adding.added(image)


@upholds("avatar-delete-no-content", "avatar-delete-status", "avatar-delete-unselects")
def delete_avatar(call: Call, image_hash: str) -> HandlerResponse:
    """Deletes an avatar and unselects it (``DELETE /me/avatars/{imageHash}``).

    Raises:
        NotFound: The caller has no such avatar.
    """
    person = caller(call)
    deleted = _own_avatar(person, image_hash)
    avatars = tuple(avatar for avatar in person.avatars if avatar is not deleted)
    emails = tuple(
        replace(email, avatar=None) if email.avatar == deleted.image_id else email
        for email in person.emails
    )
    call.world.put(PEOPLE, person.slug, replace(person, avatars=avatars, emails=emails))
    call.world.remove(SLUGS_BY_IMAGE_ID, deleted.image_id)
    if deleted.image == deleted.image_id:  # an upload; people may share fixture images
        call.world.remove(IMAGES, deleted.image)
    status = int(call.choices.get("avatar-delete-status", "204"))
    return HandlerResponse(_declared_members(call, person, deleted), status)


@upholds("avatar-patch-rating-and-alt-text", "avatar-patch-partial")
def update_avatar(
    call: Call, image_hash: str, *, body: Mapping[str, Any] | None = None
) -> HandlerResponse:
    """Changes rating or alt text of an avatar (``PATCH /me/avatars/{imageHash}``).

    Raises:
        BadRequest: The rating is none of the interface, where the document lets others through.
        NotFound: The caller has no such avatar.
    """
    person = caller(call)
    before = _own_avatar(person, image_hash)
    changes = {name: (body or {})[name] for name in ("rating", "alt_text") if name in (body or {})}
    avatar = replace(before, **changes)
    if avatar.rating not in RATINGS:
        msg = f"rating: {str(avatar.rating)[:40]!r} is none of {', '.join(RATINGS)}."
        raise BadRequest(msg, code="invalid_body")
    if avatar != before:
        now = representations.timestamp(call.now())
        avatar = replace(avatar, updated_date=now)
        avatars = tuple(avatar if other is before else other for other in person.avatars)
        person = replace(person, avatars=avatars)
        call.world.put(PEOPLE, person.slug, person)
    return HandlerResponse(_avatar_body(call, person, avatar, 0))


@upholds(
    "avatar-email-assign",
    "avatar-email-status",
    "avatar-email-unknown-hash",
    "avatar-email-both-unknown",
)
def set_avatar_for_email(call: Call, image_id: str, *, body: Mapping[str, str]) -> HandlerResponse:
    """Selects an avatar for an e-mail address (``POST /me/avatars/{imageId}/email``).

    Raises:
        NotFound: The caller has no such avatar.
        Forbidden: The hash is not of an e-mail address of the caller.
    """
    person = caller(call)
    if call.choices.get("avatar-email-precedence") != "email":
        _own_avatar(person, image_id)
    index = own_email_index(call, person, body["email_hash"])
    if index is None:
        raise _foreign_email(body["email_hash"])
    avatar = _own_avatar(person, image_id)
    person = _with_selected(person, index, avatar.image_id)
    call.world.put(PEOPLE, person.slug, person)
    status = int(call.choices.get("avatar-email-status", "204"))
    return HandlerResponse(_declared_members(call, person, avatar), status)


@upholds("upload-image-types", "upload-square", "upload-size-limit", "upload-largest-side")
def _checked_image(upload: Upload, is_large: bool, **arguments: Any) -> Image:  # noqa: FBT001 - as it is called
    from understudy.mock.service.image_processing import checked_upload, expect_bytes  # noqa: PLC0415 - importing Pillow takes too long at start

    if is_large:
        expect_bytes(upload.content, arguments["largest"], upload.field)
        image = Image(upload.content, "")
        return decoded_apart("checked_upload", image, field=upload.field, **arguments)
    return checked_upload(upload.content, field=upload.field, **arguments)


@upholds("avatars-most")
def _expect_room(call: Call, person: Person) -> None:
    """Checks that an account may have one more avatar.

    Raises:
        BadRequest: The account has as many avatars as the switch ``most-avatars`` allows.
    """
    most = int(call.choices.get("most-avatars", "100000"))
    if len(person.avatars) >= most:
        msg = f"The account has {most:,} avatars, which is the maximum; delete one first."
        raise BadRequest(msg, code="too_many_avatars")


def _largest_side(call: Call) -> int:
    """Returns the maximum width of an uploaded picture in pixels."""
    return int(call.choices.get("upload-largest-side", "6324"))


class _Adding(NamedTuple):
    """An upload that becomes an avatar of the caller.

    Attributes:
        call: Call.
        email: Index of the e-mail address that may select the avatar.
        selects: Whether the address selects the avatar; None: only if it has none yet.
    """

    call: Call
    email: int
    selects: int | None

    @upholds("avatar-upload-returns-avatar", "avatar-upload-status")
    async def checked(self, upload: Upload, converts_newer: bool) -> HandlerResponse:  # noqa: FBT001 - part of the key
        """Validates the picture outside the event loop, and adds it."""
        side = _largest_side(self.call)
        check = partial(
            _checked_image,
            upload,
            largest=int(self.call.choices.get("upload-largest", "10000000")),
            largest_side=side,
            converts_newer=converts_newer,
        )
        image = await in_turn(upload.content, check, converts_newer=converts_newer)
        if len(upload.content) <= _SMALL:
            _CHECKED.put((upload.content, converts_newer, side), image)
        return self.added(image)

    def added(self, image: Image) -> HandlerResponse:
        """Adds a picture, and returns the new avatar.

        Raises:
            BadRequest: The account is full.
        """
        call, index = self.call, self.email
        # read here: another request may have changed the person while the picture was validated
        person = caller(call)
        _expect_room(call, person)
        image_id = call.world.identifiers.hexadecimal(IMAGE_ID_DIGITS)
        now = representations.timestamp(call.now())
        avatar = Avatar(image_id=image_id, image=image_id, updated_date=now)
        person = replace(person, avatars=(*person.avatars, avatar))
        if _selects_new_avatar(person.emails[index], self.selects):
            person = _with_selected(person, index, image_id)
        expect_room_for_picture(call.world, image.content)
        call.world.put(IMAGES, image_id, image)
        call.world.put(SLUGS_BY_IMAGE_ID, image_id, person.slug)
        call.world.put(PEOPLE, person.slug, person)
        status = int(call.choices.get("avatar-upload-status", "200"))
        return HandlerResponse(_avatar_body(call, person, avatar, index), status)


def _uploaded_file(call: Call, body: Mapping[str, Any]) -> Upload:
    """Returns the file of an upload; the document in force may give its field any name."""
    names = call.declared.sent.union(UPLOAD_NAMES)
    files = (body[name] for name in body if name in names)
    upload = next((file for file in files if isinstance(file, Upload)), None)
    if upload is None:
        field = " or ".join(sorted(call.declared.sent)) or vocabulary_of(call.world).upload_field
        msg = f"{field}: the picture is missing; send it as the file field of that name."
        raise BadRequest(msg, code="missing_file")
    return upload


@upholds("unknown-selected-email-hash")
def _email_index(call: Call, person: Person, hash_: str) -> int:
    """Returns the index of the e-mail address that ``selected`` refers to: by default the primary, 0."""
    if not hash_:
        return 0
    index = own_email_index(call, person, hash_)
    if index is not None:
        return index
    if call.choices.get("unknown-selected-email-hash") == "ignore":
        call.notes.append("selected_email_hash is not the caller's, so it was ignored")
        return 0
    raise _foreign_email(hash_)


def _foreign_email(hash_: str) -> Forbidden:
    msg = f"{hash_!r} is not the hash of an e-mail address of this account."
    return Forbidden(msg, code="unknown_email")


@upholds("avatar-body-both-wrong")
def expect_avatar_first(
    world: World, principal: Principal, choices: Choices, path_arguments: Mapping[str, str]
) -> None:
    """Refuses an unknown avatar before an invalid body, if ``avatar-body-precedence`` says so.

    Raises:
        NotFound: The account has no such avatar.
    """
    person = world.get(PEOPLE, principal.person)
    if person is not None and choices.get("avatar-body-precedence") == "avatar":
        _own_avatar(person, *path_arguments.values())


@upholds("avatar-unknown-404", "foreign-avatars-invisible")
def _own_avatar(person: Person, image_id: str) -> Avatar:
    given = image_id.lower()
    if len(given) == len(str(UUID(int=0))):  # as a document has it whose identifiers are UUIDs
        given = given.replace("-", "")
    for avatar in person.avatars:
        if avatar.image_id == given:
            return avatar
    msg = f"This account has no avatar {image_id!r}; GET /me/avatars lists its avatars."
    raise NotFound(msg, code="avatar_not_found")


@upholds("select-avatar")
def _selects_new_avatar(email: Email, select_avatar: int | None) -> bool:
    return email.avatar is None if select_avatar is None else bool(select_avatar)


def _with_selected(person: Person, index: int, image_id: str) -> Person:
    emails = list(person.emails)
    emails[index] = replace(emails[index], avatar=image_id)
    return replace(person, emails=tuple(emails))


@upholds("avatar-selected-for-email")
def _avatar_body(call: Call, person: Person, avatar: Avatar, index: int) -> dict[str, Any]:
    selected = person.emails[index].avatar == avatar.image_id
    return representations.avatar(avatar, call.site_url, selected=selected)


def _declared_members(call: Call, person: Person, avatar: Avatar) -> dict[str, Any] | None:
    """Returns the avatar's members that the document in force declares; None: an empty response."""
    body = _avatar_body(call, person, avatar, index=0)
    return {name: body[name] for name in body if name in call.declared.returned} or None

"""Serves what responses link to: avatar pictures, fixture images and service icons (``web.yaml``)."""

import asyncio
from typing import Any

from understudy.errors import BadRequest, NotFound
from understudy.interface.rules import upholds
from understudy.mock.engine.call import Call, HandlerResponse
from understudy.mock.store.hashing import email_hash
from understudy.mock.store.people import (
    IMAGES,
    PEOPLE,
    SLUGS_BY_HASH,
    SLUGS_BY_IMAGE_ID,
    Avatar,
    Image,
    Person,
)

DEFAULT_SIZE = 80  # pixels, as real deployments have it
PLACEHOLDERS = ("mp", "identicon", "blank")
RATINGS = ("g", "pg", "r", "x")

_NO_CACHE = (("cache-control", "no-cache"),)  # a new upload must show at once


@upholds("avatar-urls-resolve")
async def get_avatar(  # noqa: PLR0913 - each parameter has a long and a short name
    call: Call,
    identifier: str,
    *,
    s: int | None = None,
    size: int | None = None,
    d: str = "",
    default: str = "",
    r: str = "",
    rating: str = "",
) -> HandlerResponse:
    """Returns the avatar of an e-mail hash, or one image by its id (``GET /avatar/{identifier}``).

    Raises:
        NotFound: There is no picture, and ``d=404`` asks for no placeholder.
        BadRequest: ``d`` names an unknown placeholder.
    """
    pixels = s or size or DEFAULT_SIZE
    name = identifier.lower().partition(".")[0]
    avatar = _avatar(call, name)
    allowed = r or rating or RATINGS[-1]
    image = None
    if avatar is not None and RATINGS.index(avatar.rating.lower()) <= RATINGS.index(allowed):
        image = call.world.get(IMAGES, avatar.image)
    if image is None:
        return await _fallback(d or default or PLACEHOLDERS[0], pixels, name)
    return _picture(await asyncio.to_thread(_resized, image, pixels))


def get_image(call: Call, name: str) -> HandlerResponse:
    """Returns a fixture image (``GET /image/{name}``).

    Raises:
        NotFound: There is no fixture image of that name.
    """
    image = call.world.get(IMAGES, name)
    if image is None:
        msg = f"There is no image {name!r}."
        raise NotFound(msg, code="image_not_found")
    return _picture(image)


def get_icon(_call: Call, service_type: str) -> HandlerResponse:
    """Returns the icon of a service (``GET /icons/{service_type}``)."""
    from understudy.mock.service.service_icons import service_icon  # noqa: PLC0415 - needed only where an icon is shown

    icon = service_icon(service_type.removesuffix(".svg"))
    return HandlerResponse(icon, media_type="image/svg+xml", headers=_NO_CACHE)


def _avatar(call: Call, name: str) -> Avatar | None:
    world = call.world
    slug = world.get(SLUGS_BY_HASH, name) or world.get(SLUGS_BY_IMAGE_ID, name)
    person = None if slug is None else world.get(PEOPLE, slug)
    if person is None:
        return None
    wanted = _selected(person, name) or name
    return next((avatar for avatar in person.avatars if avatar.image_id == wanted), None)


def _selected(person: Person, hash_: str) -> str | None:
    emails = (email for email in person.emails if email_hash(email.email) == hash_)
    return next((email.avatar for email in emails), None)


async def _fallback(default: str, pixels: int, name: str) -> HandlerResponse:
    if default == "404":
        msg = f"There is no avatar for {name!r}."
        raise NotFound(msg, code="avatar_not_found")
    if default.startswith(("http://", "https://")) and default.isascii() and default.isprintable():
        return HandlerResponse(status=302, headers=(("location", default), *_NO_CACHE))
    if default not in PLACEHOLDERS:
        known = ", ".join(PLACEHOLDERS)
        msg = f"d: {default!r} is not known; send {known}, 404 or an http URL."
        raise BadRequest(msg, code="unknown_default")
    return _picture(await asyncio.to_thread(_placeholder, default, pixels, name))


def _picture(image: Image) -> HandlerResponse:
    return HandlerResponse(image.content, media_type=image.media_type, headers=_NO_CACHE)


def _resized(image: Image, pixels: int) -> Image:
    from understudy.mock.service.image_processing import resize  # noqa: PLC0415 - importing Pillow takes too long at start

    return resize(image, pixels)


def _placeholder(kind: Any, pixels: int, seed: str) -> Image:
    from understudy.mock.service.image_processing import placeholder  # noqa: PLC0415 - as above

    return placeholder(kind, pixels, seed)

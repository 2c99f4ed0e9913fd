"""Serves the pictures that responses link to: avatars, fixture images, service icons (``web.yaml``).

An ``<img>`` shows pictures and no messages: so invalid query parameters are replaced by the nearest valid
value, and noted in the journal.
"""

import asyncio
import hashlib
from typing import NamedTuple
from xml.sax.saxutils import escape

from understudy.errors import NotFound
from understudy.interface.rules import upholds
from understudy.mock.server.call import Call, HandlerResponse, Handlers
from understudy.mock.service.person_lookup import (
    find_by_md5,
    note_misread,
    own_email_index,
    takes_md5,
)
from understudy.mock.service.picture_work import resized
from understudy.mock.store import people
from understudy.mock.store.hashing import email_hash, is_md5

DEFAULT_SIZE = 80  # pixels, as real deployments have it
LARGEST_SIZE = 2048
DEFAULT_PLACEHOLDER = "mp"
RATINGS = ("g", "pg", "r", "x")

_SIZE_DIGITS = 9

HEADERS = (
    ("cache-control", "no-cache"),  # a new upload must show at once
    ("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'"),
)
"""Headers of every picture; an upload that is opened as a page must not load or run anything."""


class _Rendition(NamedTuple):
    """The requested form of an avatar, from the path and the query of its URL."""

    name: str
    media_type: str | None
    pixels: int
    default: str
    rating: str
    is_forced: bool


@upholds("avatar-urls-resolve")
async def get_avatar(  # noqa: PLR0913 - each parameter has a long and a short name
    call: Call,
    identifier: str,
    *,
    s: str = "",
    size: str = "",
    d: str = "",
    default: str = "",
    r: str = "",
    rating: str = "",
    f: str = "",
    forcedefault: str = "",
) -> HandlerResponse:
    """Returns the avatar of an e-mail hash, or one image by its id (``GET /avatar/{identifier}``).

    Raises:
        NotFound: The picture does not exist, and ``d=404`` excludes placeholders.
    """
    name, _, extension = identifier.lower().partition(".")
    rendition = _Rendition(
        name,
        people.MEDIA_TYPES.get(f".{extension}"),
        _pixels(call, s or size),
        d or default,
        _rating(call, r or rating),
        (f or forcedefault).lower() in {"y", "yes", "1", "true"},
    )
    avatar = None if rendition.is_forced else _avatar(call, name)
    image = None
    if avatar is not None and RATINGS.index(avatar.rating.lower()) <= RATINGS.index(
        rendition.rating
    ):
        image = call.world.get(people.IMAGES, avatar.image)
    if image is None:
        return await _fallback(call, rendition)
    return _picture(await resized(image, rendition.pixels, rendition.media_type))


def get_image(call: Call, name: str) -> HandlerResponse:
    """Returns a fixture image (``GET /image/{name}``).

    Raises:
        NotFound: No fixture image has this name.
    """
    image = call.world.get(people.IMAGES, name)
    if image is None:
        msg = f"There is no image {name!r}."
        raise NotFound(msg, code="image_not_found")
    return _picture(image)


def get_icon(_call: Call, service_type: str) -> HandlerResponse:
    """Returns the icon of a service (``GET /icons/{service_type}``)."""
    icon = service_icon(service_type.removesuffix(".svg"))
    return HandlerResponse(icon, media_type="image/svg+xml", headers=HEADERS)


def _pixels(call: Call, text: str) -> int:
    if not text:
        return DEFAULT_SIZE
    if not text.isascii() or not text.isdecimal() or len(text) > _SIZE_DIGITS:
        call.notes.append(f"size {text[:20]!r} is not a number of pixels; {DEFAULT_SIZE} was used")
        return DEFAULT_SIZE
    return min(max(int(text), 1), LARGEST_SIZE)


def _rating(call: Call, text: str) -> str:
    rating = text.lower() or RATINGS[-1]
    if rating in RATINGS:
        return rating
    call.notes.append(f"rating {text[:20]!r} is unknown; {RATINGS[0]} was used")
    return RATINGS[0]


def _avatar(call: Call, name: str) -> people.Avatar | None:
    person = _person(call, name)
    if person is None:
        return None
    index = own_email_index(call, person, name)
    wanted = name if index is None else person.emails[index].avatar
    return next((avatar for avatar in person.avatars if avatar.image_id == wanted), None)


def _person(call: Call, name: str) -> people.Person | None:
    world = call.world
    slug = world.get(people.SLUGS_BY_HASH, name) or world.get(people.SLUGS_BY_IMAGE_ID, name)
    return find_by_md5(call, name) if slug is None else world.get(people.PEOPLE, slug)


async def _fallback(call: Call, rendition: _Rendition) -> HandlerResponse:
    default = rendition.default
    if is_md5(rendition.name) and not takes_md5(call):
        call.notes.append("An MD5 hash is accepted only with --choose email-hashes=md5-too.")
    if not rendition.is_forced and _person(call, rendition.name) is None:
        note_misread(call, rendition.name)
    if default == "404":
        msg = f"There is no avatar for {rendition.name!r}."
        raise NotFound(msg, code="avatar_not_found")
    if default.startswith(("http://", "https://")) and default.isascii() and default.isprintable():
        return HandlerResponse(status=302, headers=(("location", default), *HEADERS))
    return _picture(await asyncio.to_thread(_placeholder, call, rendition))


def _picture(image: people.Image) -> HandlerResponse:
    return HandlerResponse(image.content, media_type=image.media_type, headers=HEADERS)


def _placeholder(call: Call, rendition: _Rendition) -> people.Image:
    from understudy.mock.service.image_processing import (  # noqa: PLC0415 - importing Pillow takes too long at start
        PLACEHOLDERS,
        Subject,
        placeholder,
        resize,
    )

    kind = rendition.default.lower() or DEFAULT_PLACEHOLDER
    if kind not in PLACEHOLDERS:
        call.notes.append(
            f"d {rendition.default[:40]!r} is unknown; {DEFAULT_PLACEHOLDER} was used"
        )
        kind = DEFAULT_PLACEHOLDER
    person = _person(call, rendition.name)
    words = person.profile.display_name.split() if person else []
    initials = "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper()
    image = placeholder(kind, rendition.pixels, Subject(rendition.name, initials))
    return (
        image
        if rendition.media_type is None
        else resize(image, rendition.pixels, rendition.media_type)
    )


_DISC = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32" viewBox="0 0 32 32">'
    '<circle cx="16" cy="16" r="16" fill="hsl({hue} 45% 42%)"/>'
    '<text x="16" y="22" fill="#fff" font-family="sans-serif" font-size="17" font-weight="600" '
    'text-anchor="middle">{letter}</text></svg>'
)


def service_icon(service_type: str) -> bytes:
    """Returns the icon of a service type; the same type always gives the same icon."""
    hue = int.from_bytes(hashlib.sha256(service_type.encode()).digest()[:2]) % 360
    return _DISC.format(hue=hue, letter=escape(service_type[:1].upper())).encode()


async def get_person_avatar(call: Call, slug: str, *, size: int = 80) -> HandlerResponse:
    """Responds to ``GET /people/{slug}/avatar``, with a placeholder for a missing picture.

    Raises:
        NotFound: The person does not exist.
    """
    person = people.named_person(call.world, slug)
    return await get_avatar(call, email_hash(person.emails[0].email), s=str(size))


HANDLERS: Handlers = {("GET", "/people/{slug}/avatar"): get_person_avatar}
